import HandCore
import HandSync
import HandTestSupport
import HandWire
import Testing

/// The client's side of a connection over time: when it tries again, pings, and gives up.
@Suite struct ClientMachineTests {
    @Test func followersOfEachListHearTheStatus() {
        var client = DrivenClient()
        for name in ["b", "a"] { client.perform { $0.open(name) } }
        client.connect()
        var heard: [String] = []
        for case .list(let name, .status(let status)) in client.effects where status == .online { heard.append(name) }
        #expect(heard == ["a", "b"])
    }

    private static func started() -> DrivenClient {
        var client = DrivenClient()
        client.perform { $0.start() }
        return client
    }

    /// A client waits as long as the server asks, but a minute at most.
    @Test func theClientWaitsAsLongAsTheServerAsks() {
        for (asked, expected) in [(0, 0), (7_000, 7_000), (900_000, 60_000)] as [(UInt64, UInt64)] {
            var driven = Self.started()
            driven.perform { $0.connected(now: 1_000) }
            driven.hear(.error(code: .tooFast, request: 0, retryAfter: asked, message: ""), now: 1_000)
            // The first wait without such a request is between 50 and 150 ms.
            #expect((expected + 50...expected + 150).contains(driven.retryIn ?? .max))
            #expect(driven.machine.deadline == driven.retryIn.map { 1_000 + $0 })
        }
    }

    /// Advances the machine to its next deadline. Returns that time.
    private func next(_ driven: inout DrivenClient) throws -> UInt64 {
        let deadline = try #require(driven.machine.deadline)
        driven.perform { $0.timer(now: deadline) }
        return deadline
    }

    /// A server of another version is not tried again, and the person is told what to do.
    @Test(arguments: [1, 2, ProtocolVersion.highest + 1])
    func aServerOfAnotherVersionIsNotTriedAgain(version: Int) {
        var greeted = Self.started()
        greeted.perform { $0.connected(now: 1_000) }
        greeted.welcome(version: version, now: 1_000)
        let found = "the server answers in version \(version) of the protocol, expected version 5"
        let advice = version < 5 ? "Update the server" : "Update this program"
        #expect(Self.reason(greeted) == "\(found). \(advice)")
        var refused = Self.started()
        refused.perform { $0.connected(now: 1_000) }
        let text = "expected a client of versions 1 to 2, found 3 to 3"
        refused.hear(.error(code: .versionNotSupported, request: 0, retryAfter: 0, message: text), now: 1_000)
        let expected =
            "this program and the server speak no version of the protocol in common; update the older of the two"
        #expect(Self.reason(refused) == "\(expected) (the server says: \(text))")
        for driven in [greeted, refused] {
            #expect(driven.machine.refusal == .versionNotSupported && driven.machine.deadline == nil)
            #expect(!driven.machine.isReady)
        }
    }

    /// Returns the last reason for being offline.
    private static func reason(_ driven: DrivenClient) -> String? {
        for case .status(.offline(let reason, _)) in driven.effects.reversed() { return reason }
        return nil
    }

    /// A server that accepts the connection and does not answer is given up.
    @Test func aServerThatDoesNotAnswerTheHelloIsGivenUp() throws {
        var driven = Self.started()
        #expect(driven.machine.deadline == nil)
        driven.perform { $0.connected(now: 1_000) }
        driven.perform { $0.timer(now: 10_999) }
        #expect(driven.retryIn == nil)
        #expect(try next(&driven) == 11_000)
        #expect(driven.retryIn != nil)
    }

    /// A silent server gets three pings within the time until it is given up.
    @Test func aSilentServerIsPingedThenGivenUp() throws {
        var driven = Self.started()
        driven.perform { $0.connected(now: 1_000) }
        driven.welcome(idleDeadline: 30_000, now: 1_000)
        #expect(try [next(&driven), next(&driven)] == [11_000, 21_000])
        driven.hear(.pong(21_000), now: 25_000)
        #expect(try [next(&driven), next(&driven)] == [31_000, 41_000])
        #expect(driven.retryIn == nil)
        #expect(try [next(&driven), next(&driven)] == [51_000, 55_000])
        #expect(driven.retryIn != nil && !driven.machine.isReady)
    }

    /// A client that was away for long reports how far it has caught up, and when it is done.
    @Test func catchingUpIsReported() {
        var driven = Self.started()
        driven.perform { $0.connected(now: 1_000) }
        driven.welcome(idleDeadline: 30_000, now: 1_000)
        driven.perform { $0.open("list") }
        func progress() -> [Int] {
            driven.effects.compactMap { effect in
                if case .list("list", .progress(let done, of: 2_500)) = effect { done } else { nil }
            }
        }
        driven.enter(1, list: 7, .resumed(at: 2_500), now: 1_000)
        var hand = Hand()
        for revision in 1...2_500 {
            let delta = Delta.inserting(
                [Item(id: ItemID(rawValue: UInt64(revision)), content: .note("x"))], at: 0, .after
            )
            try? hand.apply(delta)
            #expect(driven.machine.subscriptions["list"]?.isLive == false)
            let commit = Commit(
                revision: revision, author: 2, sequence: SequenceNumber(revision), base: revision - 1, time: 0,
                count: hand.count,
                digest: hand.digest, delta: delta)
            driven.hear(.commit(list: 7, commit), now: 1_000)
        }
        #expect(progress() == Array(stride(from: 25, to: 2_500, by: 25)))
        #expect(driven.machine.subscriptions["list"]?.isLive == true)
    }

    /// Returns a client that is online and follows a list. The test decides when its journal writes.
    private static func keeping() -> DrivenClient {
        var client = DrivenClient(keepsAtOnce: false)
        client.connect()
        client.perform { $0.open("list", isJournaled: true) }
        client.keepAll()
        client.begin(1, list: 7, logID: 1)
        client.keepAll()
        return client
    }

    /// An edit is visible at once, and is sent once it is on disk; later edits are written after it.
    @Test func anEditIsSentWhenItIsKept() throws {
        var client = Self.keeping()
        try client.edit(1)
        #expect(client.growth == 1 && client.unkept.count == 1 && client.submissions.isEmpty)
        try client.edit(2)
        #expect(client.growth == 2 && client.unkept.count == 1, "one write at a time")
        guard case .append(let first, "list")? = client.unkept.removeFirst().last else {
            Issue.record("the edit is not written")
            return
        }
        #expect(first.count == 2 && first.last == .submitted)
        client.kept(1)
        #expect(client.submissions.map(\.delta.growth) == [1] && client.unkept.count == 1)
        client.kept(1)
        #expect(client.submissions.count == 1, "the other waits for the answer")
    }

    /// One's own edits are reported as such, others' commits with their author.
    @Test func changesAreReportedWithTheirAuthors() throws {
        var client = Self.keeping()
        try client.edit(1)
        client.keepAll()
        var hand = Hand()
        func commit(_ revision: Int, by author: AuthorID, _ id: UInt64) throws -> DownMessage {
            let delta = Delta.inserting([Item(id: ItemID(rawValue: id), content: .note("n"))], at: 0, .after)
            hand = try hand.applying(delta)
            return .commit(
                list: 7,
                Commit(
                    revision: revision, author: author, sequence: 1, base: revision - 1, time: 0, count: hand.count,
                    digest: hand.digest, delta: delta))
        }
        client.hear(try commit(1, by: 1, 1))
        client.hear(try commit(2, by: 5, 2))
        #expect(client.updates.filter { !$0.delta.isIdentity }.map(\.origin) == [.own, .author(5)])
    }

    /// Messages that wait for one write do not wait for edits made during it.
    @Test func editsDuringAWriteDoNotDelayEarlierOnes() throws {
        var client = Self.keeping()
        for id in 1...5 as ClosedRange<UInt64> {
            try client.edit(id)
            #expect(client.submissions.count == (id > 1 ? 1 : 0))
            client.kept(client.unkept.removeFirst().count)
        }
    }

    /// An edit that cannot be written is not sent: the client goes offline, tries again after a while, and continues
    /// when there is room.
    @Test func anEditThatCannotBeWrittenIsNotSent() throws {
        var client = Self.keeping()
        try client.edit(1)
        client.unkept = []
        client.kept(0, problem: "full")
        #expect(
            client.submissions.isEmpty
                && client.effects.count { if case .status(.offline) = $0 { true } else { false } } == 1
                && !client.machine.isReady)
        #expect(client.machine.deadline == 2_100 && client.unkept.isEmpty)
        client.perform { $0.timer(now: 2_100) }
        #expect(client.unkept.map(\.count) == [1])
        client.unkept = []
        client.kept(1)
        #expect(client.machine.keptMark == client.machine.journalMark)
        client.perform { $0.connected(now: 2_200) }
        client.welcome()
        client.enter(2, list: 7, logID: 1, .resumed(at: 0))
        client.keepAll()
        #expect(client.submissions.count == 1)
    }

    /// Each failure doubles the wait, up to a limit; a connection that lasts resets it.
    @Test func waitsGrowUntilAConnectionLasts() throws {
        var driven = Self.started()
        var now: UInt64 = 0
        func fail() throws -> UInt64 {
            driven.perform { $0.disconnected(reason: "test", now: now) }
            let wait = try #require(driven.retryIn)
            now += wait
            driven.perform { $0.timer(now: now) }
            return wait
        }
        let waits = try (0..<40).map { _ in try fail() }
        #expect(waits.max() ?? 0 > 5_000 && waits.allSatisfy { (50...15_050).contains($0) })
        driven.perform { $0.connected(now: now) }
        driven.welcome(now: now)
        now += 1_000
        #expect(try (50...150).contains(fail()))
    }

    /// A client that is replaced again and again shares its id with another program. With nothing in flight, it
    /// continues under another id. Otherwise it reconnects to learn the outcome of its submission, and gives up in the
    /// end.
    @Test(arguments: [false, true]) func aClientReplacedTooOftenTakesAnotherID(hasInFlight: Bool) throws {
        var driven = Self.started()
        var replica = Replica(confirmed: Hand(), revision: 0, logID: 9, sequence: 0)
        if hasInFlight {
            let item = Item(id: ItemID(rawValue: 1), content: .note("n"))
            try replica.edit(Delta.inserting([item], at: 0, .after))
            _ = replica.takeSubmission(list: 1)
        }
        driven.perform { $0.open("list", from: replica) }
        func beReplaced(now: UInt64) {
            driven.perform { $0.connected(now: now) }
            driven.welcome(now: now)
            driven.hear(.error(code: .replaced, request: 0, retryAfter: 0, message: ""), now: now)
            driven.perform { $0.start() }
        }
        for round in 0..<3 {
            beReplaced(now: UInt64(round) * 1_000)
            #expect(!driven.machine.isShared && driven.retryIn != nil)
        }
        beReplaced(now: 3_000)
        #expect(driven.machine.isShared && driven.machine.wantsNewID == !hasInFlight)
        let more = hasInFlight ? 8 : 0
        for round in 0..<more { beReplaced(now: 4_000 + UInt64(round)) }
        #expect(driven.retryIn != nil && driven.machine.refusal == nil)
        if hasInFlight {
            driven.perform { $0.connected(now: 5_000) }
            driven.welcome(now: 5_000)
            driven.hear(.error(code: .replaced, request: 0, retryAfter: 0, message: ""), now: 5_000)
            #expect(driven.retryIn == nil && driven.machine.refusal == .replaced)
            return
        }
        #expect(driven.machine.deadline == 0)
        driven.effects = []
        driven.perform { $0.timer(now: 3_000) }
        #expect(driven.effects.contains { if case .takeID = $0 { true } else { false } })
        // A submission during the request would be under neither id.
        driven.perform { $0.start() }
        #expect(!driven.effects.contains { if case .connect = $0 { true } else { false } })
        let fresh = ClientID(high: 7, low: 7)
        driven.perform { $0.took(fresh, now: 3_000) }
        #expect(!driven.machine.isShared && driven.machine.author == nil)
        driven.perform { $0.timer(now: 4_000) }
        driven.perform { $0.connected(now: 4_000) }
        let hellos = driven.effects.flatMap { effect -> [ClientID] in
            guard case .send(let frame) = effect else { return [] }
            return DrivenClient.messages(in: frame).compactMap {
                if case .hello(let one) = $0 { one.client } else { nil }
            }
        }
        #expect(hellos == [fresh])
    }
}

extension DrivenClient {
    /// The wait that it last announced, or nil if it will not reconnect.
    var retryIn: UInt64? {
        for case .status(.offline(_, let wait)) in effects.reversed() { return wait }
        return nil
    }

    /// The number of items by which the view has grown.
    fileprivate var growth: Int { updates.map(\.delta.growth).reduce(0, +) }

    fileprivate mutating func kept(_ count: Int, problem: String? = nil) {
        perform { $0.kept(count, problem: problem, now: 100) }
    }

    fileprivate mutating func keepAll() {
        while !unkept.isEmpty { kept(unkept.removeFirst().count) }
    }

    mutating func edit(_ id: UInt64) throws {
        let item = Item(id: ItemID(rawValue: id), content: .note("n"))
        try perform { try $0.edit("list", Delta.inserting([item], at: 0, .after)) }
    }
}
