import HandCore

/// A list as it was at a revision. Marks show what the commit of the revision did. The list can be restored to the
/// revision.
struct RevisionScreen: TableScreen, ListScreens {
    var list: String
    let revision: Int
    var table = TableView()
    private(set) var typing: Typing?
    private var hand: Hand?
    private var commit: Commit?
    private var author: String?
    private var marks: [ItemID: Delta.Mark] = [:]
    private var problem: String?

    init(list: String, revision: Int) {
        self.list = list
        self.revision = revision
    }

    var route: Route { .revision(list: list, revision) }

    struct Rows: TableDataSource {
        let list: Hand
        let cells: any ContentCells
        let marks: [ItemID: Delta.Mark]
        let hasNumbers: Bool

        var rowCount: Int { list.count }
        func cell(forRow row: Int) -> any TableCell { cells.cell(for: list[row].content) }

        func state(ofRow row: Int) -> RowState {
            var state = RowState()
            state.numberWidth = hasNumbers ? String(list.count).count : 0
            state.number = hasNumbers ? row + 1 : nil
            state.level = list.shownLevel(at: row)
            state.mark = marks[list[row].id]
            return state
        }
    }

    func rows(_ app: AppState) -> Rows {
        Rows(list: hand ?? Hand(), cells: app.cells, marks: marks, hasNumbers: app.size.columns >= 60)
    }

    func title(_ app: AppState) -> Line {
        var line = Line(list, .bold) + Line("  revision \(revision)")
        if let commit, let author {
            line.append("  \(app.text(of: commit.time))  \(author)  \(CommitText.summary(commit))")
        }
        return line
    }

    func emptyText(_ app: AppState) -> [Line] {
        if let problem { return [Line(problem, Style(.yellow, [.bold]))] }
        if hand != nil { return [Line("The list was empty.", .dim)] }
        return [Line(app.isOnline ? "Loading…" : "Waiting for the server…", .dim)]
    }

    func refusal(of action: Action, _ app: AppState) -> String? {
        switch action {
        case .older: revision == 0 ? "this is the first revision" : nil
        case .newer: revision >= app.list(list).state.revision ? "this is the newest revision" : nil
        case .restore where hand == nil: problem ?? "the revision is not loaded yet"
        case .restore: app.list(list).state.isLoaded ? nil : "the list is not loaded yet"
        default: nil
        }
    }

    mutating func performOwn(_ action: Action, count: Int?, _ app: inout AppState) -> [Command]? {
        let head = app.list(list).state.revision
        switch action {
        case .older: return [.replace(.revision(list: list, max(0, revision - max(1, count ?? 1))))]
        case .newer: return [.replace(.revision(list: list, min(head, revision + max(1, count ?? 1))))]
        case .restore:
            typing = .question(
                Prompt(purpose: .restore(revision), question: "Restore '\(list)' to revision \(revision)?"))
            return []
        default: return nil
        }
    }

    private func restore(_ app: AppState) -> [Command] {
        guard let hand else { return [] }
        let delta = Delta(from: app.list(list).hand, to: hand)
        if delta.isIdentity { return [.say("the list already matches this revision")] }
        return [
            .edit(list: list, delta), .open(.list(list)),
            .say("restored; \(app.keys.symbol(for: .undo)) takes it back"),
        ]
    }

    // MARK: Events

    private func fetch(_ app: AppState) -> [Command] {
        guard app.isOnline, hand == nil else { return [] }
        let state = Command.fetchState(list: list, revision: revision)
        return revision == 0 ? [state] : [state, .fetchHistory(list: list, from: revision, limit: 1)]
    }

    mutating func takeOwn(_ event: ScreenEvent, _ app: inout AppState) -> [Command] {
        switch event {
        case .appeared: return [.follow(list)] + fetch(app)
        case .answer(let prompt, let outcome):
            typing = outcome == .typed ? .question(prompt) : nil
            return outcome == .answered ? restore(app) : []
        case .model(.state(list, revision, let state)):
            hand = state
            mark()
        case .model(.history(list, let commits, let people)):
            guard let found = commits.first(where: { $0.revision == revision }) else { return [] }
            commit = found
            author = people[found.author]
            mark()
        case .model(.failed(.fetchState(list, revision), let reason)): problem = reason
        case .model(.connection(.online, _)): return fetch(app)
        case .model(.input(.resize)), .model(.input(.cursor)): break
        default: return []
        }
        table.settle(in: geometry(app))
        return []
    }

    /// Marks the items that the commit changed, and moves the cursor to the first of them.
    private mutating func mark() {
        guard let hand, let delta = commit?.delta, delta.reach + delta.growth <= hand.count else { return }
        let marked = delta.placed.filter { $0.mark != nil && !$0.new.isEmpty }
        for step in marked {
            for item in hand.items(in: step.new.clamped(to: 0..<hand.count)) { marks[item.id] = step.mark }
        }
        if let first = marked.first { table.follow(to: first.new.lowerBound) }
    }
}
