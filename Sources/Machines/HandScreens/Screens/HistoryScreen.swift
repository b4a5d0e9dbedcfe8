import HandCore
import HandFormats

/// The commits of a list, newest first, read page by page.
struct HistoryScreen: TableScreen, ListScreens {
    var list: String
    var table = TableView()
    /// The loaded commits, newest first, without gaps but for what the server has forgotten.
    private var commits: [Commit] = []
    private var people: [AuthorID: String] = [:]
    private var whose = Whose.everybody
    private var isFetching = false
    /// The revisions that were asked for last, and the first one that the server may still have.
    private var asked = 1..<1
    private var floor = 1
    private var problem: String?
    /// What commits did, by revision, and the list after the newest of these commits.
    private var summaries: [Int: String] = [:]
    private var known: (hand: Hand, revision: Int)?

    /// Whose edits are shown.
    enum Whose: CaseIterable, Sendable {
        case everybody, mine, others

        var title: String {
            switch self {
            case .everybody: "by everybody"
            case .mine: "by me"
            case .others: "by others"
            }
        }

        func contains(_ author: String?, me: String) -> Bool {
            switch self {
            case .everybody: true
            case .mine: author == me
            case .others: author != me
            }
        }
    }

    private static let page = 200
    /// For longer lists, a commit is described by the number of items that it touched.
    private static let maxItems = 2_000

    init(list: String) {
        self.list = list
    }

    var route: Route { .history(list) }

    private func shown(_ app: AppState) -> [Commit] {
        if whose == .everybody { return commits }
        return commits.filter { whose.contains(people[$0.author], me: app.granted?.person ?? app.person) }
    }

    func rows(_ app: AppState) -> RowsOfText {
        let width = String(commits.first?.revision ?? 0).count
        let (shown, people, summaries) = (shown(app), people, summaries)
        let times = shown.last.map { app.text(of: $0.time).count } ?? 0
        return RowsOfText(shown.count) { row in
            let commit = shown[row]
            let revision = String(commit.revision)
            var line = Line(String(repeating: " ", count: max(0, width - revision.count)) + revision, .bold)
            let time = app.text(of: commit.time)
            line.append("  \(String(repeating: " ", count: max(0, times - time.count)))\(time)  ", .dim)
            line.append(Printable.clean(people[commit.author] ?? "?"), Style(PersonColor.of(commit.author), [.bold]))
            line.append("  " + (summaries[commit.revision] ?? CommitText.summary(commit)))
            return [line]
        }
    }

    func title(_ app: AppState) -> Line {
        Line(list, .bold) + Line("  history, \(whose.title)")
            + Line(isFetching ? "  loading…" : floor > 1 ? "  older ones are not kept" : "")
    }

    func emptyText(_ app: AppState) -> [Line] {
        if let problem { return [Line(problem, Style(.yellow, [.bold]))] }
        if !app.isOnline {
            return [Line("The history is on the server, which cannot be reached now.", Style(.yellow))]
        }
        if isFetching { return [Line("Loading…", .dim)] }
        return [Line(commits.isEmpty ? "There are no edits yet." : "No edits \(whose.title).", .dim)]
    }

    func refusal(of action: Action, _ app: AppState) -> String? {
        action == .open && shown(app).isEmpty ? "there is no revision to open" : nil
    }

    mutating func performOwn(_ action: Action, count: Int?, _ app: inout AppState) -> [Command]? {
        switch action {
        case .open:
            let shown = shown(app)
            return shown.indices.contains(table.cursor)
                ? [.open(.revision(list: list, shown[table.cursor].revision))] : []
        case .whose:
            let all = Whose.allCases
            whose = all[((all.firstIndex(of: whose) ?? 0) + 1) % all.count]
            table = TableView()
            return fetch(app)
        case .refresh: return fetch(app)
        default: return nil
        }
    }

    // MARK: Pages

    mutating func select(row: Int, _ app: inout AppState) -> [Command] {
        table.move(to: row, in: geometry(app))
        return fetch(app)
    }

    mutating func takeOwn(_ event: ScreenEvent, _ app: inout AppState) -> [Command] {
        var commands: [Command] = []
        switch event {
        case .appeared: return [.follow(list)] + fetch(app)
        // The screen of one revision asks for commits, too.
        case .model(.history(list, let page, let names)) where isFetching:
            isFetching = false
            people.merge(names) { $1 }
            take(page, app)
            commands += lookUp(page, app)
        case .model(.state(list, let revision, let hand)): describe(from: hand, at: revision)
        // The numbers of touched items stay.
        case .model(.failed(.fetchState(list, _), _)): return []
        case .model(.failed(.fetchHistory(list, _, _), let reason)):
            isFetching = false
            problem = reason
            return []
        case .model(.list(list, _)), .model(.connection(.online, _)), .model(.input(.resize)), .model(.input(.cursor)):
            break
        default: return []
        }
        table.settle(in: geometry(app))
        return commands + fetch(app)
    }

    // MARK: What commits did

    /// Requests the list before the first commit of a page, if the list is short.
    private mutating func lookUp(_ page: [Commit], _ app: AppState) -> [Command] {
        guard let first = page.first, app.list(list).hand.count <= Self.maxItems else { return [] }
        if let known, known.revision == first.revision - 1 {
            describe(from: known.hand, at: known.revision)
            return []
        }
        return [.fetchState(list: list, revision: first.revision - 1)]
    }

    private mutating func describe(from hand: Hand, at revision: Int) {
        var (old, reached) = (hand, revision)
        for commit in commits.reversed() where commit.revision > revision {
            guard commit.revision == reached + 1, let new = try? old.applying(commit.delta) else { break }
            if summaries[commit.revision] == nil {
                summaries[commit.revision] = CommitText.summary(commit, from: old, to: new)
            }
            (old, reached) = (new, commit.revision)
        }
        if reached >= known?.revision ?? 0 { known = (old, reached) }
    }

    private mutating func take(_ page: [Commit], _ app: AppState) {
        problem = nil
        if page.isEmpty { floor = asked.upperBound }
        let newest = commits.first?.revision ?? 0
        let oldest = commits.last?.revision ?? .max
        let new = page.filter { $0.revision > newest }.reversed()
        let added = new.filter { whose.contains(people[$0.author], me: app.granted?.person ?? app.person) }.count
        let isAtTop = table.cursor == 0
        commits = new + commits + page.filter { $0.revision < oldest && $0.revision <= newest }.reversed()
        // The cursor stays on its commit.
        if !isAtTop { table.follow(to: table.cursor + added) }
    }

    /// Requests newer commits, or older ones if the cursor is near the end of the loaded commits.
    private mutating func fetch(_ app: AppState) -> [Command] {
        let head = app.list(list).state.revision
        // Nothing may be kept at all.
        guard !isFetching, app.isOnline, head >= floor else { return [] }
        guard let newest = commits.first?.revision, let oldest = commits.last?.revision else {
            return ask(max(1, head - Self.page + 1)..<head + 1)
        }
        let next = max(newest + 1, floor)
        if next <= head { return ask(next..<min(next + Self.page - 1, head) + 1) }
        guard oldest > floor, table.cursor + app.bodyRows * 2 > shown(app).count else { return [] }
        return ask(max(1, oldest - Self.page)..<oldest)
    }

    private mutating func ask(_ revisions: Range<Int>) -> [Command] {
        (isFetching, asked) = (true, revisions)
        return [.fetchHistory(list: list, from: revisions.lowerBound, limit: revisions.count)]
    }
}
