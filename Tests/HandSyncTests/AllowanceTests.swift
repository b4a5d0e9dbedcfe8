import HandCore
import HandSync
import HandWire
import Testing

/// What one user may take of a server: too fast is slowed down, then told, then closed.
@Suite struct AllowanceTests {
    private static func world(_ change: (inout Limits) -> Void) -> TestWorld {
        var limits = Limits()
        limits.userRequests = 10
        limits.tellingDelay = 1_000
        limits.tooFastDeadline = 5_000
        // Nobody is to go for silence here.
        limits.idleDeadline = 1_000_000
        change(&limits)
        let world = TestWorld(limits: limits)
        world.tokens = ["ada": .everything, "ben": .everything]
        return world
    }

    /// Lets time pass as a loop does: to the next deadline, and no further than asked.
    private static func pass(_ milliseconds: UInt64, _ world: TestWorld) {
        let end = world.now + milliseconds
        while world.service.deadline <= end {
            world.now = max(world.now, world.service.deadline)
            world.service.timeout()
            world.settle()
        }
        world.now = end
    }

    /// Somebody who has made a list and follows it.
    private static func ownerOfList(_ world: TestWorld) -> TestStream {
        let ada = world.connect(1, token: "ada")
        world.settle()
        ada.say(.create(request: 1, name: "list", rules: Rules()))
        world.settle()
        ada.subscribe("list", request: 2)
        world.settle()
        return ada
    }

    private static func answers(_ stream: TestStream) -> Int {
        stream.heard.count { if case .lists = $0 { true } else { false } }
    }

    /// The share of ten seconds at once, then so many a second; nothing that came is lost, and others do not notice.
    @Test func whoIsTooFastIsSlowedDown() {
        let world = Self.world { _ in }
        let ada = world.connect(1, token: "ada")
        let ben = world.connect(2, token: "ben")
        world.settle()
        for request in 1...150 { ada.say(.lists(request: UInt64(request), after: "")) }
        world.settle()
        #expect(Self.answers(ada) == 101 && ada.isStopped)
        #expect(world.service.brokenInvariant() == nil)
        #expect(world.service.load.slowed == 1 && world.service.figures.slowings == 1)
        for request in 1...50 { ben.say(.lists(request: UInt64(request), after: "")) }
        world.settle()
        #expect(Self.answers(ben) == 50 && !ben.isStopped)
        for _ in 0..<20 {
            Self.pass(100, world)
            #expect(world.service.load.slowed == 1 && world.service.brokenInvariant() == nil)
        }
        #expect((118...122).contains(Self.answers(ada)))
        Self.pass(4_000, world)
        #expect(Self.answers(ada) == 150 && !ada.isStopped && world.service.load.slowed == 0)
        #expect(world.service.brokenInvariant() == nil)
    }

    /// What the server does for somebody counts, not only what they send.
    @Test func workIsCounted() throws {
        let world = Self.world {
            $0.userRequests = 1_000
            // So that a thousand are left behind the hello, and an insertion of 82 items takes 900.
            $0.userWork = 300
        }
        let ada = Self.ownerOfList(world)
        func insert(_ count: Int, _ sequence: UInt64) -> UpMessage {
            let items = (0..<count).map { Item(id: ItemID(rawValue: sequence << 32 + UInt64($0)), content: .note("x")) }
            return .submit(
                Submission(
                    list: 1, base: 0, sequence: sequence, delta: Delta.inserting(items, at: 0, .after)))
        }
        ada.say(insert(82, 1))
        world.settle()
        #expect(!ada.isStopped)
        ada.say(insert(82, 2))
        world.settle()
        #expect(ada.isStopped && world.service.load.slowed == 1)
        Self.pass(2_500, world)
        #expect(ada.isStopped)
        Self.pass(300, world)
        #expect(!ada.isStopped && world.service.brokenInvariant() == nil)
    }

    /// All connections of a user together.
    @Test func moreConnectionsAreNoMore() {
        let world = Self.world { $0.tooFastDeadline = 1_000_000 }
        let streams = (1...5).map { world.connect($0, token: "ada") }
        world.settle()
        for request in 1...60 { for stream in streams { stream.say(.lists(request: UInt64(request), after: "")) } }
        world.settle()
        let total = streams.reduce(0) { $0 + Self.answers($1) }
        #expect((100...105).contains(total))
        Self.pass(4_000, world)
        let later = streams.reduce(0) { $0 + Self.answers($1) }
        #expect((34...45).contains(later - total))
        // Each has its turn.
        #expect(streams.allSatisfy { Self.answers($0) > 20 })
        streams[0].end()
        Self.pass(30_000, world)
        #expect(streams[1...].allSatisfy { Self.answers($0) == 60 })
    }

    @Test func bytesCountToo() {
        let world = Self.world {
            $0.userRequests = 1_000
            $0.userBytes = 1_000
        }
        let ada = world.connect(1, token: "ada")
        world.settle()
        let name = String(repeating: "x", count: 100)
        func send(for seconds: Int) {
            for _ in 0..<seconds * 100 {
                while !ada.isStopped {
                    ada.say(.fetch(request: 1, name: name, revision: nil))
                    world.settle()
                }
                Self.pass(10, world)
            }
        }
        send(for: 1)
        let first = ada.errors.count
        #expect((90...110).contains(first))
        send(for: 2)
        #expect((15...25).contains(ada.errors.count - first))
        #expect(ada.errors.count { $0 == .slowedDown } == 1)
    }

    /// Told once, and closed in the end, with a time to wait; who comes back to normal is neither.
    @Test func whoGoesOnIsToldThenClosed() {
        let world = Self.world { _ in }
        let ada = world.connect(1, token: "ada")
        world.settle()
        var request: UInt64 = 0
        func hammer(_ seconds: Int) {
            for _ in 0..<seconds * 20 {
                if !ada.isStopped {
                    for _ in 1...20 {
                        request += 1
                        ada.say(.lists(request: request, after: ""))
                    }
                    world.settle()
                }
                Self.pass(50, world)
            }
        }
        hammer(1)
        #expect(ada.errors.isEmpty)
        hammer(3)
        #expect(ada.errors == [.slowedDown])
        Self.pass(60_000, world)
        #expect(!ada.isStopped)
        hammer(1)
        #expect(ada.errors == [.slowedDown], "what was long ago is forgiven")
        hammer(8)
        #expect(ada.errors == [.slowedDown, .slowedDown, .tooFast])
        #expect(ada.isShutDown)
        ada.end()
        #expect(world.service.brokenInvariant() == nil)
    }

    /// Who is gone is forgotten once nobody could tell.
    @Test func accountsDoNotPile() {
        let world = Self.world { _ in }
        world.tokens = Dictionary(uniqueKeysWithValues: (0..<50).map { ("user \($0)", .everything) })
        for number in 0..<50 {
            let stream = world.connect(UInt64(number), token: "user \(number)")
            world.settle()
            stream.say(.lists(request: 1, after: ""))
            world.settle()
            stream.end()
        }
        #expect(world.service.load.accounts == 50)
        Self.pass(12_000, world)
        #expect(world.service.load.accounts == 0)
    }

    /// Somebody who is connected and does nothing is still known when they come a second time.
    @Test func whoIsConnectedIsNotForgotten() {
        let world = Self.world { $0.userSubscriptions = 1 }
        let ada = Self.ownerOfList(world)
        Self.pass(60_000, world)
        let again = world.connect(2, token: "ada")
        world.settle()
        again.subscribe("list", request: 1)
        world.settle()
        #expect(again.errors == [.tooManySubscriptions])
        for stream in [ada, again] { stream.end() }
        #expect(world.service.brokenInvariant() == nil)
    }

    /// Long lists stay in memory while somebody follows them.
    @Test func itemsThatOneUserFollows() {
        let world = Self.world { $0.userItems = 4 }
        let ada = Self.ownerOfList(world)
        for request in [7, 8] as [UInt64] {
            ada.say(.create(request: request, name: "list\(request)", rules: Rules()))
            world.settle()
            ada.subscribe("list\(request)", request: request)
            world.settle()
            let list = request - 5
            for sequence in UInt64(1)...3 {
                ada.submit(sequence, base: Int(sequence) - 1, "\(request) \(sequence)", list: list)
                world.settle()
            }
        }
        let (again, ben) = (world.connect(2, token: "ada"), world.connect(3, token: "ben"))
        world.settle()
        for stream in [again, ben] {
            for request in [7, 8] as [UInt64] {
                stream.subscribe("list\(request)", request: request)
                world.settle()
            }
            #expect(stream.errors == [.tooManySubscriptions])
            #expect(world.service.brokenInvariant() == nil)
        }
        // Subscribing anew to one that is followed is no more than that; what is given up no longer counts.
        again.subscribe("list7", request: 9)
        world.settle()
        again.say(.unsubscribe(list: 2))
        again.subscribe("list8", request: 10)
        world.settle()
        #expect(again.errors.count == 1 && world.service.brokenInvariant() == nil)
    }

    @Test func listsAndSubscriptionsOfOneUser() {
        let world = Self.world {
            $0.userLists = 3
            $0.userSubscriptions = 2
        }
        let ada = world.connect(1, token: "ada")
        let again = world.connect(2, token: "ada")
        let ben = world.connect(3, token: "ben")
        world.settle()
        for number in 1...4 { ada.say(.create(request: 1, name: "a\(number)", rules: Rules())) }
        world.settle()
        #expect(ada.errors == [.tooManyLists])
        ben.say(.create(request: 1, name: "b", rules: Rules()))
        world.settle()
        #expect(ben.errors.isEmpty)
        ada.say(.delete(request: 2, name: "a1"))
        world.settle()
        ada.say(.create(request: 3, name: "a4", rules: Rules()))
        world.settle()
        #expect(ada.errors.count == 1)
        ada.subscribe("a2", request: 4)
        again.subscribe("a2", request: 4)
        world.settle()
        again.subscribe("a3", request: 5)
        world.settle()
        #expect(again.errors == [.tooManySubscriptions])
        ben.subscribe("a3", request: 5)
        ada.end()
        world.settle()
        again.subscribe("a3", request: 6)
        world.settle()
        #expect(again.errors == [.tooManySubscriptions] && ben.errors.isEmpty)
    }

    /// A server that stores as much as it may takes no edits and makes no lists, until something is deleted.
    @Test func theStoreIsFull() {
        let world = Self.world { $0.storeBytes = 500 }
        let ada = world.connect(1, token: "ada")
        world.settle()
        for name in ["list", "other"] { ada.say(.create(request: 1, name: name, rules: Rules())) }
        world.settle()
        ada.subscribe("list", request: 2)
        world.settle()
        ada.submit(1, base: 0, String(repeating: "x", count: 600))
        world.settle()
        Self.pass(1_000, world)
        #expect(world.service.load.storeBytes > 500)
        ada.submit(2, base: 1, "y")
        ada.say(.create(request: 3, name: "third", rules: Rules()))
        world.settle()
        let rejections = ada.heard.compactMap { if case .rejected(_, _, let reason) = $0 { reason } else { nil } }
        #expect(rejections == [.storeFull(limit: 500)] && ada.errors == [.tooManyLists])
        ada.say(.delete(request: 4, name: "list"))
        world.settle()
        Self.pass(1_000, world)
        ada.subscribe("other", request: 5)
        world.settle()
        ada.submit(1, base: 0, "y", list: 2)
        world.settle()
        #expect(ada.heard.contains { if case .commit(2, _) = $0 { true } else { false } })
    }

    /// Most of a large message on each of many connections.
    @Test func unfinishedMessages() {
        let world = Self.world { $0.userUnfinishedBytes = 5_000 }
        let streams = (1...4).map { world.connect($0, token: "ada") }
        let ben = world.connect(9, token: "ben")
        world.settle()
        for stream in streams + [ben] { stream.send([0xFF, 0x7F] + [UInt8](repeating: 1, count: 2_000)) }
        #expect(streams.map(\.errors) == [[], [], [.tooFast], [.tooFast]])
        #expect(ben.errors.isEmpty && world.service.brokenInvariant() == nil)
        // What is closed no longer counts.
        for stream in streams[1...] { stream.end() }
        let next = world.connect(5, token: "ada")
        world.settle()
        next.send([0xFF, 0x7F] + [UInt8](repeating: 1, count: 2_500))
        #expect(next.errors.isEmpty && world.service.brokenInvariant() == nil)
    }

    /// Answers that nobody reads, on many connections, each with no more than one may leave unread.
    @Test func unreadAnswers() {
        let world = Self.world { $0.userAnswerBytes = 500 }
        _ = Self.ownerOfList(world)
        let ben = world.connect(9, token: "ben")
        let streams = (11...14).map { world.connect($0, token: "ada") }
        world.settle()
        for stream in streams + [ben] {
            stream.isWriting = true
            for request in 1...10 { stream.say(.create(request: UInt64(request), name: "", rules: Rules())) }
            world.settle()
            #expect(world.service.brokenInvariant() == nil)
        }
        #expect(streams.map(\.errors.last).contains(.tooFast) == false)
        for stream in streams { stream.drain() }
        ben.drain()
        world.settle()
        let closed = streams.map { $0.errors.last == .tooFast }
        #expect(closed.contains(true) && !closed[0])
        #expect(ben.errors.last != .tooFast && world.service.brokenInvariant() == nil)
        // What was read, or is closed, no longer counts.
        let next = world.connect(5, token: "ada")
        world.settle()
        next.say(.lists(request: 3, after: ""))
        world.settle()
        #expect(next.errors.isEmpty && next.heard.contains { if case .lists(3, _, _) = $0 { true } else { false } })
    }

    /// Who is closed while being slowed down goes in the end, whatever still comes from them; the server can stop.
    @Test func whoIsSlowedDownCanBeClosed() {
        let world = Self.world { $0.userBytes = 100 }
        let ada = world.connect(1, token: "ada")
        world.settle()
        for request in 1...130 { ada.say(.fetch(request: UInt64(request), name: "list", revision: nil)) }
        world.settle()
        #expect(ada.isStopped && world.service.load.slowed == 1)
        #expect(world.service.close(connection: 1))
        #expect(world.service.load.slowed == 0 && world.service.brokenInvariant() == nil)
        for _ in 0..<40 {
            ada.send([UInt8](repeating: 0, count: 1_000))
            Self.pass(100, world)
        }
        #expect(ada.isClosed && world.service.load.connections == 0)
        world.service.stop()
        world.settle()
        #expect(world.service.hasStopped)
    }

    /// What made the connection close is not done after all.
    @Test func theLastRequestIsNotCarriedOut() {
        let world = Self.world { $0.tooFastDeadline = 1 }
        let ada = world.connect(1, token: "ada")
        world.settle()
        for request in 1...110 { ada.say(.lists(request: UInt64(request), after: "")) }
        world.settle()
        ada.say(.create(request: 1, name: "late", rules: Rules()))
        Self.pass(5_000, world)
        #expect(ada.errors == [.tooFast])
        let ben = world.connect(2, token: "ben")
        world.settle()
        ben.subscribe("late", request: 1)
        world.settle()
        #expect(ben.errors == [.noSuchList])
    }

    /// Also without new commits, what need not be kept is forgotten when the store is full, and then edits are taken again.
    @Test func aFullStoreForgets() {
        let world = Self.world { $0.storeBytes = 5_000 }
        world.retention = Retention(commits: 2, age: nil)
        let ada = Self.ownerOfList(world)
        for sequence in 1...60 {
            ada.submit(UInt64(sequence), base: sequence - 1, String(repeating: "x", count: 100))
            Self.pass(200, world)
            world.settle()
        }
        Self.pass(10_000, world)
        #expect(world.service.load.storeBytes < 2_000)
    }

    /// What was committed is acknowledged also when the store is full.
    @Test func aFullStoreKnowsWhatItHas() {
        let world = Self.world { $0.storeBytes = 100 }
        let ada = Self.ownerOfList(world)
        ada.submit(1, base: 0, String(repeating: "x", count: 200))
        world.settle()
        Self.pass(1_000, world)
        ada.submit(1, base: 0, "again")
        ada.submit(2, base: 1, "more")
        world.settle()
        #expect(ada.heard.contains { if case .acknowledged(1, 1, 1) = $0 { true } else { false } })
        #expect(ada.heard.contains { if case .rejected(1, 2, .storeFull(limit: 100)) = $0 { true } else { false } })
    }
}
