import HandCore

/// What scripted clients do: how many there are, which parts they play, and the statements of each part.
///
/// Read from text by `Script(parsing:)`; run, one client at a time, by `ScriptRun`.
package struct Script: Equatable, Sendable {
    /// The name that lists get: the first is called so, others have their number behind it.
    package var list = "load"
    /// The clients are spread over so many lists.
    package var lists = 1
    /// Items that each list is filled with at the start, if it is new.
    package var items = 0
    /// The rules of lists that are new.
    package var rules = Rules()
    /// How many clients there are if nobody says otherwise.
    package var clients = 10
    /// At least one.
    package var roles: [Role] = []

    /// A part that some of the clients play.
    package struct Role: Equatable, Sendable {
        package var name: String
        package var share: Share
        package var body: [Statement]
        /// Where it begins.
        package var line: Int
    }

    /// How many clients play a part.
    package enum Share: Equatable, Sendable {
        case count(Int)
        case percent(Int)
        /// Those that no other part has.
        case rest

        /// How many it asks for by itself.
        func count(of clients: Int) -> Int {
            switch self {
            case .count(let count): count
            case .percent(let percent): clients * percent / 100
            case .rest: 0
            }
        }
    }

    /// One line, or a block.
    package indirect enum Statement: Equatable, Sendable {
        case add(Content, ScriptText, Place)
        case move(Place, to: Place)
        case delete(Place)
        case edit(Place, ScriptText)
        case tick(Place)
        /// Face-down cards at the end, which the server turns up.
        case deal(Int)
        case undo
        case redo
        /// Milliseconds, drawn anew each time.
        case pause(ClosedRange<Int>)
        /// Without a connection for so many milliseconds; what the block does is kept and sent afterwards.
        case offline(ClosedRange<Int>, [Statement])
        /// The connection is lost, and made anew at once.
        case disconnect
        /// Does nothing and reads nothing for so many milliseconds, as a program that was stopped.
        case stall(ClosedRange<Int>)
        /// Waits until everything is acknowledged and this client has the server's list, and compares the two.
        case expectConverged
        /// So many times, or until the run ends.
        case loop(Int?, [Statement])
        /// One of them, as often as its weight says.
        case choose([Choice])
    }

    package struct Choice: Equatable, Sendable {
        package var weight: Int
        package var body: Statement
    }

    /// What kind of item is added.
    package enum Content: String, CaseIterable, Sendable {
        case note, task, heading
    }

    /// An item, or a gap.
    package enum Place: Equatable, Sendable {
        case top, end, random
        /// Counted from 1.
        case number(Int)
    }

    /// That so many clients are enough for all parts.
    ///
    /// - Throws: `ScriptError` with the first part that too few are left for.
    package func checkShares(of clients: Int) throws(ScriptError) {
        var free = clients
        for role in roles {
            let wanted = role.share.count(of: clients)
            guard wanted <= free else {
                let there = free == clients ? "there are \(clients)" : "\(free) of \(clients) are left"
                var advice = "give it a smaller share"
                if case .count = role.share { advice = "give it fewer, or the test more clients" }
                throw ScriptError(
                    line: role.line, column: 1,
                    message: "the role '\(role.name)' needs \(wanted) clients, \(there); \(advice)")
            }
            free -= wanted
        }
    }

    /// Which part each of so many clients plays: one role after the other, percentages of all rounded down. The rest plays the
    /// part that has no share, or the first.
    package func parts(of clients: Int) -> [Role] {
        var parts: [Role] = []
        var free = clients
        for role in roles {
            parts += Array(repeating: role, count: min(role.share.count(of: clients), free))
            free = clients - parts.count
        }
        if let rest = roles.first(where: { $0.share == .rest }) ?? roles.first {
            parts += Array(repeating: rest, count: free)
        }
        return parts
    }

    /// The name of the list that a client works on.
    package func list(of client: Int) -> String { names[client % names.count] }

    /// The names of all lists.
    package var names: [String] { lists == 1 ? [list] : (1...lists).map { "\(list)-\($0)" } }

    /// Whether every client has to hold the list: light ones cannot change words that they do not
    /// know, work offline, undo, or compare.
    package var needsReplicas: Bool { roles.contains { $0.body.contains(where: \.needsReplica) } }
}

extension Script.Statement {
    var needsReplica: Bool {
        switch self {
        case .edit, .undo, .redo, .expectConverged: true
        case .offline(_, let body): !body.isEmpty
        case .loop(_, let body): body.contains(where: \.needsReplica)
        case .choose(let choices): choices.contains { $0.body.needsReplica }
        case .add, .move, .delete, .tick, .deal, .pause, .disconnect, .stall: false
        }
    }
}
