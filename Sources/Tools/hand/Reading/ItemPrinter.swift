import Glibc
import HandClient
import HandCore
import HandFormats
import HandWire

/// Prints items for people or for scripts.
struct ItemPrinter {
    private let isJSON: Bool
    private let colors: ItemColors?

    /// - Parameter me: the person's name, as others see it.
    init(_ server: ServerOptions, for me: String) {
        isJSON = server.json
        colors = ItemColors(for: me)
    }

    /// - Parameter isShown: which items to print; nil for all. They keep their numbers in the whole list.
    func print(_ list: Hand, where isShown: ((Int, Item) -> Bool)? = nil) {
        let all = zip(1..., list).lazy.map { (number: $0, item: $1) }
        let length = ShortID.length(of: list.ids)
        guard let isShown else { return print(all, upTo: list.count, idLength: length) }
        let shown = Array(all.filter { isShown($0.number, $0.item) })
        print(shown, upTo: shown.last?.number ?? 0, idLength: length)
    }

    /// - Parameters:
    ///   - last: the largest number, for the width of the column.
    ///   - length: how many characters of an id make it unique in the whole list.
    func print(_ shown: some Sequence<(number: Int, item: Item)>, upTo last: Int, idLength length: Int) {
        Output.together {
            if isJSON {
                for (number, item) in shown {
                    Output.json(.object(.init(["id": JSON.id(item.id), "number": number]) + JSON.members(of: item)))
                }
                return
            }
            let width = String(last).utf8.count
            var line: Printable = ""
            var above = (number: 0, level: -1)
            for (place, item) in shown {
                let number = String(place)
                // What is above an item that is printed alone is not known.
                let level = min(Int(item.level), above.number == place - 1 ? above.level + 1 : place - 1)
                above = (place, level)
                // One string for all lines: there may be a million.
                line.removeAll()
                for _ in number.utf8.count..<width { line.append(" ") }
                line.append(number)
                let id = ShortID.text(of: item.id, length: length)
                // The mark of an id stands between the columns.
                line.append(id.hasPrefix("@") ? " " : "  ")
                if colors == nil { line.append(id) } else { line = "\(line)\u{1B}[2m\(id)\u{1B}[0m" }
                line.append("  ")
                for _ in 0..<level { line.append("  ") }
                if let colors { line = line + colors.line(of: item.content) } else { line.append(item.content) }
                Output.line(line)
            }
        }
    }
}

/// Draws items for a terminal with colours: ticked tasks dim, headings bold, people and days as the screen draws them,
/// and a mark at each line break.
private struct ItemColors {
    private let today = LocalTime.day()
    private let me: String

    /// Nil if standard output is no terminal with colours, or the user refuses them.
    init?(for me: String) {
        guard Output.marks == .colored else { return nil }
        self.me = me
    }

    func line(of content: Content) -> Printable {
        let isTicked = if case .task(_, done: true) = content { true } else { false }
        let line = Printable.line(of: content) { text, isURL in
            let lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
                .map { isURL || isTicked ? "\($0)" : words(String($0)) }
            let lineBreak: Printable = isTicked ? "↵ " : "\u{1B}[2m↵\u{1B}[0m "
            return lines.dropFirst().reduce(lines[0]) { $0 + lineBreak + $1 }
        }
        return switch content {
        case .task(_, done: true): "\u{1B}[2m\(line)\u{1B}[0m"
        case .heading: "\u{1B}[1m\(line)\u{1B}[0m"
        default: line
        }
    }

    private func words(_ text: String) -> Printable {
        var line: Printable = ""
        var end = text.startIndex
        TaskWords.forEach(in: text) { word, range in
            line.append(text[end..<range.lowerBound])
            line = line + styled(text[range], word)
            end = range.upperBound
            return true
        }
        line.append(text[end...])
        return line
    }

    private func styled(_ text: Substring, _ word: TaskWords.Word) -> Printable {
        switch word {
        case .person(let name) where TaskWords.names(me, in: "@" + name): "\u{1B}[1;35m\(text)\u{1B}[0m"
        case .person: "\u{1B}[35m\(text)\u{1B}[0m"
        case .due(let day) where day < today: "\u{1B}[1;31m\(text)\u{1B}[0m"
        case .due(let day) where day == today: "\u{1B}[1;33m\(text)\u{1B}[0m"
        case .due: "\u{1B}[36m\(text)\u{1B}[0m"
        }
    }
}
