import HandCore
import HandFormats
import HandWire

extension ListScreen {
    mutating func beginAdding(_ action: Action, _ world: inout World) -> [Command] {
        let hand = world.list(list).hand
        let here = place(world)
        let target: Draft.Target =
            switch action {
            case .addTop: .new(gap: 0, .after)
            case .addEnd: .new(gap: hand.count, .before)
            case .addAbove: .new(gap: here ?? 0, .before)
            default: .new(gap: here.map { $0 + 1 } ?? hand.count, .after)
            }
        anchor = nil
        let kind = Typed.kinds(hand.rules).first ?? .task
        draft = Draft(target: target, kind: kind, editor: LineEditor())
        if case .new(let gap, _) = target { table.move(to: row(ofPlace: gap), in: geometry(world)) }
        return []
    }

    mutating func beginEditing(_ field: Draft.Field, _ world: inout World) -> [Command] {
        guard let place = place(world), let item = currentItem(world) else { return [] }
        var text = item.content.text
        if field == .address, case .link(_, let url) = item.content { text = url }
        anchor = nil
        let line = LineBreaks.shown(text)
        draft = Draft(
            target: .existing(place, item.id, field), kind: item.content.kind, editor: LineEditor(line), original: line)
        table.settle(in: geometry(world))
        return []
    }

    mutating func type(_ key: Key, _ world: inout World) -> [Command] {
        guard let draft else { return [] }
        switch key {
        case Key(.enter): return finishTyping(&world)
        case Key(.escape), .control("c"):
            self.draft = nil
            if case .new(let gap, _) = draft.target { table.follow(to: row(ofPlace: max(0, gap - 1))) }
        case Key(.tab), Key(.tab, .shift):
            if case .new = draft.target,
                let kind = nextKind(world.list(list).hand.rules, isBack: key.modifiers == .shift)
            {
                self.draft?.kind = kind
            }
        case Key(.enter, .alt): self.draft?.editor.insert(LineBreaks.sign)
        case Key(.up), Key(.down): break
        default:
            self.draft?.problem = nil
            _ = self.draft?.editor.handle(key)
        }
        table.settle(in: geometry(world))
        return []
    }

    /// The kind that Tab makes of what is typed.
    func nextKind(_ rules: Rules, isBack: Bool) -> Content.Kind? {
        let kinds = Typed.kinds(rules)
        guard let draft, let index = kinds.firstIndex(of: draft.kind) else { return nil }
        return kinds[(index + (isBack ? kinds.count - 1 : 1)) % kinds.count]
    }

    private mutating func finishTyping(_ world: inout World) -> [Command] {
        guard let draft else { return [] }
        switch draft.target {
        case .new: return add(lines: [draft.editor.text], &world)
        case .existing(let place, _, let field):
            let text = draft.editor.text
            if text != draft.original, keepsDraft(world) { return [] }
            self.draft = nil
            table.settle(in: geometry(world))
            if text == draft.original { return [] }
            let change = field == .text ? Change(text: LineBreaks.meant(text)) : Change(url: text)
            return [.edit(list: list, Operation.edit(at: place, change).delta)]
        }
    }

    /// Adds an item for each line where the draft is, and goes on below; an empty line ends it.
    private mutating func add(lines: [String], _ world: inout World) -> [Command] {
        guard let draft, case .new(let gap, let side) = draft.target else { return [] }
        let texts = lines.filter { !$0.allSatisfy(\.isWhitespace) }
        if texts.isEmpty {
            self.draft = nil
            table.follow(to: row(ofPlace: max(0, gap - 1)))
            table.settle(in: geometry(world))
            return []
        }
        if keepsDraft(world) { return [] }
        switch contents(texts, as: draft.kind, world.list(list).hand) {
        case .failure(let problem):
            self.draft?.problem = problem.text
            return []
        case .success(let contents):
            self.draft?.editor = LineEditor()
            self.draft?.problem = nil
            return [.edit(list: list, Operation.insert(world.mint(contents), at: gap, side).delta)]
        }
    }

    /// What is typed stays in the field, with the reason, while the server has no such list.
    private mutating func keepsDraft(_ world: World) -> Bool {
        guard let gone = world.list(list).refusal else { return false }
        draft?.problem = gone
        return true
    }

    private struct Problem: Error {
        let text: String
    }

    private func contents(_ texts: [String], as kind: Content.Kind, _ hand: Hand) -> Result<[Content], Problem> {
        var contents: [Content] = []
        for text in texts {
            guard let content = Typed.content(text, as: kind, hand.rules) else {
                return .failure(Problem(text: "'\(text)' is no card: write Q♠, QS or 10h"))
            }
            if let violation = hand.violation(inserting: content) {
                return .failure(Problem(text: "\(Rejection.violation(violation))"))
            }
            contents.append(content)
        }
        let room = hand.rules.maximumCount - hand.count
        if contents.count > room {
            return .failure(Problem(text: "\(contents.count) items do not fit: there is room for \(room)"))
        }
        return .success(contents)
    }

    /// Pasted text: each line an item, below the cursor or where one is adding; within an item's text just text.
    mutating func paste(_ text: String, _ world: inout World) -> [Command] {
        let lines = text.split(separator: "\n").map { Printable.clean(String($0)) }
        if let draft {
            if case .new = draft.target, lines.count > 1 {
                var lines = lines
                lines[0] = draft.editor.text + lines[0]
                return add(lines: lines, &world)
            }
            self.draft?.editor.insert(LineBreaks.shown(text))
            return []
        }
        if let refusal = refusal(of: .addBelow, world) { return [.say(refusal)] }
        let commands = beginAdding(.addBelow, &world) + add(lines: lines, &world)
        // What cannot be added stays in the field, with the reason.
        if let problem = draft?.problem {
            draft = nil
            return [.say(problem)]
        }
        draft = nil
        return commands
    }
}
