import HandCore
import HandFormats

/// A text that is being typed, for a new or an existing item.
package struct Draft: Sendable {
    enum Target: Equatable, Sendable {
        case new(gap: Int, Side)
        case existing(Int, Item, Field)
    }

    enum Field: Equatable, Sendable {
        case text, address

        func text(of content: Content) -> String {
            self == .address ? content.address ?? content.text : content.text
        }
    }

    var target: Target
    /// The item whose text was edited, if the item was deleted meanwhile. The text then becomes a new item of the same
    /// kind.
    private(set) var former: (item: Item, field: Field)?
    /// The name under which the text was kept when an earlier screen was closed; nil if the text was not kept.
    private(set) var keptAs: String?
    /// The kind of a new item, unless its text says otherwise.
    var kind: Content.Kind
    var editor: LineEditor
    /// Why the text is refused, or what has happened to the item in the meantime.
    var problem: String?
    /// The message until the text is saved: what somebody else did to the words that the user replaced, or where to
    /// find the text that another editor saved.
    var note: String?
    /// What may follow the text, if the cursor is at its end.
    var completion: String?
    /// The ticked task that has the entered text already, and that another Enter unticks.
    var ticked: ItemID?
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
        if subject?.field == .address { return "✎ address ▸" }
        return if case .new = target { "+ \(kind.name) ▸" } else { "✎" }
    }

    /// Whether lines of text become new items.
    var adds: Bool { subject == nil }

    /// The item whose text is edited, whether it still exists or not; nil for a new item.
    private var subject: (item: Item, field: Field)? {
        if case .existing(_, let item, let field) = target { (item, field) } else { former }
    }

    /// The item whose text is edited, and its place; nil for a new item.
    var edited: ItemID? { if case .existing(_, let item, _) = target { item.id } else { nil } }
    var place: Int? { if case .existing(let place, _, _) = target { place } else { nil } }

    /// The change of an existing item; nil if its text is unchanged.
    var change: Change? {
        guard let (item, field) = subject, editor.text != editor.base else { return nil }
        let text = editor.text
        return field == .text ? item.content.rewording(text) : item.content.rewording(url: text)
    }

    /// The content of the edited item with the typed text; nil for a new item.
    var content: Content? {
        guard let item = subject?.item else { return nil }
        return change.flatMap { try? item.content.applying($0) } ?? item.content
    }

    /// Why a list would refuse the change; nil if it would accept it.
    func refusal(_ rules: Rules) -> String? {
        guard change != nil, let content else { return nil }
        if let field = subject?.field, field == .address ? content.address?.isBlank == true : content.text.isBlank {
            return "this is empty, so it is not saved: esc leaves it as it was"
        }
        return rules.violation(of: content).map { "\(Rejection.violation($0))" }
    }

    mutating func type(_ key: Key) {
        (problem, ticked) = (nil, nil)
        let isAtEnd = editor.cursor == editor.characters.count
        if let completion, isAtEnd, key == Key(.right) || key == Key(.end) || key == .control("e") {
            return editor.insert(completion)
        }
        _ = editor.handle(key)
    }

    /// Looks for what may follow the text.
    mutating func complete(_ source: Completion) {
        let isAtEnd = editor.cursor == editor.characters.count && subject?.field != .address
        completion = isAtEnd ? source.rest(of: editor, isNew: adds) : nil
    }

    mutating func paste(_ text: String) {
        problem = nil
        // Whoever copies a whole line copies its end, too.
        editor.insert(text.last?.isNewline == true ? String(text.dropLast()) : text)
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
        guard subject == nil, let index = kinds.firstIndex(of: kind) else { return nil }
        return kinds[(index + (isBack ? kinds.count - 1 : 1)) % kinds.count]
    }

    /// The keys for the line at the bottom.
    func hints(_ rules: Rules) -> [Hint] {
        let ofSeveral =
            editor.width == nil
            ? []
            : (completion == nil ? [] : [Hint(Key(.right), to: "complete")])
                + [Hint(Key(.enter, .alt), to: "line break"), Hint(.control("o"), to: "your editor")]
        guard case .new = target else {
            return [Hint(Key(.enter), to: "save"), Hint(Key(.escape), to: "leave as it was")] + ofSeveral
        }
        if former != nil { return [Hint(Key(.enter), to: "add"), Hint(Key(.escape), to: "leave")] + ofSeveral }
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
            comeBack(in: delta, hand, by: name)
        case .existing(let index, _, let field):
            guard let new = delta.map(index: index) else { return false }
            target = .existing(new, hand[new], field)
            let present = field.text(of: hand[new].content)
            if present != editor.base { outside?.other = name }
            warn(of: editor.merge(present), by: name)
        }
        return true
    }

    /// Continues as a new item of the same kind, because the item was deleted.
    mutating func outlive(at gap: Int, by name: String) {
        guard case .existing(_, let item, let field) = target else { return }
        (former, target) = ((item, field), .new(gap: gap, .after))
        note = "\(name) deleted this item; Enter adds this as a new one"
    }

    /// Edits the item again, if the change brings it back.
    private mutating func comeBack(in delta: Delta, _ hand: Hand, by name: String) {
        guard let (item, field) = former, delta.insertedItems.contains(where: { $0.id == item.id }),
            let index = hand.index(of: item.id)
        else { return }
        (former, target, note) = (nil, .existing(index, hand[index], field), nil)
        warn(of: editor.merge(field.text(of: hand[index].content)), by: name)
    }

    /// Shows which of somebody's changes the user would override.
    private mutating func warn(of losses: [TextChange.Loss], by name: String) {
        guard let loss = losses.last else { return }
        let lost = Printable.clean(loss.lost)
        let summary = lost.isEmpty ? "removed this" : "changed this to '\(lost)'"
        note = "\(name) \(summary); Enter puts yours in its place"
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
        guard let outside = outside.take() else { return }
        warn(of: editor.takeBack(text, given: outside.given), by: outside.other ?? "somebody")
        problem = refusal(rules) ?? problem
    }

    /// Ends the other editor's work without a new text, for the given reason.
    mutating func comeBack(without reason: String) {
        if outside != nil { (outside, note) = (nil, reason) }
    }
}

extension Draft {
    /// The text as it is kept when the screen closes; nil if nothing was typed.
    func kept(in list: String, _ data: ListData) -> KeptDraft? {
        let hand = data.hand
        guard editor.text != (adds ? "" : editor.base), !editor.text.allSatisfy(\.isWhitespace) else { return nil }
        let gap =
            switch target {
            case .new(let gap, _), .existing(let gap, _, _): gap
            }
        let behind = gap > 0 && gap <= hand.count ? hand[gap - 1].id : nil
        return KeptDraft(
            name: keptAs, list: list, log: data.state.logID, text: editor.text, base: adds ? "" : editor.base,
            item: subject?.item,
            field: subject?.field ?? .text, kind: kind, behind: behind)
    }

    /// Continues with a text that was kept, on the present list.
    init(_ kept: KeptDraft, in hand: Hand) {
        let place = kept.behind.map { hand.index(of: $0).map { $0 + 1 } ?? hand.count } ?? 0
        self.init(new: .new(gap: place, .after), kind: kept.kind, kept.text)
        editor.base = kept.base
        (keptAs, note) = (kept.name, "typed before the screen was closed")
        guard let item = kept.item else { return }
        if kept.field == .address { editor.width = nil }
        guard let index = hand.index(of: item.id) else {
            former = (item, kept.field)
            note = "this item was deleted; Enter adds your text as a new one"
            return
        }
        target = .existing(index, hand[index], kept.field)
        warn(of: editor.merge(kept.field.text(of: hand[index].content)), by: "somebody")
    }
}

extension Draft {
    /// The assumed width until the real width is known.
    private static let usualWidth = 80

    /// A draft of a new item, optionally with an initial text.
    init(new target: Target, kind: Content.Kind, _ text: String = "") {
        self.init(target: target, kind: kind, editor: LineEditor(text, width: Self.usualWidth))
    }

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
            let hashes = trimmed.prefix { $0 == "#" }.count
            if isAllowed(.heading), (1...6).contains(hashes), trimmed.dropFirst(hashes).first == " " {
                return .heading(rest(trimmed, after: hashes + 1))
            }
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

    private static let bullets = ["- ", "* ", "+ ", "• ", "◦ ", "▪ ", "– "]

    /// The texts of some lines without their bullets, and how deep each is nested: a bullet is nested in one above that
    /// is at least two columns further left.
    static func nested(_ lines: [String]) -> [(text: String, depth: Int)] {
        var enclosing: [Int] = []
        return lines.map { line in
            let text = line.drop { $0 == " " }
            let bullet = bullets.first { text.hasPrefix($0) }
            guard bullet != nil || text.hasPrefix("[") else {
                enclosing = []
                return (line, 0)
            }
            let start = line.count - text.count
            enclosing.removeAll { start < $0 + 2 }
            enclosing.append(start)
            return (String(text.dropFirst(bullet?.count ?? 0)), enclosing.count - 1)
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
