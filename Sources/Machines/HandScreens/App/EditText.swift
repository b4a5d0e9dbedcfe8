import HandCore
import HandFormats

/// Describes an edit in words: which item the edit concerned, and where that item is now.
enum EditText {
    static let nothing = "nothing is left of that edit"

    /// Describes an undo or a redo that took `before` to `after`; nil if it changed nothing.
    static func again(_ delta: Delta, from before: Hand, to after: Hand) -> String? {
        func said(_ mark: Delta.Mark) -> (what: String, verb: String, place: String)? {
            let places = delta.placed.filter { $0.mark == mark }.map { mark == .deleted ? $0.old : $0.new }
            let count = places.reduce(0) { $0 + $1.count }
            guard count > 0, let first = places.first?.lowerBound else { return nil }
            let what = name(places, of: mark == .deleted ? before : after)
            return (what, count == 1 ? "is" : "are", count == 1 ? "\(first + 1)" : "\(first + 1) and below")
        }
        var parts: [String] = []
        if let said = said(.inserted) { parts.append("\(said.what) \(said.verb) back at \(said.place)") }
        if let said = said(.deleted) { parts.append("\(said.what) \(said.verb) gone again") }
        if let said = said(.moved) { parts.append("\(said.what) \(said.verb) at \(said.place) again") }
        if let said = said(.edited) { parts.append("\(said.place) \(said.verb) \(said.what) again") }
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }

    /// Names the items at these places: `'[ ] milk'` or `3 items`.
    static func name(_ runs: [Range<Int>], of hand: Hand) -> String {
        let count = runs.reduce(0) { $0 + $1.count }
        guard count == 1, let place = runs.first(where: { !$0.isEmpty })?.lowerBound else {
            return Amount.count(count, "item")
        }
        return "'\(Wrapping.lines(Printable.line(of: hand[place].content), width: maxColumns, limit: 1)[0])'"
    }

    /// The most columns that an item's text takes in a sentence.
    private static let maxColumns = 40
}
