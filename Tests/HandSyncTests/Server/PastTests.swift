import HandCore
import HandSync
import HandWire
import Testing

/// Lists at past revisions take much memory, so only few are in memory at a time, and nobody keeps others waiting for
/// theirs.
@Suite struct PastTests {
    private static let revisions = 100

    /// Ada, Ben, Cem and Dan; a list with a hundred commits, the first of which are only in the store.
    private struct Scene {
        let world: TestWorld

        init(_ change: (inout Limits) -> Void = { _ in }) {
            var limits = Limits()
            limits.pastRevisions = 2
            limits.idleDeadline = 1_000_000
            change(&limits)
            world = TestWorld(limits: limits)
            world.tokens = Dictionary(
                uniqueKeysWithValues: ["ada", "ben", "cem", "dan"].map { ($0, Access.everything) })
            let ada = enter(1, "ada")
            ada.say(.create(request: 1, name: "list", rules: Rules()))
            world.settle()
            ada.subscribe("list", request: 2)
            world.settle()
            for sequence in 1...UInt64(PastTests.revisions) {
                ada.submit(SequenceNumber(sequence), base: Int(sequence) - 1, "\(sequence)")
                world.settle()
            }
        }

        func enter(_ client: UInt64, _ name: String) -> TestStream {
            let stream = world.connect(client, token: name)
            world.settle()
            return stream
        }

        /// Asks for a past revision, on a connection that accepts only the first bytes.
        func stuck(_ client: UInt64, _ name: String, at revision: Int) -> TestStream {
            let stream = enter(client, name)
            stream.isWriting = true
            stream.say(.fetch(request: 7, name: "list", revision: revision))
            world.settle()
            return stream
        }

        func pass(_ seconds: Int) {
            for _ in 0..<seconds {
                world.now += 1_000
                world.timeout()
                world.settle()
            }
            #expect(world.machine.brokenInvariant() == nil)
        }
    }

    private static func isServed(_ stream: TestStream) -> Bool {
        stream.heard.contains { if case .state(7, _, _, _, _) = $0 { true } else { false } }
    }

    private static func count(_ stream: TestStream) -> Int {
        stream.heard.reduce(0) { if case .chunk(7, let items) = $1 { $0 + items.count } else { $0 } }
    }

    /// Whether the whole list has arrived.
    private static func hasAll(_ stream: TestStream, _ revision: Int) -> Bool { count(stream) == revision }

    /// One past list is read at a time, so that other readers of the store are not kept waiting.
    @Test func pastListsAreReadOneAtATime() {
        let scene = Scene()
        let (ben, cem) = (scene.enter(2, "ben"), scene.enter(3, "cem"))
        ben.say(.fetch(request: 7, name: "list", revision: 3))
        cem.say(.fetch(request: 7, name: "list", revision: 5))
        scene.world.turn()
        #expect(scene.world.kinds["readRevision"] == 1)
        scene.world.settle()
        #expect(scene.world.kinds["readRevision"] == 2)
        #expect(Self.hasAll(ben, 3) && Self.hasAll(cem, 5))
    }

    @Test func thePastListArrivesCompletely() {
        let scene = Scene()
        let ben = scene.enter(2, "ben")
        let revisions = [3, 30, 31, 99, 100]
        for revision in revisions {
            ben.say(.fetch(request: 7, name: "list", revision: revision))
            scene.world.settle()
            #expect(ben.heard.contains { if case .state(7, revision, revision, _, _) = $0 { true } else { false } })
        }
        #expect(Self.hasAll(ben, revisions.reduce(0, +)))
    }

    /// A user gets one at a time, on any connection; waiting requests continue when it is finished.
    @Test func eachUserGetsOneAtATime() {
        let scene = Scene()
        let first = scene.stuck(2, "ben", at: 3)
        let second = scene.stuck(3, "ben", at: 4)
        let other = scene.stuck(4, "cem", at: 4)
        #expect(Self.isServed(first) || !first.heard.isEmpty)
        #expect(!Self.hasAll(second, 4) && !Self.isServed(second))
        other.drain()
        #expect(Self.hasAll(other, 4))
        first.drain()
        scene.world.settle()
        second.drain()
        scene.world.settle()
        #expect(Self.hasAll(first, 3) && Self.hasAll(second, 4))
        #expect(scene.world.machine.brokenInvariant() == nil)
    }

    /// Two are in memory, of any users; a third waits until one of them is released, for example by hanging up.
    @Test func onlyTwoAreInMemory() {
        let scene = Scene()
        let ben = scene.stuck(2, "ben", at: 3)
        let cem = scene.stuck(3, "cem", at: 4)
        let dan = scene.stuck(4, "dan", at: 5)
        dan.drain()
        #expect(!Self.isServed(dan))
        // A request for a revision that is in memory shares it.
        let ada = scene.stuck(5, "ada", at: 4)
        ada.drain()
        #expect(Self.hasAll(ada, 4))
        #expect(!Self.isServed(dan))
        ben.end()
        scene.world.settle()
        #expect(Self.hasAll(dan, 5))
        cem.drain()
        #expect(Self.hasAll(cem, 4))
    }

    /// Requests for a revision that is being read share it, and it is read once.
    @Test func sharedRequestsAreReadOnce() {
        let scene = Scene()
        let streams = [("ben", UInt64(2)), ("cem", 3), ("dan", 4)].map { scene.enter($0.1, $0.0) }
        for stream in streams { stream.say(.fetch(request: 7, name: "list", revision: 9)) }
        #expect(scene.world.waiting == 1)
        scene.world.settle()
        #expect(streams.allSatisfy { Self.hasAll($0, 9) })
    }

    /// A client that reads nothing of its list is closed if somebody waits, and only then.
    @Test func aStalledReaderIsClosedIfOthersWait() {
        let scene = Scene { $0.stallDeadline = 5_000 }
        let ben = scene.stuck(2, "ben", at: 3)
        let cem = scene.stuck(3, "cem", at: 4)
        scene.pass(20)
        #expect(ben.errors.isEmpty && cem.errors.isEmpty)
        let dan = scene.enter(4, "dan")
        dan.say(.excerpt(.init(request: 8, name: "list", revision: 5, [.positions(start: 0, count: 9)])))
        scene.world.settle()
        scene.pass(2)
        ben.drain()
        cem.drain()
        scene.world.settle()
        #expect(ben.errors == [.idleTimeout] && cem.errors == [.idleTimeout])
        #expect(dan.heard.contains { if case .excerpt(8, let excerpt) = $0 { excerpt.count == 5 } else { false } })
    }

    /// Reading a little from time to time does not keep it for long: at least a sixteenth must be read in that time. A
    /// client that reads more keeps it.
    @Test(arguments: [(3, true), (1, false)]) func aSlowReaderIsClosedIfOthersWait(pause: Int, isClosed: Bool) {
        let scene = Scene {
            $0.stallDeadline = 5_000
            $0.chunkBytes = 8
            $0.pastRevisions = 1
        }
        let ben = scene.enter(2, "ben")
        ben.stalls = true
        ben.say(.fetch(request: 7, name: "list", revision: 32))
        scene.world.settle()
        let dan = scene.enter(4, "dan")
        dan.say(.fetch(request: 7, name: "list", revision: 5))
        scene.world.settle()
        for second in 0..<12 {
            if second % pause == 0 { ben.drain() }
            scene.pass(1)
        }
        #expect(!Self.hasAll(ben, 32))
        ben.stalls = false
        ben.drain()
        scene.world.settle()
        #expect(ben.errors == (isClosed ? [.idleTimeout] : []))
        #expect(Self.hasAll(ben, 32) == !isClosed && Self.hasAll(dan, 5))
    }

    /// Clients that share it are sent about a chunk per turn, one after the other: nobody's commits wait for all of
    /// them.
    @Test func aSharedListIsSentAFewPerTurn() {
        let scene = Scene { $0.chunkBytes = 64 }
        let readers = ["ada", "ben", "cem", "dan"].enumerated().map { scene.enter(UInt64($0 + 2), $1) }
        for reader in readers { reader.say(.fetch(request: 7, name: "list", revision: 32)) }
        var before = [Int](repeating: 0, count: 4)
        var turns = 0
        scene.world.onTurn = {
            let now = readers.map(Self.count)
            let sent: Int = zip(now, before).map { $0 - $1 }.reduce(0, +)
            let (most, least) = (now.max() ?? 0, now.min() ?? 0)
            #expect(sent <= 12, "\(before), then \(now)")
            #expect(most - least <= 10, "\(now)")
            before = now
            turns += 1
        }
        scene.world.settle()
        #expect(readers.allSatisfy { Self.hasAll($0, 32) } && turns > 20, "\(turns) turns")
    }

    /// Freeing a long list takes long, so it happens off the loop, both when it is finished and when everybody has hung
    /// up.
    @Test(arguments: [true, false]) func aPastListIsFreedOffTheLoop(isRead: Bool) {
        let scene = Scene()
        let ben = scene.stuck(2, "ben", at: 3)
        let before = scene.world.computations
        if isRead { ben.drain() } else { ben.end() }
        #expect(scene.world.computations == before + 1)
        let dan = scene.enter(4, "dan")
        dan.say(.fetch(request: 7, name: "list", revision: 5))
        dan.end()
        scene.world.settle()
        #expect(scene.world.computations == before + 2)
        #expect(scene.world.machine.brokenInvariant() == nil)
    }

    /// Requesting the newest list before a past one, on one connection, does not keep the past one forever.
    @Test func anEarlierRequestDoesNotKeepAPastList() {
        let scene = Scene {
            $0.stallDeadline = 5_000
            $0.chunkBytes = 64
        }
        let holders = [(UInt64(2), "ben", 3), (3, "cem", 4)].map { client, name, revision in
            let stream = scene.enter(client, name)
            stream.stalls = true
            stream.send(
                UpMessage.fetch(request: 6, name: "list", revision: nil).frame
                    + UpMessage.fetch(request: 7, name: "list", revision: revision).frame)
            scene.world.settle()
            return stream
        }
        let dan = scene.enter(4, "dan")
        dan.say(.fetch(request: 7, name: "list", revision: 5))
        scene.world.settle()
        #expect(!Self.isServed(dan))
        scene.pass(8)
        for holder in holders {
            holder.stalls = false
            holder.drain()
        }
        scene.world.settle()
        #expect(holders.allSatisfy { $0.errors == [.idleTimeout] })
        #expect(Self.hasAll(dan, 5))
    }

    /// A waiting request is served in the turn in which there is room, not with the next event.
    @Test func aWaitingRequestIsServedInTheSameTurn() {
        let scene = Scene()
        let ben = scene.stuck(2, "ben", at: 3)
        _ = scene.stuck(3, "cem", at: 4)
        let other = scene.enter(4, "ben")
        other.say(.fetch(request: 7, name: "list", revision: 4))
        scene.world.settle()
        #expect(!Self.isServed(other))
        ben.end()
        #expect(Self.hasAll(other, 4))
    }

    /// A failed read blocks nobody, and is reported to everybody who asked for it.
    @Test func aFailedReadBlocksNobody() {
        let scene = Scene { $0.pastRevisions = 1 }
        let (ben, cem) = (scene.enter(2, "ben"), scene.enter(3, "cem"))
        scene.world.failure = .failed("broken")
        for stream in [ben, cem] { stream.say(.fetch(request: 7, name: "list", revision: 9)) }
        scene.world.settle()
        #expect(ben.errors == [.listDamaged] && cem.errors == [.listDamaged])
        scene.world.failure = nil
        ben.say(.fetch(request: 7, name: "list", revision: 8))
        scene.world.settle()
        #expect(Self.hasAll(ben, 8))
    }

    /// Reading it is work, and is charged to its user.
    @Test func readingAPastListIsCharged() {
        let scene = Scene { $0.userWork = 1_400 }
        let ben = scene.enter(2, "ben")
        // 2 for each item, 100 for half as many commits, and 200 for finding the list; 14,000 are allowed at once, of
        // which the hello took 2,000.
        for revision in 20..<28 {
            #expect(!ben.isStopped)
            ben.say(.fetch(request: 7, name: "list", revision: revision))
            scene.world.settle()
        }
        #expect(!ben.isStopped && scene.world.machine.load.slowed == 0)
        ben.say(.fetch(request: 7, name: "list", revision: 28))
        scene.world.settle()
        #expect(ben.isStopped && scene.world.machine.load.slowed == 1)
    }
}
