import HandCore
import HandSync
import HandWire
import Testing

/// Subscriptions without the list's items, and messages that are sent before the welcome.
@Suite struct WithoutItemsTests {
    private static func world(_ limits: Limits = Limits()) throws -> (world: TestWorld, writer: TestStream) {
        let world = TestWorld(limits: limits)
        _ = try world.store.create("list", rules: Rules(), logID: 9, deckSeed: nil)
        let writer = world.connect(1)
        writer.subscribe("list", request: 2)
        world.settle()
        for number in 1...3 {
            writer.submit(SequenceNumber(number), base: number - 1, "n")
            world.settle()
        }
        return (world, writer)
    }

    private static func revisions(_ stream: TestStream) -> [Int] { stream.commits.map(\.revision) }

    @Test func aSubscriptionBeginsAtTheNewestRevision() throws {
        let (world, writer) = try Self.world()
        let stream = world.connect(2)
        stream.subscribe("list", request: 5, wantsItems: false)
        world.settle()
        #expect(stream.lastStart?.start == .newest(3))
        writer.submit(4, base: 3, "n")
        world.settle()
        #expect(Self.revisions(stream) == [4])
        #expect(!stream.heard.contains { if case .chunk = $0 { true } else { false } })
    }

    /// A client that has a revision resumes from there, if the server can do that without a snapshot.
    @Test(arguments: [1, 9]) func aKnownRevisionIsResumed(revision: Int) throws {
        let (world, _) = try Self.world()
        let stream = world.connect(2)
        stream.subscribe("list", request: 5, logID: 9, revision: revision, wantsItems: false)
        world.settle()
        #expect(stream.lastStart?.start.resumedHead == (revision == 1 ? 3 : nil))
        #expect(Self.revisions(stream) == (revision == 1 ? [2, 3] : []))
    }

    /// A slow client gets no snapshot either.
    @Test func aSlowClientGetsNoItems() throws {
        var limits = Limits()
        limits.windowBytes = 64
        let (world, writer) = try Self.world(limits)
        let stream = world.connect(2)
        stream.subscribe("list", request: 5, wantsItems: false)
        world.settle()
        stream.isWriting = true
        for number in 4...40 {
            writer.submit(SequenceNumber(number), base: number - 1, "n")
            world.settle()
        }
        stream.drain()
        world.settle()
        #expect(
            stream.lastStart.map { if case .newest(let revision) = $0.start { revision > 3 } else { false } } == true)
        #expect(!stream.heard.contains { if case .chunk = $0 { true } else { false } })
    }

    /// What follows the hello in one piece is answered in order, after the welcome.
    @Test func everythingMayFollowTheHello() throws {
        let (world, _) = try Self.world()
        let stream = TestStream(world)
        let hello = UpMessage.Hello(
            client: ClientID(high: 0, low: 7), person: "eve", program: "")
        let messages: [UpMessage] = [
            .hello(hello),
            .subscribe(
                .init(request: 1, name: "list", logID: 0, revision: 0, wantsItems: false, wantsPeople: false)),
            .excerpt(.init(request: 2, name: "list", [.positions(start: 0, count: 1)])),
            .history(request: 3, name: "list", from: 3, limit: 10), .ping(4),
        ]
        stream.send(messages.flatMap(\.frame))
        #expect(stream.heard.isEmpty)
        world.settle()
        guard stream.heard.count == 6, case .welcome = stream.heard[0], case .granted = stream.heard[1],
            case .subscribed = stream.heard[2], case .excerpt(2, let excerpt) = stream.heard[3],
            case .history(3, let commits, _) = stream.heard[4], case .pong(4) = stream.heard[5]
        else {
            Issue.record("\(stream.heard)")
            return
        }
        #expect(excerpt.revision == 3 && excerpt.entries.count == 1 && commits.map(\.revision) == [3])
    }

    /// Nothing is answered to a client whose hello is refused, and nothing that its person may not do is done.
    @Test(arguments: ["root", "reader", "nobody", "wrong"]) func rightsAreCheckedAfterTheHello(token: String) throws {
        let (world, writer) = try Self.world()
        world.tokens = [
            "root": .everything, "reader": Access(everywhere: .read), "nobody": Access(everywhere: .none),
        ]
        let stream = TestStream(world)
        let hello = UpMessage.Hello(
            client: ClientID(high: 0, low: 7), person: "eve", program: "", token: token)
        let item = Item(id: ItemID(rawValue: 99), content: .note("new"))
        let messages: [UpMessage] = [
            .hello(hello), .subscribe(.init(request: 1, name: "list", logID: 0, revision: 0, wantsItems: false)),
            .excerpt(.init(request: 2, name: "list", [])),
            .submit(Submission(list: 1, base: 3, sequence: 1, delta: .inserting([item], at: 0, .after))),
        ]
        stream.send(messages.flatMap(\.frame))
        world.settle()
        let answers = Set(
            stream.heard.map { message in
                switch message {
                case .subscribed, .excerpt: "read"
                case .commit: "written"
                case .rejected(_, _, .notAllowed): "not written"
                case .error(let code, _, _, _, _): "\(code)"
                default: "other"
                }
            })
        let expected: [String: Set<String>] = [
            "root": ["other", "read", "written"], "reader": ["other", "read", "not written"],
            "nobody": ["other", "noSuchList", "notSubscribed"], "wrong": ["notAuthenticated"],
        ]
        #expect(answers == expected[token], "\(stream.heard)")
        #expect(writer.commits.count == (token == "root" ? 4 : 3))
    }
}
