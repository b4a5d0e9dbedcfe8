import HandCore
import HandSync
import HandTestSupport
import HandWire
import Testing

/// The client's side of a connection in time: when it tries again, asks for a sign of life, and gives up.
@Suite struct ClientMachineTests {
    private static func started() -> DrivenClient {
        var client = DrivenClient()
        client.perform { $0.start() }
        return client
    }

    /// A server that asks to be left alone is, for a minute at most.
    @Test func aServerThatAsksForItIsLeftAlone() {
        for (asked, expected) in [(0, 0), (7_000, 7_000), (900_000, 60_000)] as [(UInt64, UInt64)] {
            var driven = Self.started()
            driven.perform { $0.connected(now: 1_000) }
            driven.hear(.error(code: .tooFast, request: 0, retryAfter: asked, message: ""), now: 1_000)
            // The first wait of its own is 50 ms at least and 150 at most.
            #expect((expected + 50...expected + 150).contains(driven.retryIn ?? .max))
            #expect(driven.machine.deadline == driven.retryIn.map { 1_000 + $0 })
        }
    }

    /// Lets time pass to the machine's next deadline; returns when that is.
    private func next(_ driven: inout DrivenClient) throws -> UInt64 {
        let deadline = try #require(driven.machine.deadline)
        driven.perform { $0.timer(now: deadline) }
        return deadline
    }

    /// A server that speaks another version is not tried again, and the person is told what to do.
    @Test(arguments: [1, 2, ProtocolVersion.highest + 1])
    func aServerThatSpeaksAnotherVersion(version: Int) {
        var greeted = Self.started()
        greeted.perform { $0.connected(now: 1_000) }
        greeted.welcome(version: version, now: 1_000)
        let found = "the server answers in version \(version) of the protocol, expected version 4"
        let advice = version < 4 ? "Update the server" : "Update this program"
        #expect(Self.reason(greeted) == "\(found). \(advice)")
        var refused = Self.started()
        refused.perform { $0.connected(now: 1_000) }
        // As a server of version 2 says it.
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

    /// Why it went offline last.
    private static func reason(_ driven: DrivenClient) -> String? {
        for case .status(.offline(let reason, _)) in driven.effects.reversed() { return reason }
        return nil
    }

    /// A server that takes the connection and says nothing is given up.
    @Test func aServerThatDoesNotAnswerTheHello() throws {
        var driven = Self.started()
        #expect(driven.machine.deadline == nil)
        driven.perform { $0.connected(now: 1_000) }
        driven.perform { $0.timer(now: 10_999) }
        #expect(driven.retryIn == nil)
        #expect(try next(&driven) == 11_000)
        #expect(driven.retryIn != nil)
    }

    /// Who is silent is asked for a sign of life three times as often as it would be given up; then it is given up.
    @Test func aServerThatFallsSilent() throws {
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

    /// Who was away for long hears how far it has come, and that it is there.
    @Test func catchingUpIsTold() {
        var driven = Self.started()
        driven.perform { $0.connected(now: 1_000) }
        driven.welcome(idleDeadline: 30_000, now: 1_000)
        driven.perform { $0.open("list") }
        func progress() -> [Int] {
            driven.effects.compactMap { effect in
                if case .list("list", .progress(let done, of: 2_500)) = effect { done } else { nil }
            }
        }
        driven.enter(1, list: 7, .resumed(head: 2_500), now: 1_000)
        var hand = Hand()
        for revision in 1...2_500 {
            let delta = Delta.inserting(
                [Item(id: ItemID(rawValue: UInt64(revision)), content: .note("x"))], at: 0, .after
            )
            try? hand.apply(delta)
            #expect(driven.machine.subscriptions["list"]?.isLive == false)
            let commit = Commit(
                revision: revision, author: 2, sequence: UInt64(revision), base: revision - 1, time: 0,
                count: hand.count,
                digest: hand.digest, delta: delta)
            driven.hear(.commit(list: 7, commit), now: 1_000)
        }
        #expect(progress() == Array(stride(from: 25, to: 2_500, by: 25)))
        #expect(driven.machine.subscriptions["list"]?.isLive == true)
    }

    /// A client that is online and follows a list, whose journal takes what it is given when it is told to.
    private static func keeping() -> DrivenClient {
        var client = DrivenClient(keepsAtOnce: false)
        client.connect()
        client.perform { $0.open("list", isJournaled: true) }
        client.keepAll()
        client.begin(1, list: 7, logID: 1)
        client.keepAll()
        return client
    }

    /// An edit is on the screen at once, and is sent when it is kept; what is edited meanwhile is kept after it.
    @Test func anEditIsSentWhenItIsKept() throws {
        var client = Self.keeping()
        try client.edit(1)
        #expect(client.growth == 1 && client.unkept.count == 1 && client.submissions.isEmpty)
        try client.edit(2)
        #expect(client.growth == 2 && client.unkept.count == 1, "one write after the other")
        guard case .append(let first, "list")? = client.unkept.removeFirst().last else {
            Issue.record("the edit is not kept")
            return
        }
        #expect(first.count == 2 && first.last == .submitted)
        client.kept(1)
        #expect(client.submissions.map(\.delta.growth) == [1] && client.unkept.count == 1)
        client.kept(1)
        #expect(client.submissions.count == 1, "the other waits for the answer")
    }

    /// One's own edits are told as such when they are made, others' commits with their author.
    @Test func whoseDoingAChangeIs() throws {
        var client = Self.keeping()
        try client.edit(1)
        client.keepAll()
        var hand = Hand()
        func commit(_ revision: Int, by author: UInt64, _ id: UInt64) throws -> DownMessage {
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

    /// What a write holds back does not wait for what is edited while it is under way.
    @Test func whoTypesFasterThanTheDiskIsHeard() throws {
        var client = Self.keeping()
        for id in 1...5 as ClosedRange<UInt64> {
            try client.edit(id)
            #expect(client.submissions.count == (id > 1 ? 1 : 0))
            client.kept(client.unkept.removeFirst().count)
        }
    }

    /// What cannot be kept is not sent: the client goes offline, tries again after a while, and goes on when there is room.
    @Test func whatCannotBeKeptIsNotSent() throws {
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
        client.enter(2, list: 7, logID: 1, .resumed(head: 0))
        client.keepAll()
        #expect(client.submissions.count == 1)
    }

    /// Each failure doubles the wait, up to a bound; a welcome begins anew.
    @Test func waitsGrowUntilAWelcome() throws {
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
        #expect(try (50...150).contains(fail()))
    }

    /// Who is replaced again and again shares its id with another program. With nothing in flight it goes on under another one; else
    /// it comes back to hear what became of that, and gives up in the end.
    @Test(arguments: [false, true]) func whoIsReplacedTooOftenTakesAnotherID(hasInFlight: Bool) throws {
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
        // What is submitted while it is asked would be under neither id.
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
    /// The wait that it last announced, if it comes back at all.
    var retryIn: UInt64? {
        for case .status(.offline(_, let wait)) in effects.reversed() { return wait }
        return nil
    }

    /// By how many items the view has grown.
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
