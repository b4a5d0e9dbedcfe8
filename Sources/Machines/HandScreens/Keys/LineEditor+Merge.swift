import HandCore

extension LineEditor {
    /// Takes in what somebody else made of the text from which one began: their words appear, and the cursor and what one has
    /// typed stay in place. What can be undone and redone takes it in, too, so that no undo removes what they wrote.
    ///
    /// - Parameters:
    ///   - base: what the line was before one edited it, with all that was taken in so far.
    ///   - present: what they have made of that.
    /// - Returns: where they changed what one has replaced; there one's own text stays.
    package mutating func merge(from base: String, to present: String) -> [TextChange.Loss] {
        let theirs = TextChange(from: base, to: present)
        if theirs.isIdentity { return [] }
        func merged(_ snapshot: Snapshot) -> Snapshot {
            let mine = TextChange(from: base, to: snapshot.text)
            let left = theirs.transformed(over: mine, as: .earlier)
            guard let text = try? left.applied(to: snapshot.text) else { return snapshot }
            let before = snapshot.text.prefix(snapshot.cursor).utf8.count
            return Snapshot(text: text, cursor: text.characters(inBytes: left.mapped(before, .before)))
        }
        let losses = TextChange.losses(earlier: theirs, later: TextChange(from: base, to: text))
        past = past.map(merged)
        future = future.map(merged)
        show(merged(snapshot))
        return losses
    }
}

extension String {
    /// How many characters begin in its first so many bytes.
    fileprivate func characters(inBytes count: Int) -> Int {
        var (bytes, characters) = (0, 0)
        for character in self where bytes < count {
            bytes += character.utf8.count
            characters += 1
        }
        return characters
    }
}
