import HandCore
import HandFormats

/// The commits of a list, newest first: a way to walk through, read page by page as one goes.
struct HistoryScreen: TableScreen, ListScreens {
    static let kind = ScreenKind.history

    var list: String
    var table = TableView()
    var prompt: Prompt?
    /// Newest first, without gaps.
    private var commits: [Commit] = []
    private var people: [UInt64: String] = [:]
    private var whose = Whose.everybody
    private var isFetching = false
    private var problem: String?

    /// Whose edits are shown: one screen, three variants.
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

    init(list: String) {
        self.list = list
    }

    var route: Route { .history(list) }

    private func shown(_ world: World) -> [Commit] {
        if whose == .everybody { return commits }
        return commits.filter { whose.contains(people[$0.author], me: world.person) }
    }

    func rows(_ world: World) -> RowsOfText {
        let width = String(commits.first?.revision ?? 0).count
        let (shown, people, offset) = (shown(world), people, world.utcOffset)
        return RowsOfText(shown.count) { row in
            let commit = shown[row]
            let revision = String(commit.revision)
            var line = Line(String(repeating: " ", count: max(0, width - revision.count)) + revision, .bold)
            line.append("  \(LocalTime.text(commit.time, offset: offset))  ", .dim)
            line.append(
                Printable.clean(people[commit.author] ?? "?"), Style(PersonColor.of(commit.author), [.bold]))
            line.append("  " + CommitText.summary(commit.delta))
            return [line]
        }
    }

    func title(_ world: World) -> Line {
        Line(list, .bold) + Line("  history, \(whose.title)") + Line(isFetching ? "  loading…" : "")
    }

    func emptyText(_ world: World) -> [Line] {
        if let problem { return [Line(problem, Style(.yellow, [.bold]))] }
        if !world.isOnline {
            return [Line("The history is on the server, which cannot be reached now.", Style(.yellow))]
        }
        if isFetching { return [Line("Loading…", .dim)] }
        return [Line(commits.isEmpty ? "Nothing was ever done here." : "No edits \(whose.title).", .dim)]
    }

    func refusal(of action: Action, _ world: World) -> String? {
        action == .open && shown(world).isEmpty ? "there is no revision to open" : nil
    }

    mutating func performOwn(_ action: Action, count: Int?, _ world: inout World) -> [Command] {
        switch action {
        case .open:
            let shown = shown(world)
            return shown.indices.contains(table.cursor)
                ? [.open(.revision(list: list, shown[table.cursor].revision))] : []
        case .whose:
            let all = Whose.allCases
            whose = all[((all.firstIndex(of: whose) ?? 0) + 1) % all.count]
            table = TableView()
            return fetch(world)
        case .refresh: return fetch(world)
        case .back: return [.back]
        default: return []
        }
    }

    // MARK: Pages

    mutating func appear(_ world: inout World) -> [Command] { [.follow(list)] + fetch(world) }

    mutating func select(row: Int, _ world: inout World) -> [Command] {
        table.move(to: row, in: geometry(world))
        return fetch(world)
    }

    mutating func follow(_ event: Event, _ world: inout World) -> [Command] {
        switch event {
        case .history(list, let page, let names):
            isFetching = false
            people.merge(names) { $1 }
            take(page, world)
        case .failed(.fetchHistory(list, _, _), let reason):
            isFetching = false
            problem = reason
            return []
        case .list(list, _), .connection(.online), .input(.resize), .input(.cursor): break
        default: return []
        }
        table.settle(in: geometry(world))
        return fetch(world)
    }

    private mutating func take(_ page: [Commit], _ world: World) {
        problem = nil
        let newest = commits.first?.revision ?? 0
        let oldest = commits.last?.revision ?? .max
        let new = page.filter { $0.revision > newest }.reversed()
        let added = new.filter { whose.contains(people[$0.author], me: world.person) }.count
        let isAtTop = table.cursor == 0
        commits = new + commits + page.filter { $0.revision < oldest && $0.revision <= newest }.reversed()
        // Who looks at an older commit goes on looking at it.
        if !isAtTop { table.follow(to: table.cursor + added) }
    }

    /// Asks for newer commits, or for older ones when the cursor comes near the end of what is here.
    private mutating func fetch(_ world: World) -> [Command] {
        guard !isFetching, world.isOnline else { return [] }
        let head = world.list(list).standing.revision
        guard let newest = commits.first?.revision, let oldest = commits.last?.revision else {
            guard head > 0 else { return [] }
            return ask(from: max(1, head - Self.page + 1))
        }
        if newest < head { return ask(from: newest + 1) }
        guard oldest > 1, table.cursor + world.bodyRows * 2 > shown(world).count else { return [] }
        return ask(from: max(1, oldest - Self.page), limit: min(Self.page, oldest - 1))
    }

    private mutating func ask(from revision: Int, limit: Int = HistoryScreen.page) -> [Command] {
        isFetching = true
        return [.fetchHistory(list: list, from: revision, limit: limit)]
    }
}

/// A commit in a few words.
enum CommitText {
    static func summary(_ delta: Delta) -> String {
        var (inserted, deleted, moved, edited) = (0, 0, 0, 0)
        for component in delta.components {
            switch component {
            case .keep, .pick: break
            case .edit: edited += 1
            case .delete(let count): deleted += count
            case .insert(let items, _): inserted += items.count
            case .drop(let slots, _, _): moved += slots.count
            }
        }
        var parts: [String] = []
        if inserted > 0 { parts.append("+\(inserted)") }
        if deleted > 0 { parts.append("-\(deleted)") }
        if moved > 0 { parts.append(">\(moved)") }
        if edited > 0 { parts.append("~\(edited)") }
        if parts.isEmpty { return "nothing left to do" }
        let words =
            delta.insertedItems.first.map { Printable.line(of: $0.content) } ?? delta.itemChanges.first.map(change)
        return parts.joined(separator: " ") + (words.map { "  \($0)" } ?? "")
    }

    private static func change(_ change: Change) -> String {
        if let text = change.text { return Printable.clean(text) }
        if let done = change.done { return done ? "ticked" : "unticked" }
        if let url = change.url { return Printable.clean(url) }
        return change.card?.description ?? ""
    }
}
