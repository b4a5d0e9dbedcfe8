import HandCore
import HandSync
import HandTestSupport
import HandWire
import Testing

/// A client whose lists are on several servers.
@Suite struct SeveralServersTests {
    private static func started() -> DrivenClient {
        var client = DrivenClient(servers: ["a:1", "b:1"])
        client.perform { $0.start() }
        return client
    }

    /// Returns the hosts and addresses that it has connected to or looked up.
    private func targets(_ client: DrivenClient) -> [ClientMachine.Target] {
        client.effects.compactMap { if case .connect(let target) = $0 { target } else { nil } }
    }

    private func statuses(_ client: DrivenClient) -> [ClientMachine.Status] {
        client.effects.compactMap { if case .status(let status) = $0 { status } else { nil } }
    }

    /// A name is looked up first, then its addresses are tried.
    @Test func aNameIsLookedUpFirst() {
        var client = Self.started()
        client.perform { $0.found(addresses: 2) }
        client.perform { $0.disconnected(reason: "refused", now: 0) }
        client.perform { $0.disconnected(reason: "refused", now: 0) }
        let expected: [(Int, Int?)] = [(0, nil), (0, 0), (0, 1), (1, nil)]
        #expect(targets(client) == expected.map { .init(host: $0, address: $1, timeout: 1_000) })
        #expect(statuses(client) == [.connecting(to: "a:1"), .connecting(to: "a:1"), .connecting(to: "b:1")])
        #expect(client.machine.deadline == nil)
        // A late result of the lookup is ignored.
        client.perform { $0.stop(reason: "over") }
        client.perform { $0.found(addresses: 2) }
        #expect(targets(client).count == 4)
    }

    /// The next server is tried at once; after the last one there is a wait.
    @Test func theNextServerIsTriedAtOnce() throws {
        var client = Self.started()
        client.perform { $0.disconnected(reason: "refused", now: 0) }
        client.perform { $0.disconnected(reason: "refused", now: 0) }
        #expect(targets(client).map(\.host) == [0, 1])
        let wait = try #require(client.retryIn)
        #expect((50...150).contains(wait))
        #expect(statuses(client).last == .offline(reason: "a:1, b:1: refused", retryIn: wait))
        client.perform { $0.timer(now: wait) }
        #expect(targets(client).map(\.host) == [0, 1, 0])
    }

    /// A server that accepts the connection and is silent, or does not even accept it, gets one second.
    @Test func aSilentServerGetsOneSecond() {
        var client = Self.started()
        client.perform { $0.connected(now: 100) }
        #expect(client.machine.deadline == 1_100)
        client.perform { $0.timer(now: 1_099) }
        #expect(targets(client).count == 1)
        client.perform { $0.timer(now: 1_100) }
        #expect(targets(client).map(\.host) == [0, 1])
        client.perform { $0.unanswered(now: 2_100) }
        #expect(targets(client).map(\.host) == [0, 1, 0] && targets(client).last?.timeout == 2_000)
        client.perform { $0.connected(now: 3_000) }
        #expect(client.machine.deadline == 5_000)
        client.welcome(now: 4_900)
        #expect(client.machine.isReady && client.retryIn == nil)
    }

    /// All servers are silent; each is waited for as long as a single one would be.
    @Test func silentServersAreWaitedForAsLongAsOne() {
        var client = Self.started()
        for _ in 0..<9 { client.perform { $0.unanswered(now: 0) } }
        #expect(client.retryIn == nil)
        client.perform { $0.unanswered(now: 0) }
        #expect(targets(client).map(\.timeout) == [1, 1, 2, 2, 4, 4, 8, 8, 10, 10].map { $0 * 1_000 })
        #expect(client.retryIn != nil)
        let offline = statuses(client).last
        #expect(offline == .offline(reason: "a:1, b:1: no answer within 10 s", retryIn: client.retryIn))
    }

    /// A draining server sends its clients away; they go to the next one at once, and stay at the one after that.
    @Test func aDrainingServerIsLeftAtOnce() throws {
        var client = Self.started()
        client.perform { $0.connected(now: 0) }
        client.welcome(now: 0)
        client.hear(.error(code: .shuttingDown, request: 0, retryAfter: 5_000, message: "drains"), now: 10)
        #expect(targets(client).map(\.host) == [0, 1] && client.retryIn == nil)
        client.perform { $0.connected(now: 20) }
        client.welcome(now: 20)
        client.hear(.error(code: .tooManyConnections, request: 0, retryAfter: 200, message: "full"), now: 30)
        let wait = try #require(client.retryIn)
        #expect(targets(client).count == 2 && (250...350).contains(wait))
        #expect(statuses(client).last == .offline(reason: "b:1: full", retryIn: wait))
    }

    /// The loss of a server that worked for a while starts a new round: the others are tried before there is a wait.
    @Test func losingAGoodServerStartsANewRound() {
        var client = Self.started()
        client.perform { $0.disconnected(reason: "refused", now: 0) }
        client.perform { $0.connected(now: 500) }
        client.welcome(now: 500)
        client.perform { $0.disconnected(reason: "lost", now: 1_500) }
        #expect(targets(client).map(\.host) == [0, 1, 0] && client.retryIn == nil)
        client.perform { $0.connected(now: 2_000) }
        client.welcome(now: 2_000)
        // The other one was tried just now.
        client.perform { $0.disconnected(reason: "lost", now: 2_999) }
        #expect(targets(client).count == 3 && client.retryIn != nil)
    }

    /// A client that stops and starts begins at the home server again; late results of the former attempt are ignored.
    @Test func aNewStartBeginsAtTheHomeServer() {
        var client = Self.started()
        client.perform { $0.disconnected(reason: "refused", now: 0) }
        client.perform { $0.found(addresses: 1) }
        client.perform { $0.stop(reason: "enough") }
        client.perform { $0.unanswered(now: 1_000) }
        #expect(targets(client).map(\.host) == [0, 1, 1] && client.machine.deadline == nil)
        client.perform { $0.start() }
        #expect(targets(client).last == .init(host: 0, address: nil, timeout: 1_000))
    }

    /// A permanent refusal counts, whichever server sends it.
    @Test func aPermanentRefusalCountsFromAnyServer() {
        var client = Self.started()
        client.perform { $0.connected(now: 0) }
        client.hear(.error(code: .notAuthenticated, request: 0, retryAfter: 0, message: "who are you?"))
        #expect(targets(client).count == 1 && client.machine.refusal == .notAuthenticated)
        #expect(statuses(client).last == .offline(reason: "who are you?", retryIn: nil))
    }

    /// A submission in flight is sent to the next server under the same sequence; waiting requests are answered.
    @Test func aSubmissionInFlightMovesToTheNextServer() throws {
        var client = Self.started()
        client.perform { $0.connected(now: 0) }
        client.welcome(now: 0)
        client.perform { $0.open("list") }
        client.begin(1, logID: 9)
        try client.edit(1)
        let request = try #require(client.perform { $0.ask { .lists(request: $0, after: "") } })
        client.perform { $0.disconnected(reason: "lost", now: 5) }
        #expect(statuses(client).last == .connecting(to: "b:1"))
        guard case .disconnected? = client.answers[request] else {
            Issue.record("the request waits forever")
            return
        }
        client.perform { $0.connected(now: 6) }
        client.welcome(now: 6)
        guard case .subscribe(let again)? = client.said.last else {
            Issue.record("said \(String(describing: client.said.last))")
            return
        }
        client.enter(again.request, logID: 9, .resumed(at: 0))
        #expect(client.submissions.map(\.sequence) == [1, 1])
    }

    /// A standby that takes over may lack the last commits, and have reached the same revision by others.
    @Test func anotherHistoryOfTheSameLengthIsNoticed() throws {
        func note(_ number: UInt64) -> Item { Item(id: ItemID(rawValue: number), content: .note("n")) }
        var client = Self.started()
        client.perform { $0.connected(now: 0) }
        client.welcome()
        client.perform {
            $0.open("list", from: Replica(confirmed: Hand([note(1)]), revision: 3, logID: 5, sequence: 0))
        }
        client.perform { $0.disconnected(reason: "lost", now: 5) }
        try client.perform { try $0.edit("list", .inserting([note(3)], at: 1, .after)) }
        try client.perform { try $0.edit("list", .inserting([note(4)], at: 0, .after), isExact: true) }
        client.perform { $0.connected(now: 6) }
        client.welcome(now: 6)
        let digest = Hand([note(2)]).digest
        client.enter(2, .resumed(head: 3, digest: digest))
        #expect(client.notices == [.diverged(revision: 3)] && client.submissions.isEmpty)
        guard case .subscribe(let again)? = client.said.last else {
            Issue.record("it does not subscribe again")
            return
        }
        #expect(again.logID == LogID.list(5) && again.revision == 0)
        client.begin(again.request, Hand([note(2)]), revision: 3)
        #expect(client.submissions.map(\.delta) == [.inserting([note(3)], at: 1, .after)])
        // An exact edit on a lost revision is not made.
        let rejections = client.notices.compactMap { if case .rejected(let reason, _, _) = $0 { reason } else { nil } }
        #expect(rejections == [.revisionMoved(now: 3)])
    }
}
