import HandCore
import HandFormats
import HandWire

/// A text that is being typed, for a new or an existing item.
package struct Draft: Sendable {
    enum Target: Equatable, Sendable {
        case new(gap: Int, Side)
        case existing(Int, Item, Field)
    }

    enum Field: Equatable, Sendable {
        case text, address

        /// The field's text in an item's content.
        fileprivate func text(of content: Content) -> String {
            if self == .address, case .link(_, let url) = content { return url }
            return content.text
        }
    }

    var target: Target
    /// The kind of a new item, unless its text says otherwise.
    var kind: Content.Kind
    var editor: LineEditor
    /// Why the text is refused, or what has happened to the item in the meantime.
    var problem: String?
    /// The message until the text is saved: what somebody else did to the words that the user replaced, or where to
    /// find the text that another editor saved.
    var note: String?
    /// The state while the user's own editor has the text; nil otherwise.
    private(set) var outside: Outside?

    struct Outside: Sendable {
        /// The text when the editor was opened.
        let given: String
        /// The last other person to change the text since then.
        var other: String?
    }

    /// The text below the field.
    var hint: String? { problem ?? note }

    /// The text in front of the field.
    var label: String {
        switch target {
        case .new: "+ \(kind.name) ▸"
        case .existing(_, _, .text): "✎"
        case .existing(_, _, .address): "✎ address ▸"
        }
    }

    /// The change of an existing item; nil if its text is unchanged.
    var change: Change? {
        guard case .existing(_, let item, let field) = target, editor.text != editor.base else { return nil }
        let text = editor.text
        return field == .text ? item.content.rewording(text) : item.content.rewording(url: text)
    }

    /// Why a list would refuse the change; nil if it would accept it.
    func refusal(_ rules: Rules) -> String? {
        guard case .existing(_, let item, _) = target, let change, let changed = try? item.content.applying(change),
            let violation = rules.violation(of: changed)
        else { return nil }
        return "\(Rejection.violation(violation))"
    }

    mutating func type(_ key: Key) {
        problem = nil
        _ = editor.handle(key)
    }

    mutating func paste(_ text: String) {
        problem = nil
        editor.insert(text)
    }

    /// The columns for the text, which begins after the label. The cursor needs a column at the end of the text.
    func room(_ width: Int) -> Int { max(1, width - Columns.width(of: label) - 2) }

    /// Wraps the text so that it takes `width` columns with its label. An address stays one line.
    mutating func fit(width: Int) {
        if editor.width != nil { editor.width = room(width) }
    }

    /// The kind that Tab gives a new item; nil for an existing item.
    func nextKind(_ rules: Rules, isBack: Bool = false) -> Content.Kind? {
        let kinds = Typed.kinds(rules)
        guard case .new = target, let index = kinds.firstIndex(of: kind) else { return nil }
        return kinds[(index + (isBack ? kinds.count - 1 : 1)) % kinds.count]
    }

    /// The keys for the line at the bottom.
    func hints(_ rules: Rules) -> [Hint] {
        let ofSeveral =
            editor.width == nil
            ? [] : [Hint(Key(.enter, .alt), to: "line break"), Hint(.control("o"), to: "your editor")]
        guard case .new = target else {
            return [Hint(Key(.enter), to: "save"), Hint(Key(.escape), to: "leave as it was")] + ofSeveral
        }
        let other = nextKind(rules).flatMap { $0 == kind ? nil : Hint(Key(.tab), to: "\($0.name) instead") }
        let enter = Hint(Key(.enter), to: editor.isEmpty ? "end" : "add")
        return [enter, Hint(Key(.escape), to: "leave")] + (other.map { [$0] } ?? []) + ofSeveral
    }

    /// Updates the draft after a change that led to `hand`. `name` is the change's author. Returns false if the draft's
    /// item is gone.
    mutating func follow(_ delta: Delta, to hand: Hand, by name: String) -> Bool {
        switch target {
        case .new(let gap, let side):
            target = .new(gap: delta.map(gap: gap, side), side)
        case .existing(let index, _, let field):
            guard let new = delta.map(index: index) else { return false }
            target = .existing(new, hand[new], field)
            let present = field.text(of: hand[new].content)
            if present != editor.base { outside?.other = name }
            warn(of: editor.merge(present), by: name)
        }
        return true
    }

    /// Shows which of somebody's changes the user would override.
    private mutating func warn(of losses: [TextChange.Loss], by name: String) {
        guard let loss = losses.last else { return }
        let lost = Printable.clean(loss.lost)
        let deed = lost.isEmpty ? "removed this" : "changed this to '\(lost)'"
        note = "\(name) \(deed); Enter puts yours in its place"
    }
}

extension Draft {
    /// Opens the text in the user's own editor. An address is one line, which needs no editor.
    mutating func goOutside() -> [Command] {
        guard editor.width != nil else { return [.bell] }
        (problem, outside) = (nil, Outside(given: editor.text))
        return [.editOutside(editor.text, named: kind.name + (kind == .note ? ".md" : ".txt"))]
    }

    /// Merges the text from the other editor with the changes that others made in the meantime.
    mutating func comeBack(with text: String, _ rules: Rules) {
        guard let outside else { return }
        self.outside = nil
        warn(of: editor.takeBack(text, given: outside.given), by: outside.other ?? "somebody")
        problem = refusal(rules) ?? problem
    }

    /// Ends the other editor's work without a new text, for the given reason.
    mutating func comeBack(without reason: String) {
        if outside != nil { (outside, note) = (nil, reason) }
    }
}

extension Draft {
    /// The assumed width until the real width is known.
    private static let usualWidth = 80

    /// A draft of a new item, optionally with an initial text.
    init(new target: Target, kind: Content.Kind, _ text: String = "") {
        self.init(target: target, kind: kind, editor: LineEditor(text, width: Self.usualWidth))
    }

    /// A draft of an existing item.
    init(_ field: Field, of item: Item, at place: Int) {
        let editor = LineEditor(field.text(of: item.content), width: field == .text ? Self.usualWidth : nil)
        self.init(target: .existing(place, item, field), kind: item.content.kind, editor: editor)
    }
}

/// Interprets typed text as content.
enum Typed {
    /// The kinds that may be added to a list, in the order of the Tab key.
    static func kinds(_ rules: Rules) -> [Content.Kind] {
        let order: [Content.Kind] = [.task, .note, .heading, .link, .card]
        return order.filter { rules.allowedKinds?.contains($0) ?? ($0 != .card) }
    }

    /// The content for a typed text. Its kind is `kind`, unless the text begins like a heading or a task (optionally
    /// with a bullet before the box), or is an address. Returns nil if the text cannot be of that kind.
    static func content(_ text: String, as kind: Content.Kind, _ rules: Rules) -> Content? {
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

    /// Returns a link if the text is an address or ends in one.
    private static func link(_ text: String) -> Content? {
        let words = text.split(separator: " ")
        guard let last = words.last, isAddress(last) else { return nil }
        let label = words.dropLast().joined(separator: " ")
        return .link(label.isEmpty ? String(last) : label, url: String(last))
    }

    private static func isAddress(_ word: Substring) -> Bool {
        ["http://", "https://", "hand://", "hand+unix://"].contains { word.hasPrefix($0) && word.count > $0.count }
            && !word.contains(where: \.isNewline)
    }
}
