import HandWire

/// The words of a text that say who does a task and when it is due, as todo.txt writes them: `@bob`, `due:2026-12-01`.
package enum TaskWords {
    package enum Word: Equatable, Sendable {
        /// A person's name, without the `@`.
        case person(Substring)
        /// A day, as `2026-12-01`. Days in this form are ordered as texts.
        case due(Substring)
    }

    /// Calls `body` with each word and its range, until `body` returns false. O(text).
    package static func forEach(in text: String, _ body: (Word, Range<String.Index>) -> Bool) {
        // Nearly all texts have neither.
        guard text.utf8.contains(where: { $0 == UInt8(ascii: "@") || $0 == UInt8(ascii: ":") }) else { return }
        var rest = text[...]
        while let start = rest.utf8.firstIndex(where: { !isBlank($0) }) {
            let end = rest.utf8[start...].firstIndex(where: isBlank) ?? rest.endIndex
            if let (word, range) = word(in: rest[start..<end]), !body(word, range) { return }
            rest = rest[end...]
        }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    private static func word(in token: Substring) -> (Word, Range<String.Index>)? {
        let token = token.drop { $0 == "(" }
        if token.hasPrefix("due:") {
            let day = token.dropFirst(4).prefix(10)
            let rest = token[day.endIndex...]
            return isDay(day) && rest.allSatisfy(isPunctuation) ? (.due(day), token.startIndex..<day.endIndex) : nil
        }
        var name = token
        while let last = name.last, isPunctuation(last) { name.removeLast() }
        guard name.first == "@", name.count > 1, !name.dropFirst().contains("@") else { return nil }
        return (.person(name.dropFirst()), name.startIndex..<name.endIndex)
    }

    private static func isPunctuation(_ character: Character) -> Bool { ".,;:!?)".contains(character) }

    /// Whether a text is a day of a calendar.
    private static func isDay(_ text: Substring) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.map(\.utf8.count) == [4, 2, 2], let year = Int(parts[0]), let month = Int(parts[1]),
            let day = Int(parts[2]), text.utf8.allSatisfy({ $0 == UInt8(ascii: "-") || $0.isDigit })
        else { return false }
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        return days.indices.contains(month - 1) && (1...days[month - 1]).contains(day)
    }

    /// The day that a text is due: the first one in it; nil for none.
    package static func due(_ text: String) -> Substring? {
        var found: Substring?
        forEach(in: text) { word, _ in
            if case .due(let day) = word { found = day }
            return found == nil
        }
        return found
    }

    /// Whether a text names a person.
    package static func names(_ person: String, in text: String) -> Bool {
        var isNamed = false
        forEach(in: text) { word, _ in
            if case .person(let name) = word { isNamed = isSame(name, person) }
            return !isNamed
        }
        return isNamed
    }

    /// A person's name as one word, for a text: `@ada_lovelace` names Ada Lovelace, also if nobody vouches for the
    /// name.
    package static func word(for person: String) -> String {
        let mark = DownMessage.Granted.guestMark
        let name = person.hasPrefix(mark) ? person.dropFirst(mark.count) : person[...]
        return "@" + name.split(whereSeparator: \.isWhitespace).joined(separator: "_")
    }

    private static func isSame(_ name: Substring, _ person: String) -> Bool {
        name.lowercased() == word(for: person).dropFirst().lowercased()
    }
}
