import HandCore
import HandSimulation

// Texts in which it is hard to count, and changes at any place in them, not only of whole words.

extension Chaos {
    /// Returns a text of a few words, with characters of one to four bytes.
    mutating func wideText() -> String {
        let parts = ["a", "bc ", " ", "é", "e\u{301}", "👩‍👩‍👧", "日本", "\n", "x. "]
        return (0..<random.next(below: 12)).map { _ in parts[random.next(below: parts.count)] }.joined()
    }

    /// Returns a change of a text in up to four places: each part is replaced or removed, or text is inserted.
    mutating func splices(of text: String) -> TextChange {
        let scalars = Array(text.unicodeScalars)
        var cuts = (0..<2 * (1 + random.next(below: 4))).map { _ in random.next(below: scalars.count + 1) }
        cuts.sort()
        func part(_ start: Int, _ end: Int) -> String {
            var part = String.UnicodeScalarView()
            part.append(contentsOf: scalars[start..<end])
            return String(part)
        }
        var splices: [Splice] = []
        for index in stride(from: 0, to: cuts.count, by: 2) {
            let removed = random.next(below: 3) == 0 ? "" : part(cuts[index], cuts[index + 1])
            let inserted = random.next(below: 3) == 0 ? "" : wideText()
            splices.append(Splice(at: part(0, cuts[index]).utf8.count, removed: removed, inserted: inserted))
        }
        do { return try TextChange(splices) } catch { preconditionFailure("\(splices): \(error)") }
    }
}
