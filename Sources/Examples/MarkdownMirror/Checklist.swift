import HandCore

/// A list as a Markdown checklist, one line per item.
enum Checklist {
    static func lines(of list: Hand) -> [String] {
        list.map { item in
            // One item is one line, even if its text has several.
            let text = item.content.text.replacing("\n", with: " ")
            return switch item.content {
            case .task(_, let done): "- [\(done ? "x" : " ")] \(text)"
            case .heading: "# \(text)"
            default: "- \(text)"
            }
        }
    }

    private static func content(of line: String) -> Content {
        for (mark, done) in [("- [ ] ", false), ("- [x] ", true)] where line.hasPrefix(mark) {
            return .task(String(line.dropFirst(mark.count)), done: done)
        }
        if line.hasPrefix("# ") { return .heading(String(line.dropFirst(2))) }
        return .note(line.hasPrefix("- ") ? String(line.dropFirst(2)) : line)
    }

    /// The content of a line in an item's place; nil if the line is of another kind. A link looks like a note: its line
    /// has no address.
    private static func content(of line: String, in item: Item) -> Content? {
        let content = content(of: line)
        if case .link(_, let url) = item.content, content.kind == .note { return .link(content.text, url: url) }
        return content.kind == item.content.kind ? content : nil
    }

    /// Returns the edit that turns the list into the file's lines.
    ///
    /// A line that was replaced by one of the same kind is an edit of its item, so that others' changes to the item
    /// stay.
    static func edit(of list: Hand, into lines: [String]) -> Delta {
        let former = self.lines(of: list)
        var items: [Item?] = list.map { $0 }
        var removed: [Int: Item] = [:]
        let changes = lines.difference(from: former)
        for case .remove(let offset, _, _) in changes { removed[offset] = list[offset] }
        for offset in removed.keys.sorted(by: >) { items.remove(at: offset) }
        var random = SystemRandomNumberGenerator()
        for case .insert(let offset, let line, _) in changes {
            let replaced = removed.sorted { $0.key < $1.key }.lazy.compactMap { place, item in
                content(of: line, in: item).map { (place, Item(id: item.id, content: $0)) }
            }.first
            if let replaced { removed[replaced.0] = nil }
            items.insert(replaced?.1 ?? Item(id: .random(using: &random), content: content(of: line)), at: offset)
        }
        return Delta(from: list, to: items.compactMap { $0 })
    }
}
