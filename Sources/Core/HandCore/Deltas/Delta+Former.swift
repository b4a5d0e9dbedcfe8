// Texts that are set: until version 3 of the protocol a change said what a text is to be, whatever it was. Stores and journals of
// that time hold such deltas.

extension TextChange {
    /// That a text is set. It fits no text: `Delta.resolved(on:)` makes a change of it.
    package init(setting text: String) {
        // What stands there is not known. It only has to differ, so that nothing takes this for no change at all.
        self.init(replacing: text == "\0" ? "" : "\0", at: 0, with: text)
    }

    fileprivate var setText: String? { splices.first?.inserted }
}

extension Delta {
    /// A former delta as it is said now.
    ///
    /// - Parameter list: the list on which it was made.
    /// - Throws: `Misfit` if it reaches beyond it.
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
    /// A former commit as it is said now, made on `list`.
    package func resolved(on list: Hand) throws(Delta.Misfit) -> Commit {
        var commit = self
        commit.delta = try delta.resolved(on: list)
        return commit
    }
}
