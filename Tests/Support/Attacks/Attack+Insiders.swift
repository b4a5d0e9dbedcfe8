import HandCore
import HandSync
import HandWire

extension Attack {
    /// Admitted clients that try to exceed their rights.
    static let insiders = [
        Attack("each role, each message, each list", expecting: ["notAllowed", "noSuchList", "rejected notAllowed"]) {
            range, outcome in
            for (index, (name, role)) in [("reader", Role.read), ("appender", .append)].enumerated() {
                for list in [AttackRange.list, AttackRange.otherList] {
                    let mine = list == AttackRange.list ? role : .none
                    for message in everyMessage(list: list) {
                        let client = try range.client()
                        _ = try client.hello(400 + UInt64(index), token: range.tokens[name])
                        if list == AttackRange.list {
                            _ = try client.answers(to: .subscribe(.init(request: 8, name: list, logID: 0, revision: 0)))
                        }
                        let heard = try client.answers(to: message)
                        outcome.note(heard)
                        guard !Self.isCovered(message, by: mine) else { continue }
                        let isRefused = heard.contains { $0.refusal != nil }
                        // Without the list, an edit or a presence is about nothing; it is refused or ignored.
                        let isVoid = mine == .none && heard.allSatisfy { $0.refusal != nil }
                        outcome.expect(isRefused || isVoid, "\(name) on '\(list)': \(message.name) was not refused")
                    }
                }
            }
        },
        Attack("guessing the names of lists", expecting: ["noSuchList"]) { range, outcome in
            let client = try range.client()
            _ = try client.hello(500, token: range.tokens["reader"])
            func errors(_ name: String) throws -> [String] {
                try [
                    UpMessage.subscribe(.init(request: 9, name: name, logID: 0, revision: 0)),
                    .delete(request: 9, name: name), .history(request: 9, name: name, from: 1, limit: 5),
                    .fetch(request: 9, name: name, revision: nil),
                ].flatMap { message in
                    let heard = try client.answers(to: message)
                    outcome.note(heard)
                    // The reply to guessing too fast refers to no particular message.
                    return heard.filter { $0.refusal != "slowedDown" && $0.refusal != "tooFast" }
                        .map { "\($0)".replacing(name, with: "NAME") }
                }
            }
            let (real, made) = (try errors(AttackRange.otherList), try errors("nothing"))
            // A client that guesses too fast is answered late, or not at all.
            if !Set(outcome.refusals.keys).isDisjoint(with: ["slowedDown", "tooFast"]) { return }
            outcome.expect(real == made, "existing and missing lists can be distinguished: \(real) \(made)")
            for message in try client.answers(to: .lists(request: 9, after: "")) {
                if case .lists(_, let entries, _) = message {
                    outcome.expect(entries.map(\.name) == [AttackRange.list], "others' lists are listed")
                }
            }
        },
        Attack("going on as another client", expecting: []) { range, outcome in
            let victim = try range.client()
            let thief = try range.client()
            let id = UInt64.random(in: 1...UInt64.max)
            guard case .welcome(let mine) = try victim.hello(id, as: "ada", token: range.tokens["writer"]),
                case .welcome(let theirs) = try thief.hello(id, as: "ada", token: range.tokens["appender"])
            else { return outcome.expect(false, "not admitted") }
            outcome.expect(mine.author != theirs.author, "the same client id is the same author under another token")
            // Who knows the secret of a client may end its connection, but edits under the name of its own token.
            _ = try thief.answers(to: .subscribe(.init(request: 1, name: AttackRange.list, logID: 0, revision: 0)))
            let item = Item(id: ItemID(rawValue: .random(in: 1...UInt64.max)), content: .note("x"))
            let delta = Delta.inserting([item], at: 0, .after)
            thief.say(.submit(Submission(list: 1, base: 1, sequence: 1, delta: delta)))
            var author: AuthorID?
            while author == nil, let message = try thief.next() {
                if case .commit(_, let commit) = message, commit.delta.insertedItems.contains(item) {
                    author = commit.author
                }
                if let refusal = message.refusal { outcome.expect(false, "the first edit got: \(refusal)") }
            }
            outcome.expect(author == theirs.author, "an edit has another's name")
        },
    ]

    private static func isCovered(_ message: UpMessage, by role: Role) -> Bool {
        switch message.reach {
        case .nothing: true
        // The role applies to one list.
        case .server: false
        case .list(_, let least), .followed(_, let least): role >= least
        }
    }
}
