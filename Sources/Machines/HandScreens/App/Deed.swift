import HandCore
import HandFormats

/// What an edit did, in the words in which one tells it: which item, and where it is now.
enum Deed {
    /// An edit that took `before` to `after`, by which something is again what it was.
    static func again(_ delta: Delta, from before: Hand, to after: Hand) -> String? {
        var (inserted, moved, edited) = (Places(), Places(), Places())
        var deleted = Places()
        var (old, place) = (0, 0)
        for component in delta.components {
            switch component {
            case .keep(let count):
                old += count
                place += count
            case .edit:
                edited.note(place, 1)
                old += 1
                place += 1
            case .delete(let count):
                deleted.note(old, count)
                old += count
            case .pick(let count): old += count
            case .insert(let items, _):
                inserted.note(place, items.count)
                place += items.count
            case .drop(let slots, _, _):
                moved.note(place, slots.count)
                place += slots.count
            }
        }
        var parts: [String] = []
        if let said = inserted.said(after) { parts.append("\(said.what) \(said.verb) back at \(said.place)") }
        if let said = deleted.said(before) { parts.append("\(said.what) \(said.verb) gone again") }
        if let said = moved.said(after) { parts.append("\(said.what) \(said.verb) at \(said.place) again") }
        if let said = edited.said(after) { parts.append("\(said.place) \(said.verb) \(said.what) again") }
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }

    /// `[ ] milk` or `3 items`: what stands at these places.
    static func name(_ runs: [Range<Int>], of hand: Hand) -> String {
        let count = runs.reduce(0) { $0 + $1.count }
        guard count == 1, let place = runs.first(where: { !$0.isEmpty })?.lowerBound else {
            return Words.count(count, "item")
        }
        return "'\(Wrapping.lines(Printable.line(of: hand[place].content), width: mostColumns, limit: 1)[0])'"
    }

    /// Columns of an item's text in a sentence.
    private static let mostColumns = 40

    /// Places of items: the first, and how many there are.
    private struct Places {
        private var first = 0
        private var count = 0

        mutating func note(_ place: Int, _ count: Int) {
            if self.count == 0 { first = place }
            self.count += count
        }

        /// The item or how many they are, `is` or `are`, and the number of the first.
        func said(_ hand: Hand) -> (what: String, verb: String, place: String)? {
            if count == 0 { return nil }
            if count == 1 { return (Deed.name([first..<first + 1], of: hand), "is", "\(first + 1)") }
            return (Words.count(count, "item"), "are", "\(first + 1) and below")
        }
    }
}
