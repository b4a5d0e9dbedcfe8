import HandCore
import HandFormats

/// A text that is being typed: of a new item, or of an existing one.
package struct Draft: Sendable {
    enum Target: Equatable, Sendable {
        case new(gap: Int, Side)
        case existing(Int, Item, Field)
    }

    enum Field: Equatable, Sendable {
        case text, address

        /// What it says of an item, in one line.
        fileprivate func line(of content: Content) -> String {
            if self == .address, case .link(_, let url) = content { return LineBreaks.shown(url) }
            return LineBreaks.shown(content.text)
        }
    }

    var target: Target
    /// The kind of a new item, unless its text says otherwise.
    var kind: Content.Kind
    var editor = LineEditor()
    /// Why the text is refused, or what happened to the item meanwhile.
    var problem: String?
    /// What somebody else did to the words that the user replaced. It is shown until the text is saved.
    var overridden: String?
    /// The text that is there: what others make of it meanwhile is taken in.
    var original = ""

    /// What is shown below the field.
    var hint: String? { problem ?? overridden }

    /// What stands in front of the field.
    var label: String {
        switch target {
        case .new: "+ \(kind.name) ▸"
        case .existing(_, _, .text): "✎"
        case .existing(_, _, .address): "✎ address ▸"
        }
    }

    /// The change of an existing item; nil if its text is as before.
    var change: Change? {
        guard case .existing(_, _, let field) = target, editor.text != original else { return nil }
        let text = LineBreaks.meant(editor.text)
        return field == .text ? Change(text: text) : Change(url: text)
    }

    mutating func type(_ key: Key) {
        problem = nil
        if key == Key(.enter, .alt) { editor.insert(LineBreaks.sign) } else { _ = editor.handle(key) }
    }

    /// The kind that Tab makes of a new item.
    func nextKind(_ rules: Rules, isBack: Bool = false) -> Content.Kind? {
        let kinds = Typed.kinds(rules)
        guard case .new = target, let index = kinds.firstIndex(of: kind) else { return nil }
        return kinds[(index + (isBack ? kinds.count - 1 : 1)) % kinds.count]
    }

    /// The keys for the line at the bottom.
    func hints(_ rules: Rules) -> [Hint] {
        let lineBreak = Hint(Key(.enter, .alt), to: "line break")
        guard case .new = target else {
            return [Hint(Key(.enter), to: "save"), Hint(Key(.escape), to: "leave as it was"), lineBreak]
        }
        let other = nextKind(rules).flatMap { $0 == kind ? nil : Hint(Key(.tab), to: "\($0.name) instead") }
        let enter = Hint(Key(.enter), to: editor.text.isEmpty ? "end" : "add")
        return [enter, Hint(Key(.escape), to: "leave")] + (other.map { [$0] } ?? []) + [lineBreak]
    }

    /// Carries the draft through a change, by somebody of that name, that led to `hand`; false if its item is gone.
    mutating func follow(_ delta: Delta, to hand: Hand, by name: String) -> Bool {
        switch target {
        case .new(let gap, let side):
            target = .new(gap: delta.map(gap: gap, side), side)
        case .existing(let index, _, let field):
            guard let new = delta.map(index: index) else { return false }
            target = .existing(new, hand[new], field)
            merge(field.line(of: hand[new].content), by: name)
        }
        return true
    }

    /// Takes in what somebody has made of the text.
    private mutating func merge(_ present: String, by name: String) {
        let losses = editor.merge(from: original, to: present)
        original = present
        guard let loss = losses.last else { return }
        let present = Printable.clean(loss.lost)
        let deed = present.isEmpty ? "removed this" : "changed this to '\(present)'"
        overridden = "\(name) \(deed); Enter puts yours in its place"
    }
}

extension Draft {
    /// Of an item that is there.
    init(_ field: Field, of item: Item, at place: Int) {
        let line = field.line(of: item.content)
        self.init(
            target: .existing(place, item, field), kind: item.content.kind, editor: LineEditor(line), original: line)
    }
}

/// Line breaks within a text. In the one-line field they are shown as a sign.
enum LineBreaks {
    static let sign = "⏎"

    static func shown(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { Printable.clean(String($0)) }
            .joined(separator: sign)
    }

    static func meant(_ line: String) -> String { line.replacing(sign, with: "\n") }
}

/// Reads a typed line as content.
enum Typed {
    /// The kinds that may be added to a list, in the order of the Tab key.
    static func kinds(_ rules: Rules) -> [Content.Kind] {
        let order: [Content.Kind] = [.task, .note, .heading, .link, .card]
        return order.filter { rules.allowedKinds?.contains($0) ?? ($0 != .card) }
    }

    /// The content that a line says: of `kind`, unless it starts like a heading or a task (perhaps with a bullet before its
    /// box), or is an address. nil if it cannot be of that kind.
    static func content(_ line: String, as kind: Content.Kind, _ rules: Rules) -> Content? {
        let text = LineBreaks.meant(line)
        let trimmed = text.drop { $0 == " " }
        func isAllowed(_ kind: Content.Kind) -> Bool { rules.allowedKinds?.contains(kind) ?? true }
        if kind != .card {
            if isAllowed(.heading), trimmed.hasPrefix("# ") { return .heading(rest(trimmed, after: 2)) }
            let isBulleted = ["- [", "* [", "+ ["].contains { trimmed.hasPrefix($0) }
            let boxed = trimmed.dropFirst(isBulleted ? 2 : 0)
            for (mark, done) in [("[ ] ", false), ("[x] ", true), ("[X] ", true)] {
                if isAllowed(.task), boxed.hasPrefix(mark) { return .task(rest(boxed, after: 4), done: done) }
            }
            if isAllowed(.link), let link = link(String(trimmed)) { return link }
        }
        switch kind {
        case .task: return .task(text, done: false)
        case .note: return .note(text)
        case .heading: return .heading(text)
        case .link: return .link(text, url: text)
        case .card: return Card(text.filter { $0 != " " }).map { .card($0) }
        default: return nil
        }
    }

    private static func rest(_ text: Substring, after count: Int) -> String { String(text.dropFirst(count)) }

    /// Reads a text that is an address or ends in one.
    private static func link(_ text: String) -> Content? {
        let words = text.split(separator: " ")
        guard let last = words.last, isAddress(last) else { return nil }
        let label = words.dropLast().joined(separator: " ")
        return .link(label.isEmpty ? String(last) : label, url: String(last))
    }

    private static func isAddress(_ word: Substring) -> Bool {
        ["http://", "https://", "hand://", "hand+unix://"].contains { word.hasPrefix($0) && word.count > $0.count }
    }
}
