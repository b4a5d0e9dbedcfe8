import HandCore
import HandScreens

/// Lists as one line of text: `a >b *c +d #e` is a task, the task under the cursor, a selected one, one that is done,
/// and a heading; `!f` is a note, `?Q♠` a card, `@g` a link.
enum Notation {
    static func hand(_ text: String, rules: Rules = Rules()) -> (hand: Hand, cursor: Int) {
        var items: [Item] = []
        var cursor = 0
        for word in text.split(separator: " ") {
            var word = word
            if word.hasPrefix(">") {
                cursor = items.count
                word.removeFirst()
            }
            items.append(Item(id: ItemID(rawValue: UInt64(items.count + 1) << 32), content: content(word)))
        }
        return (Hand(items, rules: rules), cursor)
    }

    private static func content(_ word: Substring) -> Content {
        let text = String(word.dropFirst())
        return switch word.first {
        case "+": .task(text, done: true)
        case "#": .heading(text)
        case "!": .note(text)
        case "@": .link(text, url: "https://\(text)")
        case "?": .card(Card(text) ?? .faceDown)
        default: .task(String(word), done: false)
        }
    }

    /// Returns a stage's current list. The cursor and the selection are read from the drawn screen.
    static func text(_ stage: Stage) -> String {
        let canvas = stage.app.view()
        var marks: [Int: String] = [:]
        let width = String(stage.hand().count).count
        for row in canvas.rows.dropFirst().dropLast(2) {
            let line = row.map(\.text).joined()
            guard let number = Int(line.dropFirst(2).prefix(width).filter { $0 != " " }) else { continue }
            if row[0].style.background == .blue { marks[number - 1, default: ""] += "*" }
            if line.hasPrefix("▸") { marks[number - 1] = ">" + (marks[number - 1] ?? "") }
        }
        return stage.hand().enumerated().map { (marks[$0.offset] ?? "") + word($0.element.content) }.joined(
            separator: " ")
    }

    private static func word(_ content: Content) -> String {
        switch content {
        case .task(let text, let done): (done ? "+" : "") + text
        case .heading(let text): "#" + text
        case .note(let text): "!" + text
        case .link(let text, _): "@" + text
        case .card(let card): "?\(card)"
        case .unknown(let kind, _): "unknown\(kind.rawValue)"
        }
    }
}
