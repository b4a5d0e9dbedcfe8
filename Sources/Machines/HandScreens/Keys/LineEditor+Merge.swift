import HandCore

extension LineEditor {
    /// Takes in what somebody else has made of the text from which one began: their words appear, and the cursor and what one
    /// has typed stay in place. What can be undone and redone takes it in, too, so that no undo removes what they wrote.
    ///
    /// - Parameter present: the text that everybody has now.
    /// - Returns: where they changed what one has replaced; there one's own text stays.
    package mutating func merge(_ present: String) -> [TextChange.Loss] {
        let merged = snapshot.merged(with: present)
        base = present
        show(merged.snapshot)
        return merged.losses
    }

    /// Takes in what oneself has made of the text elsewhere. What others have made of it meanwhile is in the field already.
    ///
    /// - Parameter given: what was in the field when one began.
    /// - Returns: what others changed that one has replaced; there one's own text stands.
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
    /// This text with what others have made of its base since.
    func merged(with present: String) -> (snapshot: Self, losses: [TextChange.Loss]) {
        // Mostly it is the very same.
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
