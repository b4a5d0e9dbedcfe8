import HandCore
import HandFormats

/// A list as it was at a revision, with what its commit did; one walks on to the next ones and can make the list so again.
struct RevisionScreen: TableScreen, ListScreens {
    static let kind = ScreenKind.revision

    var list: String
    let revision: Int
    var table = TableView()
    var prompt: Prompt?
    private var hand: Hand?
    private var commit: Commit?
    private var author: String?
    private var marks: [ItemID: RowState.Mark] = [:]
    private var problem: String?

    init(list: String, revision: Int) {
        self.list = list
        self.revision = revision
    }

    var route: Route { .revision(list: list, revision) }

    /// The items as they were.
    struct Rows: ListDataSource {
        let list: Hand
        let cells: any ContentCells
        let marks: [ItemID: RowState.Mark]
        let hasNumbers: Bool

        func state(ofRow row: Int) -> RowState {
            var state = RowState()
            state.numberWidth = hasNumbers ? String(list.count).count : 0
            state.number = hasNumbers ? row + 1 : nil
            state.mark = marks[list[row].id]
            return state
        }
    }

    func rows(_ world: World) -> Rows {
        Rows(list: hand ?? Hand(), cells: world.cells, marks: marks, hasNumbers: world.size.columns >= 60)
    }

    func title(_ world: World) -> Line {
        var line = Line(list, .bold) + Line("  revision \(revision)")
        if let commit, let author {
            line.append(
                "  \(LocalTime.text(commit.time, offset: world.utcOffset))  \(author)  \(CommitText.summary(commit.delta))"
            )
        }
        return line
    }

    func emptyText(_ world: World) -> [Line] {
        if let problem { return [Line(problem, Style(.yellow, [.bold]))] }
        if hand != nil { return [Line("The list was empty.", .dim)] }
        return [Line(world.isOnline ? "Loading…" : "Waiting for the server…", .dim)]
    }

    func refusal(of action: Action, _ world: World) -> String? {
        switch action {
        case .older: revision == 0 ? "this is the beginning" : nil
        case .newer: revision >= world.list(list).standing.revision ? "this is the newest revision" : nil
        case .restore: hand == nil || !world.list(list).standing.isLoaded ? "it is not here yet" : nil
        default: nil
        }
    }

    mutating func performOwn(_ action: Action, count: Int?, _ world: inout World) -> [Command] {
        let head = world.list(list).standing.revision
        switch action {
        case .older: return [.replace(.revision(list: list, max(0, revision - max(1, count ?? 1))))]
        case .newer: return [.replace(.revision(list: list, min(head, revision + max(1, count ?? 1))))]
        case .restore:
            prompt = Prompt(
                purpose: .restore(revision), question: "Restore '\(list)' to revision \(revision)?")
        case .back: return [.back]
        default: break
        }
        return []
    }

    mutating func answer(_ prompt: Prompt, _ world: inout World) -> [Command] {
        guard let hand, case .restore = prompt.purpose else { return [] }
        let delta = Delta(from: world.list(list).hand, to: hand)
        if delta.isIdentity { return [.say("the list is like that already")] }
        return [
            .edit(list: list, delta), .open(.list(list)),
            .say("restored; \(world.keys.symbol(for: .undo)) takes it back"),
        ]
    }

    // MARK: Events

    mutating func appear(_ world: inout World) -> [Command] { [.follow(list)] + fetch(world) }

    private func fetch(_ world: World) -> [Command] {
        guard world.isOnline, hand == nil else { return [] }
        let state = Command.fetchState(list: list, revision: revision)
        return revision == 0 ? [state] : [state, .fetchHistory(list: list, from: revision, limit: 1)]
    }

    mutating func follow(_ event: Event, _ world: inout World) -> [Command] {
        switch event {
        case .state(list, revision, let state):
            hand = state
            mark()
        case .history(list, let commits, let people):
            guard let found = commits.first(where: { $0.revision == revision }) else { return [] }
            commit = found
            author = people[found.author]
            mark()
        case .failed(.fetchState(list, revision), let reason): problem = reason
        case .connection(.online): return fetch(world)
        case .input(.resize), .input(.cursor): break
        default: return []
        }
        table.settle(in: geometry(world))
        return []
    }

    /// Finds what the commit did to the items that are here, and goes to the first of them.
    private mutating func mark() {
        guard let hand, let delta = commit?.delta, delta.reach + delta.growth <= hand.count else { return }
        var position = 0
        var first: Int?
        func note(_ count: Int, _ mark: RowState.Mark) {
            for item in hand.items(in: position..<min(hand.count, position + count)) { marks[item.id] = mark }
            first = first ?? position
            position += count
        }
        for component in delta.components {
            switch component {
            case .keep(let count): position += count
            case .edit: note(1, .edited)
            case .insert(let items, _): note(items.count, .inserted)
            case .drop(let slots, _, _): note(slots.count, .moved)
            case .delete, .pick: break
            }
        }
        if let first { table.follow(to: first) }
    }
}
