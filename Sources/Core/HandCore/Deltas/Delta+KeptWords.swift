// Undoing one's own words, and nobody else's.

/// The result of `Delta.keepingWords(of:)`: an edit that undoes an earlier one, divided into the part to apply and the
/// part that others' later changes rule out.
package struct WordKeepingUndo: Sendable {
    /// The edit without the places in texts that others have changed.
    package let delta: Delta
    /// The places in texts that others have changed, as an edit of the same list.
    package let left: Delta
    /// What was not undone: `lost` is the text that the undo would have restored, `present` the text that stays.
    /// Indices refer to the list after the others' edits.
    package let keptWords: [Superseded]
}

extension Delta {
    /// Returns this edit, which undoes an earlier one, without the parts that would remove words that `since` put in
    /// place of the earlier edit's words.
    ///
    /// Everything else is undone even if others changed it too: the later edit wins.
    ///
    /// O(n log n) in the components of both if both change texts; otherwise O(1).
    ///
    /// - Parameter since: the edits of others, made on the same list.
    package func keepingWords(of since: Delta) -> WordKeepingUndo {
        let nothing = WordKeepingUndo(delta: self, left: .identity, keptWords: [])
        if changes.isEmpty || since.changes.isEmpty { return nothing }
        let (mine, others) = (Footprint(self), Footprint(since))
        var (keptWords, left): ([Superseded], DeltaBuilder) = ([], DeltaBuilder())
        /// The allowed changes, by change number.
        var changes = changes
        var end = 0
        for run in mine.runs where run.kind != .delete {
            others.forEachRun(in: run.old..<run.old + run.count) { other in
                for index in other.old..<other.old + other.count {
                    let (own, theirs) = (mine.change(of: run, at: index), others.change(of: other, at: index))
                    guard own >= 0, theirs >= 0 else { continue }
                    let (allowed, dropped) = changes[own].keepingWords(of: since.changes[theirs])
                    guard !dropped.isEmpty, let present = since.map(index: index) else { continue }
                    keptWords += dropped.wordLosses(to: since.changes[theirs]).map {
                        Superseded(index: present, loss: $0, loser: .later)
                    }
                    left.keep(index - end)
                    left.edit(dropped)
                    end = index + 1
                    changes[own] = allowed
                }
            }
        }
        return end == 0
            ? nothing : WordKeepingUndo(delta: changing(to: changes), left: left.finish(), keptWords: keptWords)
    }

    /// Returns this edit with other changes of the same items.
    func changing(to changes: [Change]) -> Delta {
        var builder = DeltaBuilder(sharingItemsOf: self)
        let changed = Delta(steps: steps, items: Array(items), changes: changes, reach: reach, growth: growth)
        for step in steps { builder.append(step, of: changed) }
        return builder.finish()
    }

    /// The inverse of this edit, which only changes texts.
    ///
    /// - Precondition: this edit has no components but `keep` and `edit`, and sets no field.
    package var invertedWords: Delta {
        Delta(
            steps: steps, items: Array(items), changes: changes.map(\.invertedWords), reach: reach, growth: growth)
    }
}

extension Change {
    /// Splits this change into the places that `other` does not change, and the places that `other` changes.
    fileprivate func keepingWords(of other: Change) -> (allowed: Change, left: Change) {
        let (ofText, ofURL) = (text.keepingWords(of: other.text), url.keepingWords(of: other.url))
        var allowed = self
        (allowed.text, allowed.url) = (ofText.allowed, ofURL.allowed)
        return (allowed, Change(text: ofText.left, url: ofURL.left))
    }
}
