// Texts set as a whole: before version 3 of the protocol, a change contained the new text regardless of the old one.
// Stores and journals of that time contain such deltas.

extension TextChange {
    /// Sets a text. It fits no text: `Delta.resolved(on:)` converts it into a real change.
    package init(setting text: String) {
        // The old text is unknown. It only has to differ, so that nothing mistakes this for an empty change.
        self.init(replacing: text == "\0" ? "" : "\0", at: 0, with: text)
    }

    fileprivate var setText: String? { splices.first?.inserted }
}

extension Delta {
    /// Converts a delta in the former format to the current one.
    ///
    /// - Parameter list: the list that the delta was made on.
    /// - Throws: `Misfit` if the delta reaches beyond the list.
    package func resolved(on list: Hand) throws(Misfit) -> Delta {
        guard !changes.isEmpty else { return self }
        guard reach <= list.count else { throw .tooFewItems(reach: reach, count: list.count) }
        var changes = changes
        let footprint = Footprint(self)
        for run in footprint.runs {
            for index in run.old..<run.old + run.count {
                let number = footprint.change(of: run, at: index)
                if number >= 0 { changes[number] = changes[number].resolved(on: list[index].content) }
            }
        }
        return changing(to: changes)
    }
}

extension Change {
    fileprivate func resolved(on content: Content) -> Change {
        var change = content.rewording(text.setText, url: url.setText)
        (change.done, change.card, change.bytes) = (done, card, bytes)
        return change
    }
}

extension Commit {
    /// Converts a commit in the former format, made on `list`, to the current one.
    package func resolved(on list: Hand) throws(Delta.Misfit) -> Commit {
        var commit = self
        commit.delta = try delta.resolved(on: list)
        return commit
    }
}
