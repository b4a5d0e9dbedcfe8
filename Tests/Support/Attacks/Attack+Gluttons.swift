import HandCore
import HandWire

extension Attack {
    /// Clients that ask for as much work or memory as possible with few bytes: most of it on a long list with a long
    /// history.
    package static let gluttons = [
        Attack("edits that reach too far, on an old revision", expecting: ["rejected doesNotFit"]) {
            range, outcome in
            let visit = try Visit(range)
            let many =
                Delta.inserting(1_000, between: range.past.count).components + [.keep(1_000_000_000), .delete(1)]
            let delta = try Delta(many)
            for _ in 0..<20 { outcome.note(try visit.submit(delta, base: range.past.revision)) }
        },
        Attack("long edits on an old revision", expecting: []) { range, outcome in
            for _ in 0..<20 {
                outcome.note(
                    try Visit(range).submit(.inserting(1_000, between: range.past.count), base: range.past.revision))
            }
        },
        Attack("an edit of every item", expecting: []) { range, outcome in
            let visit = try Visit(range)
            let count = visit.excerpt.count
            let edits = (0..<count).map { _ in
                Delta.Component.edit(Change(text: TextChange(replacing: "", at: 0, with: "x")))
            }
            outcome.note(try visit.submit(try Delta(edits), base: visit.excerpt.revision))
        },
        Attack("an item in front of every item", expecting: []) { range, outcome in
            let visit = try Visit(range)
            let count = min(visit.excerpt.count, 400_000)
            outcome.note(try visit.submit(.inserting(count, between: count), base: visit.excerpt.revision))
        },
        Attack("old revisions that nobody reads", expecting: []) { range, _ in
            let clients = try unread(10, range, token: "writer") { client, number in
                for revision in 1...8 {
                    client.say(.fetch(request: 1, name: AttackRange.list, revision: number * 8 + revision))
                }
            }
            range.hold(clients)
        },
        Attack("histories that nobody reads", expecting: []) { range, _ in
            let clients = try unread(10, range, token: "writer") { client, _ in
                for page in 0..<100 {
                    client.say(.history(request: 1, name: AttackRange.list, from: page * 1_000 + 1, limit: 1_000))
                }
            }
            range.hold(clients)
        },
        Attack("lists that nobody reads", expecting: []) { range, _ in
            let clients = try unread(10, range, token: "writer") { client, _ in
                client.say(.subscribe(.init(request: 2, name: AttackRange.list, logID: 0, revision: 0)))
            }
            range.hold(clients)
        },
        Attack("a thousand ids that are not there", expecting: []) { range, outcome in
            let client = try range.client()
            _ = try client.hello(.random(in: 1...UInt64.max), token: range.tokens["writer"])
            for revision in [nil, 1, 2, 3] {
                let ids = (0..<Limits.selections).map { _ in ItemID(rawValue: .random(in: 1 << 62...UInt64.max)) }
                let selections = ids.map { Excerpt.Selection.ids($0...$0) }
                outcome.note(
                    try client.answers(
                        to: .excerpt(.init(request: 3, name: AttackRange.list, revision: revision, selections))))
            }
        },
        Attack("positions all over a long list", expecting: []) { range, _ in
            let clients = try unread(10, range, token: "writer") { client, _ in
                for revision in 0..<50 {
                    let selections = (0..<Limits.selections).map { _ in
                        Excerpt.Selection.positions(start: .random(in: 0..<range.past.count), count: 1)
                    }
                    let past = revision % 2 == 0 ? nil : range.past.revision
                    client.say(.excerpt(.init(request: 3, name: AttackRange.list, revision: past, selections)))
                }
            }
            range.hold(clients)
        },
        Attack("ids all over a long list", expecting: []) { range, _ in
            let clients = try unread(10, range, token: "writer") { client, _ in
                for revision in 0..<50 {
                    let selections = (0..<Limits.selections).map { _ in
                        let id = ItemID(rawValue: .random(in: 1...UInt64(range.past.count)))
                        return Excerpt.Selection.ids(id...id)
                    }
                    let past = revision % 2 == 0 ? nil : range.past.revision
                    client.say(.excerpt(.init(request: 3, name: AttackRange.list, revision: past, selections)))
                }
            }
            range.hold(clients)
        },
        Attack("a million pings", expecting: []) { range, outcome in
            let client = try range.client()
            _ = try client.hello(.random(in: 1...UInt64.max), token: range.tokens["writer"])
            let pings = (0..<5_000).flatMap { UpMessage.ping($0).frame }
            for _ in 0..<200 where client.send(pings) { outcome.note(try client.answers(to: .ping(0))) }
        },
        Attack("names of lists, without rights on any", expecting: []) { range, outcome in
            let client = try range.client()
            _ = try client.hello(.random(in: 1...UInt64.max), token: range.tokens["reader"])
            for _ in 0..<50 { outcome.note(try client.answers(to: .lists(request: 4, after: ""))) }
        },
        Attack("hellos of ever new clients", expecting: []) { range, outcome in
            for _ in 0..<200 {
                let client = try range.client()
                if let answer = try client.hello(.random(in: 1...UInt64.max), token: range.tokens["writer"]) {
                    outcome.note([answer])
                }
            }
        },
        Attack("presence that nobody reads", expecting: []) { range, _ in
            let clients = try unread(40, range, token: "root") { client, _ in
                let excerpt = try client.excerpt(of: AttackRange.quietList)
                client.say(
                    .subscribe(
                        .init(
                            request: 5, name: AttackRange.quietList, logID: excerpt.logID, revision: excerpt.revision)))
            }
            for turn in 0..<20 {
                for client in clients { client.say(.presence(list: 1, Focus(ItemID(rawValue: UInt64(turn + 1))))) }
                range.hold([])
            }
        },
        Attack("lists made and deleted", expecting: []) { range, outcome in
            let client = try range.client()
            _ = try client.hello(.random(in: 1...UInt64.max), token: range.tokens["root"])
            for turn in 0..<50 {
                let name = "made-\(turn)-\(UInt32.random(in: 0...UInt32.max))"
                outcome.note(try client.answers(to: .create(request: 6, name: name, rules: Rules())))
                outcome.note(try client.answers(to: .delete(request: 7, name: name)))
            }
        },
    ]

    /// Admitted clients that send requests without reading the answers.
    private static func unread(
        _ count: Int, _ range: AttackRange, token: String, _ ask: (RawClient, Int) throws -> Void
    ) throws -> [RawClient] {
        try (0..<count).map { number in
            let client = try range.client(timeout: 1)
            _ = try client.hello(.random(in: 1...UInt64.max), token: range.tokens[token])
            try ask(client, number)
            return client
        }
    }
}

/// A client that edits a long list without having it.
private final class Visit {
    private var sequence: SequenceNumber = 0
    let client: RawClient
    let excerpt: Excerpt
    let list: ListNumber

    init(_ range: AttackRange) throws {
        client = try range.client()
        _ = try client.hello(.random(in: 1...UInt64.max), token: range.tokens["writer"])
        excerpt = try client.excerpt(of: AttackRange.list)
        client.say(
            .subscribe(.init(request: 1, name: AttackRange.list, logID: excerpt.logID, revision: excerpt.revision)))
        while true {
            guard let message = try client.next() else { throw RawClient.Silence(description: "put out") }
            if case .subscribed(let subscribed) = message {
                list = subscribed.list
                return
            }
        }
    }

    /// Returns the server's answers to an edit.
    func submit(_ delta: Delta, base: Int) throws -> [DownMessage] {
        sequence = sequence.next
        return try client.answers(to: .submit(Submission(list: list, base: base, sequence: sequence, delta: delta)))
    }
}

extension RawClient {
    /// Returns a list's first item and the list's properties.
    fileprivate func excerpt(of list: String) throws -> Excerpt {
        say(.excerpt(.init(request: 1, name: list, [.positions(start: 0, count: 1)])))
        while let message = try next() {
            if case .excerpt(_, let excerpt) = message { return excerpt }
        }
        throw Silence(description: "no excerpt")
    }
}

extension Delta {
    /// Inserts one new item before each of the first items.
    fileprivate static func inserting(_ count: Int, between items: Int) -> Delta {
        let components = (0..<min(count, items)).flatMap { _ -> [Component] in
            [.insert([Item(id: ItemID(rawValue: .random(in: 1...UInt64.max)), content: .note(""))], .after), .keep(1)]
        }
        return (try? Delta(components)) ?? .identity
    }
}
