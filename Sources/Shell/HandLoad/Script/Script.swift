import HandCore

/// What scripted clients do: how many there are, their roles, and the statements of each role.
///
/// `Script(parsing:)` reads a script from text; a `ScriptRun` runs the script for one client.
package struct Script: Equatable, Sendable {
    /// The name of the list. If there are several, each is called by this name and its number.
    package var list = "load"
    /// The number of lists; the clients are spread over them.
    package var lists = 1
    /// The number of items in each new list at the start.
    package var items = 0
    package var rules = Rules()
    /// The default number of clients.
    package var clients = 10
    /// The roles; at least one.
    package var roles: [Role] = []

    package struct Role: Equatable, Sendable {
        package var name: String
        package var share: Share
        package var body: [Statement]
        /// The line on which the role begins.
        package var line: Int
    }

    /// How many clients have a role.
    package enum Share: Equatable, Sendable {
        case count(Int)
        case percent(Int)
        /// All clients without another role.
        case rest

        /// Returns how many clients the share requires; 0 for `rest`.
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
        /// Adds this many face-down cards at the end; the server turns them up.
        case deal(Int)
        case undo
        case redo
        /// Waits for a number of milliseconds, drawn each time.
        case pause(ClosedRange<Int>)
        /// Is offline for a number of milliseconds; the edits of the block are kept and sent afterwards.
        case offline(ClosedRange<Int>, [Statement])
        /// Loses the connection, and connects again at once.
        case disconnect
        /// Does nothing and reads nothing for a number of milliseconds, like a stopped program.
        case stall(ClosedRange<Int>)
        /// Waits until everything is acknowledged and this client has caught up with the server, and compares the two
        /// lists.
        case expectConverged
        /// Repeats the statements this many times, or until the run ends.
        case loop(Int?, [Statement])
        /// Runs one of the choices, drawn by weight.
        case choose([Choice])
    }

    package struct Choice: Equatable, Sendable {
        package var weight: Int
        package var body: Statement
    }

    /// The kind of item to add.
    package enum Content: String, CaseIterable, Sendable {
        case note, task, heading
    }

    /// An item, or a gap.
    package enum Place: Equatable, Sendable {
        case top, end, random
        /// Counted from 1.
        case number(Int)
    }

    /// Checks that there are enough clients for all roles.
    ///
    /// - Throws: `ScriptError` with the first role for which too few clients are left.
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

    /// Returns the role of each client: one role after the other, with percentages rounded down. The remaining clients
    /// get the role without a share, or the first role.
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

    package func list(of client: Int) -> String { names[client % names.count] }

    package var names: [String] { lists == 1 ? [list] : (1...lists).map { "\(list)-\($0)" } }

    /// Whether every client needs a copy of the list. Light clients cannot edit texts, work offline, undo or compare.
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
