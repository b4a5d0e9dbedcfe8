import HandCore
import HandWire

/// The messages in `Tests/Data/Vectors/frames.jsonl`, and in the dumps of `Protocol.md`, by name.
enum Samples {
    private static let milk = Item(id: ItemID(rawValue: 0x0123_4567_89AB_CDEF), content: .task("Milk", done: false))
    private static let insertion = Delta.inserting([milk], at: 2, .before)

    /// Every component, side and form of a change.
    private static var everything: Delta {
        let new = [
            Item(id: ItemID(rawValue: 2), content: .card(.faceDown)),
            Item(id: ItemID(rawValue: 3), content: .link("Swift", url: "https://swift.org/")),
        ]
        let unknown = Item(id: ItemID(rawValue: 4), content: .unknown(Content.Kind(rawValue: 900), [0, 255]))
        let components: [Delta.Component] = [
            .keep(3), .edit(Change(text: "Milk", to: "Oat milk", done: true)), .delete(2), .pick(3),
            .insert(new, .after),
            .drop(0..<2, .before, nil), .keep(200), .insert([unknown], .before),
            .drop(2..<3, .before, Change(url: TextChange(from: "https://y.org/", to: "https://x.org/"))),
        ]
        do { return try Delta(components) } catch { preconditionFailure("\(error)") }
    }

    static let up: [String: UpMessage] = [
        "hello": .hello(
            UpMessage.Hello(
                client: ClientID(high: 0x0011_2233_4455_6677, low: 0x8899_AABB_CCDD_EEFF),
                person: "Ada", program: "example 1.0")),
        "hello with a token, from a client that may be silent for three minutes": .hello(
            UpMessage.Hello(
                client: ClientID(high: 0x0011_2233_4455_6677, low: 0x8899_AABB_CCDD_EEFF),
                person: "Ada", program: "example 1.0", token: "hand-1234", idle: 180_000)),
        "subscribe for the first time": .subscribe(.init(request: 1, name: "groceries", logID: 0, revision: 0)),
        "subscribe again": .subscribe(.init(request: 2, name: "groceries", logID: 0x1_00C0_FFEE, revision: 300)),
        "subscribe without items": .subscribe(
            .init(request: 3, name: "groceries", logID: 0, revision: 0, wantsItems: false, wantsPeople: false)),
        "unsubscribe": .unsubscribe(list: 7),
        "submit": .submit(Submission(list: 7, base: 300, sequence: 5, delta: insertion)),
        "submit, a text is changed in two places": .submit(
            Submission(
                list: 7, base: 300, sequence: 5,
                delta: .editing(at: 1, Change(text: "Crème, 1 l", to: "Crème fraîche, 2 l")))),
        "submit exactly, every component": .submit(
            Submission(list: 7, base: 300, sequence: 5, isExact: true, delta: everything)),
        "submit what was carried over 7 revisions": .submit(
            Submission(list: 7, base: 300, sequence: 5, lag: 7, delta: insertion)),
        "presence on an item": .presence(list: 7, Focus(milk.id)),
        "presence editing an item": .presence(list: 7, Focus(milk.id, isEditing: true)),
        "presence on no item": .presence(list: 7, nil),
        "presence away": .presence(list: 7, .away),
        "ping": .ping(1000),
        "ping with the greatest number": .ping(1 << 53 - 1),
        "create": .create(request: 3, name: "groceries", rules: Rules()),
        "create with a deck": .create(request: 4, name: "poker", rules: .fiveCards),
        "delete": .delete(request: 5, name: "poker"),
        "lists": .lists(request: 6, after: ""),
        "history": .history(request: 7, name: "groceries", from: 301, limit: 100),
        "fetch the present": .fetch(request: 8, name: "groceries", revision: nil),
        "fetch a revision": .fetch(request: 9, name: "groceries", revision: 299),
        "excerpt": .excerpt(
            .init(
                request: 10, name: "groceries", revision: 301,
                [
                    .positions(start: 20, count: 5),
                    .ids(ItemID(rawValue: 0x0123_4000_0000_0000)...ItemID(rawValue: 0x0123_4FFF_FFFF_FFFF)),
                ])),
        "rename": .rename(request: 11, name: "groceries", newName: "shopping"),
        "undelete the newest": .undelete(request: 12, name: "poker", deletion: nil, newName: "poker"),
        "undelete under another name": .undelete(request: 13, name: "poker", deletion: 2, newName: "poker-1"),
        "deletedLists": .deletedLists(request: 14, before: nil),
        "deletedLists before one": .deletedLists(request: 15, before: 300),
    ]

    private static let commit = Commit(
        revision: 301, author: 4, sequence: 5, base: 300, time: 1_767_225_600_250, count: 3, digest: 0xAB,
        delta: insertion)

    private static let refusal = Commit(
        revision: 302, author: 4, sequence: 6, base: 301, time: 1_767_225_600_250, count: 3, digest: 0xAB,
        delta: .identity, refusal: .violation(.listFull(maximum: 3)))

    private static func subscribed(
        _ start: DownMessage.Subscribed.Start, last: SequenceNumber = 5, isLastRefused: Bool = false
    ) -> DownMessage {
        .subscribed(
            .init(
                request: 2, list: 7, logID: 0x1_00C0_FFEE, rules: Rules(), lastSequence: last,
                isLastRefused: isLastRefused,
                start: start))
    }

    static let down: [String: DownMessage] = [
        "welcome": .welcome(
            .init(
                version: ProtocolVersion.highest, author: 4, idleDeadline: 45_000,
                frameBytes: 8 << 20,
                program: "hand 1.0")),
        "subscribed, resumed": subscribed(.resumed(head: 301, digest: 0xAB)),
        "subscribed, with a snapshot": subscribed(
            .snapshot(revision: 300, count: 2, digest: 0xCD), last: 4, isLastRefused: true),
        "subscribed, without items": subscribed(.newest(301)),
        "chunk": .chunk(request: 2, items: Hand([milk, Item(id: ItemID(rawValue: 5), content: .heading("Dairy"))])),
        "commit": .commit(list: 7, commit),
        "commit, a refusal": .commit(list: 7, refusal),
        "rejected": .rejected(list: 7, sequence: 6, .violation(.itemTooLarge(size: 20_000, maximum: 16_384))),
        "stale": .stale(list: 7, sequence: 6, head: 90_000),
        "acknowledged": .acknowledged(list: 7, sequence: 5, revision: 301),
        "presence": .presence(
            list: 7,
            [
                .init(author: 4, place: .gone), .init(author: 5, place: .here(person: "Bob", nil)),
                .init(author: 6, place: .here(person: "Eve", Focus(milk.id))),
                .init(author: 7, place: .here(person: "Max", Focus(milk.id, isEditing: true))),
                .init(author: 8, place: .here(person: "Zoe", .away)),
            ]),
        "pong": .pong(1000),
        "pong with the greatest number": .pong(1 << 53 - 1),
        "done": .done(request: 3),
        "lists": .lists(
            request: 6,
            [
                .init(name: "groceries", count: 3, revision: 301, rules: Rules()),
                .init(name: "poker", count: 0, revision: 0, rules: .fiveCards),
            ], hasMore: true),
        "deletedLists": .deletedLists(
            request: 15,
            [
                .init(
                    deletion: 2, list: .init(name: "poker", count: 5, revision: 12, rules: .fiveCards), person: "Ada",
                    time: 1_767_225_600_250, keptUntil: 1_767_830_400_250)
            ], hasMore: false),
        "renamed": .renamed(list: 7, name: "shopping"),
        "granted": .granted(.init(person: "Ada", everywhere: .read, lists: [.init(name: "team", role: .write)])),
        "history": .history(request: 7, [commit], people: [.init(author: 4, name: "Ada")]),
        "state": .state(request: 8, revision: 301, count: 3, digest: 0xAB, rules: Rules()),
        "excerpt": .excerpt(
            request: 10,
            Excerpt(
                logID: 0x1_00C0_FFEE, revision: 301, count: 3, rules: Rules(),
                entries: [.init(position: 2, item: milk)])),
        "error": .error(code: .noSuchList, request: 9, retryAfter: 0, message: "there is no list 'gone'"),
    ]
}

// MARK: - Names of messages

// A new message does not compile here until it has a name; then the tests require its row in the table and its frame.

extension DownMessage {
    var name: String {
        switch self {
        case .welcome: "welcome"
        case .subscribed: "subscribed"
        case .chunk: "chunk"
        case .commit: "commit"
        case .rejected: "rejected"
        case .stale: "stale"
        case .acknowledged: "acknowledged"
        case .presence: "presence"
        case .pong: "pong"
        case .done: "done"
        case .lists: "lists"
        case .history: "history"
        case .state: "state"
        case .excerpt: "excerpt"
        case .error: "error"
        case .deletedLists: "deletedLists"
        case .renamed: "renamed"
        case .granted: "granted"
        }
    }
}
