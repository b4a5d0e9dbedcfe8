import HandCore

extension LineEditor {
    /// Merges somebody else's change of the original text: their words appear, and the cursor and the user's typing
    /// stay in place. The undo and redo steps are merged as well, so that no undo removes what the others wrote.
    ///
    /// - Parameter present: the text that everybody has now.
    /// - Returns: the places where others changed words that the user has replaced. The user's text stays there.
    package mutating func merge(_ present: String) -> [TextChange.Loss] {
        let merged = snapshot.merged(with: present)
        base = present
        show(merged.snapshot)
        return merged.losses
    }

    /// Merges what the user wrote in another editor. The changes that others made in the meantime are already in the
    /// field.
    ///
    /// - Parameter given: the text in the field when the other editor was opened.
    /// - Returns: the places where others changed words that the user has replaced. The user's text stays there.
    package mutating func takeBack(_ text: String, given: String) -> [TextChange.Loss] {
        let (mine, theirs) = (TextChange(from: given, to: text), TextChange(from: given, to: self.text))
        let left = mine.transformed(over: theirs, as: .later)
        guard !left.isIdentity, let merged = try? left.applied(to: self.text) else { return [] }
        let place = left.mapped(snapshot.text.prefix(cursor).utf8.count, .after)
        remember()
        last = .other
        show(Snapshot(text: merged, cursor: merged.characters(inBytes: place), base: base))
        return TextChange.losses(earlier: theirs, later: mine)
    }
}

extension LineEditor.Snapshot {
    /// Merges others' changes of the base into this text.
    func merged(with present: String) -> (snapshot: Self, losses: [TextChange.Loss]) {
        // Usually the base is unchanged.
        if base == present { return (self, []) }
        let (theirs, mine) = (TextChange(from: base, to: present), TextChange(from: base, to: text))
        let left = theirs.transformed(over: mine, as: .earlier)
        guard let merged = try? left.applied(to: text) else { return (self, []) }
        let place = left.mapped(text.prefix(cursor).utf8.count, .before)
        return (
            Self(text: merged, cursor: merged.characters(inBytes: place), base: present),
            TextChange.losses(earlier: theirs, later: mine)
        )
    }
}

extension String {
    /// The number of characters that begin in the first `count` bytes.
    func characters(inBytes count: Int) -> Int {
        var (bytes, characters) = (0, 0)
        for character in self {
            if bytes >= count { break }
            bytes += character.utf8.count
            characters += 1
        }
        return characters
    }
}
