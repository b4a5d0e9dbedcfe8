import HandCore
import HandFormats

extension ListScreen {
    mutating func beginAddingBelow(_ app: inout AppState) -> [Command] {
        beginAdding(at: place(app).map(shown.end(ofPlace:)) ?? app.list(list).hand.count, .after, &app)
    }

    mutating func beginAdding(at gap: Int, _ side: Side, _ app: inout AppState) -> [Command] {
        anchor = nil
        let kind = Typed.kinds(app.list(list).hand.rules).first ?? .task
        draft = Draft(new: .new(gap: gap, side), kind: kind)
        table.move(to: shown.row(ofGap: gap, in: app.list(list).hand), in: geometry(app))
        settle(app)
        guard app.isOnline, kind != .card, app.list(list).earlierTexts == nil else { return [] }
        app.withList(list) { $0.earlierTexts = [] }
        return [.fetchEarlierTexts(list: list)]
    }

    mutating func beginEditing(_ field: Draft.Field, _ app: inout AppState) -> [Command] {
        guard let place = place(app), let item = current(app) else { return [] }
        draft = Draft(field, of: item, at: place)
        settle(app)
        return []
    }

    mutating func type(_ key: Key, _ app: inout AppState) -> [Command] {
        guard let draft else { return [] }
        switch key {
        case Key(.enter): return finishTyping(&app)
        case .control("n") where draft.ticked != nil: return add(lines: [draft.editor.text], &app)
        case .control("o"): return self.draft?.goOutside() ?? []
        case Key(.escape), .control("c"):
            self.draft = nil
            if case .new(let gap, _) = draft.target { table.follow(to: row(ofPlace: max(0, gap - 1))) }
        case Key(.tab), Key(.tab, .shift):
            let next = draft.nextKind(app.list(list).hand.rules, isBack: key.modifiers == .shift)
            self.draft?.kind = next ?? draft.kind
        default:
            self.draft?.type(key)
            let source = Completion(list: app.list(list), app: app)
            self.draft?.complete(source)
        }
        settle(app)
        return []
    }

    private mutating func finishTyping(_ app: inout AppState) -> [Command] {
        guard let draft else { return [] }
        switch draft.target {
        case .new:
            if draft.ticked != nil { return untick(&app) }
            return offersTicked(app) ? [] : add(lines: [draft.editor.text], &app)
        case .existing(let place, _, _):
            let change = draft.change
            if change != nil, keepsDraft(app, draft.refusal(app.list(list).hand.rules)) { return [] }
            (self.draft, entered) = (nil, draft)
            settle(app)
            return change.map { [.edit(list: list, Delta.editing(at: place, $0))] } ?? []
        }
    }

    /// Whether the entered text is that of a ticked task, which is offered instead of another one.
    private mutating func offersTicked(_ app: AppState) -> Bool {
        guard let draft, draft.adds, draft.kind == .task,
            let ticked = Completion(list: app.list(list), app: app).tickedTask(draft.editor.text)
        else { return false }
        self.draft?.ticked = ticked
        self.draft?.problem = "this is in the list, ticked: enter unticks it, ctrl-n adds another"
        settle(app)
        return true
    }

    /// Unticks the offered task, and goes on adding. If the task is gone meanwhile, adds the text.
    private mutating func untick(_ app: inout AppState) -> [Command] {
        guard let draft else { return [] }
        guard let place = draft.ticked.flatMap({ app.list(list).hand.index(of: $0) }) else {
            return add(lines: [draft.editor.text], &app)
        }
        if keepsDraft(app) { return [] }
        entered = draft
        self.draft = Draft(new: draft.target, kind: draft.kind)
        settle(app)
        return [.edit(list: list, .editing(at: place, Change(done: false)))]
    }

    /// Puts the entered text back into its field, because its edit could not be made.
    mutating func takeBack(_ reason: String, _ app: AppState) {
        if let entered { draft = entered }
        entered = nil
        draft?.problem = reason
        settle(app)
    }

    /// Continues with a text that was being typed when an earlier screen closed.
    mutating func resume(_ app: inout AppState) {
        let data = app.list(list)
        guard typing == nil, data.state.isLoaded, data.refusal == nil,
            let index = app.drafts.firstIndex(where: { $0.isOf(list, data.state.logID) })
        else { return }
        let draft = Draft(app.drafts.remove(at: index), in: data.hand)
        switch draft.target {
        case .new(let gap, _): table.follow(to: shown.row(ofGap: gap, in: data.hand))
        case .existing(let place, _, _): _ = jump(toPlace: place, &app)
        }
        self.draft = draft
        settle(app)
    }

    /// Adds an item for each line where the draft is, and moves the draft below them. An empty line ends the draft.
    private mutating func add(lines: [String], _ app: inout AppState) -> [Command] {
        guard let draft, case .new(let gap, let side) = draft.target else { return [] }
        let filled = lines.filter { !$0.allSatisfy(\.isWhitespace) }
        let texts = lines.count > 1 ? Typed.nested(filled) : filled.map { ($0, 0) }
        if texts.isEmpty {
            self.draft = nil
            table.follow(to: row(ofPlace: max(0, gap - 1)))
            settle(app)
            return []
        }
        if keepsDraft(app) { return [] }
        switch contents(texts.map(\.text), as: draft, app.list(list).hand) {
        case .failure(let problem):
            self.draft?.problem = problem.text
            settle(app)
            return []
        case .success(let contents):
            entered = draft
            if lines.count > 1 {
                entered?.editor = LineEditor(lines.joined(separator: "\n"), width: draft.editor.width)
            }
            self.draft = draft.former == nil ? Draft(new: draft.target, kind: draft.kind) : nil
            settle(app)
            let hand = app.list(list).hand
            let level = Int(shown.levelOfNewItem(at: gap, side, in: hand))
            let (levels, words) = Self.fitting(texts.map { level + $0.depth }, in: hand)
            let items = app.mint(contents, levels: levels)
            return [.edit(list: list, Delta.inserting(items, at: gap, side))] + words
        }
    }

    /// Keeps typed text in the field, with the reason, if the list is not on the server or refuses the text. Returns
    /// whether the text stays in the field.
    private mutating func keepsDraft(_ app: AppState, _ violation: String? = nil) -> Bool {
        let action: Action = if case .existing = draft?.target { .edit } else { .addBelow }
        guard let reason = app.list(list).refusal ?? app.refusal(of: action, on: list) ?? violation else {
            return false
        }
        draft?.problem = reason
        settle(app)
        return true
    }

    private struct Problem: Error {
        let text: String
    }

    private func contents(_ texts: [String], as draft: Draft, _ hand: Hand) -> Result<[Content], Problem> {
        var contents: [Content] = []
        for text in texts {
            guard let content = draft.content ?? Typed.content(text, as: draft.kind, hand.rules) else {
                return .failure(Problem(text: "'\(text)' is not a card: write Q♠, QS or 10h"))
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

    /// Pastes text. Each line becomes an item, below the cursor or where items are being added. While an item's text is
    /// edited, the pasted text goes into it.
    mutating func paste(_ text: String, _ app: inout AppState) -> [Command] {
        let lines = text.split(separator: "\n").map { Printable.clean($0.replacing("\t", with: "  ")) }
        if let draft {
            if draft.adds, lines.count > 1, draft.editor.rows.count == 1 {
                var lines = lines
                lines[0] = draft.editor.text + lines[0]
                return add(lines: lines, &app)
            }
            self.draft?.paste(text)
            settle(app)
            return []
        }
        if let refusal = obstacle(to: .addBelow, app) { return [.say(refusal)] }
        let commands = beginAddingBelow(&app) + add(lines: lines, &app)
        // Shows why an item cannot be added.
        if let problem = draft?.problem {
            draft = nil
            return [.say(problem)]
        }
        draft = nil
        return commands
    }
}
