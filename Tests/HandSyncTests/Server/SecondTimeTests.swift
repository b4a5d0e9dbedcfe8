import HandCore
import HandSimulation
import HandSync
import HandTestSupport
import HandWire
import Testing

/// What fails, or ends, happens again: after each time the server is as it was before.
@Suite struct SecondTimeTests {
    private static func world(
        _ retention: Retention = .everything, _ change: (inout Limits) -> Void = { _ in }
    ) -> (world: TestWorld, ada: TestStream) {
        let world = TestWorld.ofTwoUsers {
            $0.userRequests = 1_000_000
            change(&$0)
        }
        world.retention = retention
        return (world, world.ownerOfList())
    }

    private func submit(_ count: Int, from first: Int, _ ada: TestStream, _ world: TestWorld) {
        for sequence in first..<first + count {
            ada.submit(SequenceNumber(sequence), base: sequence - 1, "x")
            world.settle()
        }
    }

    private func revisions(_ stream: TestStream) -> [Int] {
        stream.heard.compactMap { if case .commit(_, let commit) = $0 { commit.revision } else { nil } }
    }

    /// A trim or a snapshot that fails is tried again after the usual number of commits, as often as it fails.
    @Test(arguments: [Retention.everything, Retention(commits: 2)]) func aFailedChoreIsTriedAgain(
        retention: Retention
    ) throws {
        let (world, ada) = Self.world(retention) { $0.snapshotCommits = 10 }
        var edits = 0
        func edit(failing: Bool) {
            for _ in 0..<12 {
                edits += 1
                ada.submit(SequenceNumber(edits), base: edits - 1, "x")
                // The commit is written, and what follows it fails.
                world.turn()
                world.answer()
                world.failure = failing ? .failed("disk") : nil
                world.settle()
                world.failure = nil
            }
        }
        func floor() throws -> Int { try #require(try world.store.list(named: "list")).floor }
        func snapshot() throws -> Int { try world.store.load(1).snapshotRevision }
        for round in 1...2 {
            let (oldFloor, old) = (try floor(), try snapshot())
            edit(failing: true)
            edit(failing: true)
            #expect(try floor() == oldFloor && snapshot() == old, "\(round)")
            edit(failing: false)
            #expect(try snapshot() > old, "\(round)")
            if retention != .everything { #expect(try floor() > edits - 24, "\(round)") }
        }
        #expect(revisions(ada) == Array(1...edits) && world.machine.brokenInvariant() == nil)
    }

    /// A failed write rejects its edits and nothing else; the next ones are written, and the server counts both.
    @Test func aFailedWriteIsFollowedByGoodOnes() throws {
        let (world, ada) = Self.world()
        var next = 1
        for round in 1...3 {
            world.failure = .failed("full")
            ada.submit(SequenceNumber(next), base: round - 1, "lost")
            world.settle()
            world.failure = nil
            ada.submit(SequenceNumber(next + 1), base: round - 1, "kept")
            world.settle()
            next += 2
            #expect(revisions(ada) == Array(1...round))
            #expect(world.machine.figures.failedWrites == round && world.machine.figures.commits == round)
            #expect(world.machine.load.pendingCommits == 0)
        }
        let rejections = ada.heard.compactMap {
            if case .rejected(_, let sequence, .notStored) = $0 { sequence } else { nil }
        }
        #expect(rejections == [1, 3, 5])
    }

    /// A store whose size could not be read is asked again: a full store would be taken for an empty one, and an empty
    /// one for full.
    @Test func aStoreThatWasNotMeasuredIsMeasuredAgain() {
        let (world, ada) = Self.world { $0.storeBytes = 500 }
        for round in 1...2 {
            ada.submit(SequenceNumber(round), base: round - 1, String(repeating: "x", count: 200))
            world.settle()
            world.failure = .failed("disk")
            world.pass(1_000)
            world.failure = nil
            let before = world.machine.load.storeBytes
            ada.submit(SequenceNumber(round + 10), base: round, "")
            world.settle()
            world.pass(2_000)
            #expect(world.machine.load.storeBytes > before || before == 0 && round == 1)
        }
        #expect(world.machine.load.storeBytes > 200)
    }

    /// While the clock may be wrong, no history is forgotten for its age. A clock that runs evenly for an hour is right.
    @Test func aWrongClockForgetsNoHistory() throws {
        let (world, ada) = Self.world(Retention(age: 60_000)) { $0.storeBytes = 1_000 }
        submit(60, from: 1, ada, world)
        func pass(_ seconds: Int) {
            for _ in 0..<seconds {
                world.wallClock += 1_000
                world.pass(1_000)
            }
        }
        func floor() throws -> Int { try #require(try world.store.list(named: "list")).floor }
        pass(3_000)
        #expect(try floor() == 0, "the clock may be ahead since the start")
        for jump in [86_400_000, -43_200_000] {
            world.wallClock = UInt64(Int(world.wallClock) + jump)
            pass(3_000)
            #expect(try floor() == 0)
        }
        pass(700)
        #expect(try floor() > 0)
    }

    /// Clients are sent away whenever the store cannot be reached, and only then.
    @Test func aStoreIsAwayTwice() {
        let (world, _) = Self.world()
        for client in 2...3 as ClosedRange<UInt64> {
            let before = world.connect(client, token: "ben")
            world.settle()
            #expect(before.errors.isEmpty)
            world.machine.cutOff(true, at: world.time)
            world.machine.cutOff(true, at: world.time)
            let during = TestStream(world)
            world.settle()
            #expect(before.errors == [.shuttingDown] && during.errors == [.shuttingDown])
            world.machine.cutOff(false, at: world.time)
        }
    }

    /// A list stays in memory for a while after each time that somebody needs it, and for no longer.
    @Test func aListIsLetGoOfEachTime() {
        let (world, ada) = Self.world()
        ada.say(.unsubscribe(list: 1))
        world.pass(2 * world.limits.unloadDelay)
        let needs: [(String, () -> Void)] = [
            (
                "following",
                {
                    ada.subscribe("list", request: 5)
                    world.pass(2 * world.limits.unloadDelay)
                    ada.say(.unsubscribe(list: 1))
                }
            ),
            (
                "reading it twice",
                {
                    ada.say(.fetch(request: 5, name: "list", revision: nil))
                    world.pass(world.limits.unloadDelay - 5_000)
                    ada.say(.excerpt(.init(request: 6, name: "list", [.positions(start: 0, count: 1)])))
                }
            ),
            (
                "leaving at once",
                {
                    let ben = world.connect(7, token: "ben")
                    world.settle()
                    ben.subscribe("list", request: 5)
                    ben.end()
                }
            ),
            ("reading it once", { ada.say(.fetch(request: 5, name: "list", revision: nil)) }),
        ]
        for (need, meet) in needs + needs {
            #expect(world.machine.load.lists == 0, "before \(need)")
            meet()
            world.settle()
            world.pass(world.limits.unloadDelay - 1_000)
            #expect(world.machine.load.lists == 1, "\(need): somebody may return")
            world.pass(2_001)
        }
        #expect(world.machine.load.lists == 0)
    }

    /// A full store trims all lists, also while one of them is being trimmed already.
    @Test(arguments: [false, true]) func allListsAreTrimmedIfTheStoreIsFull(oneByOne: Bool) throws {
        let (world, ada) = Self.world(Retention(commits: 2)) { $0.storeBytes = 2_000 }
        func edit(_ list: ListNumber) {
            for sequence in 1...40 {
                ada.submit(SequenceNumber(sequence), base: sequence - 1, "x", list: list)
                world.settle()
            }
        }
        func floors() throws -> [Int] {
            try ["list", "other"].map { try #require(try world.store.list(named: $0)).floor }
        }
        ada.say(.create(request: 3, name: "other", rules: Rules()))
        world.settle()
        ada.subscribe("other", request: 4)
        world.settle()
        edit(2)
        if oneByOne {
            ada.say(.unsubscribe(list: 2))
            world.pass(2 * world.limits.unloadDelay)
        }
        edit(1)
        world.pass(1_000)
        #expect(try floors() == [0, 0] && world.machine.load.storeBytes > 2_000)
        world.pass(1_000, settles: false)
        #expect(world.kinds["trim"] == 1)
        if oneByOne {
            // While the first is being trimmed, the other is needed again.
            ada.subscribe("other", request: 5)
            while world.waiting > 1 { world.answer(1) }
            world.pass(1_000, settles: false)
        }
        world.settle()
        #expect(try floors() == [38, 38])
    }

    /// Each connection of a client closes the one before, also when that one ends later.
    @Test func aClientConnectsAgainAndAgain() {
        let (world, _) = Self.world()
        var all: [TestStream] = []
        for round in 1...4 {
            all.append(world.connect(9, token: "ben"))
            world.settle()
            #expect(all.map(\.errors) == Array(repeating: [.replaced], count: round - 1) + [[]])
            if round > 1 { all[round - 2].end() }
        }
        all[3].end()
        #expect(world.machine.connectionCount == 1 && world.machine.brokenInvariant() == nil)
    }

    /// A server that stops first says what became of the edits that are being written.
    @Test func aStoppingServerAnswersWhatItWrites() throws {
        let (world, ada) = Self.world()
        ada.submit(1, base: 0, "x")
        world.turn()
        ada.submit(2, base: 0, "y")
        world.turn()
        world.machine.stop(at: world.time)
        world.turn()
        world.pass(3_000, settles: false)
        #expect(ada.errors.isEmpty && !world.machine.hasStopped && world.waiting > 0)
        world.settle()
        #expect(revisions(ada) == [1, 2] && ada.errors == [.shuttingDown])
        guard case .error(.shuttingDown, _, _, _, _)? = ada.heard.last else {
            Issue.record("\(ada.heard)")
            return
        }
    }

    /// What waits behind a request is not begun any more, so that a server comes to its end while clients go on.
    @Test func aStoppingServerBeginsNothing() throws {
        let (world, ada) = Self.world()
        ada.submit(1, base: 0, "x")
        world.settle()
        ada.say(.create(request: 3, name: "other", rules: Rules()))
        ada.submit(2, base: 1, "y")
        world.machine.stop(at: world.time)
        world.settle()
        #expect(revisions(ada) == [1] && ada.errors == [.shuttingDown])
        #expect(world.machine.brokenInvariant() == nil)
    }
}

/// The same for clients.
@Suite struct SecondOutageTests {
    /// After each outage a client comes back as soon as after the first one.
    @Test func theFirstWaitIsShortAgain() throws {
        var client = DrivenClient()
        var now: UInt64 = 0
        func wait() throws -> UInt64 { try #require(client.machine.deadline) - now }
        client.perform { $0.start() }
        for outage in 1...3 {
            client.perform { $0.connected(now: now) }
            client.welcome(now: now)
            now += 100_000
            client.perform { $0.disconnected(reason: "gone", now: now) }
            #expect(try (50...150).contains(wait()), "\(outage)")
            var longest: UInt64 = 0
            for _ in 0..<12 {
                longest = max(longest, try wait())
                now += try wait()
                client.perform { $0.timer(now: now) }
                client.perform { $0.disconnected(reason: "gone", now: now) }
            }
            #expect(longest > 3_000)
            now += try wait()
            client.perform { $0.timer(now: now) }
        }
    }

    /// A list is opened again after its edits were refused, which the server does not remember: no sequence is used
    /// twice.
    @Test(arguments: [false, true]) func aListIsOpenedAgain(isJournaled: Bool) {
        var client = DrivenClient()
        client.connect()
        for round in 1...3 as ClosedRange<UInt64> {
            client.perform { $0.open("list", isJournaled: isJournaled) }
            var request: RequestNumber = 0
            for case .subscribe(let subscribe) in client.said { request = subscribe.request }
            client.begin(request, list: ListNumber(round))
            client.perform { try? $0.edit("list", Delta.inserting(tasks(1), at: 0, .after)) }
            client.hear(.rejected(list: ListNumber(round), sequence: SequenceNumber(round), .notStored))
            client.perform { $0.close("list") }
        }
        #expect(client.submissions.map(\.sequence) == [1, 2, 3])
    }

    /// The journal says under which number the client goes on, whenever that is another one.
    @Test func eachNumberOfTheClientIsKept() {
        var client = DrivenClient()
        client.connect()
        client.perform { $0.open("list", isJournaled: true) }
        for author in [1, 4, 4, 9] as [AuthorID] {
            client.perform { $0.disconnected(reason: "gone", now: 0) }
            client.perform { $0.timer(now: $0.deadline ?? 0) }
            client.perform { $0.connected(now: 0) }
            let welcome = DownMessage.Welcome(
                version: ProtocolVersion.highest, author: author, idleDeadline: 45_000,
                frameBytes: 1 << 20, program: "")
            client.hear(.welcome(welcome))
        }
        client.perform { $0.close("list") }
        var kept: [AuthorID] = []
        for case .keep(let writes) in client.effects {
            for case .append(let events, _) in writes {
                for case .authors(let author?, _) in events { kept.append(author) }
            }
        }
        #expect(kept == [4, 9], "the first is in the list as it was opened")
    }

    /// Each server says how long it may be silent; a silent one is given up each time.
    @Test func theIdleDeadlineOfEachConnectionCounts() throws {
        var client = DrivenClient()
        var now: UInt64 = 1_000
        client.perform { $0.start() }
        for deadline in [30_000, 60_000, 9_000] as [UInt64] {
            client.perform { $0.connected(now: now) }
            client.welcome(idleDeadline: deadline, now: now)
            let start = now
            var pings: [UInt64] = []
            client.said = []
            while client.machine.isReady {
                now = try #require(client.machine.deadline)
                client.perform { $0.timer(now: now) }
                if client.machine.isReady { pings.append(now - start) }
            }
            #expect(now - start == deadline && pings == [deadline / 3, deadline / 3 * 2], "\(deadline)")
            now = try #require(client.machine.deadline)
            client.perform { $0.timer(now: now) }
        }
    }

    /// An edit whose base is too old goes out again on the newest list, as often as the server says so, and no more
    /// often.
    @Test func anEditIsTooOldAgainAndAgain() throws {
        var client = DrivenClient()
        client.connect()
        client.perform { $0.open("list") }
        client.begin(1)
        client.perform { try? $0.edit("list", Delta.inserting(tasks(1, first: 100), at: 0, .after)) }
        var hand = Hand()
        for round in 1...3 {
            let head = round * 2
            client.hear(.stale(list: 1, sequence: 1, head: head))
            #expect(client.submissions.count == round, "the commits in between come first")
            for revision in head - 1...head {
                let delta = Delta.inserting(tasks(1, first: UInt64(revision)), at: 0, .after)
                let before = hand
                hand = try before.applying(delta)
                client.hear(
                    .commit(
                        list: 1,
                        Commit(
                            revision: revision, author: 2, sequence: SequenceNumber(revision), base: revision - 1,
                            time: 0,
                            count: hand.count, digest: hand.digest, delta: delta)))
            }
            #expect(client.submissions.map(\.base) == Array(stride(from: 0, through: head, by: 2)))
            #expect(client.submissions.allSatisfy { $0.sequence == 1 })
            // Others' later commits do not make it go out a second time.
            client.hear(.presence(list: 1, []))
        }
        #expect(client.machine.isReady)
        client.hear(.stale(list: 1, sequence: 1, head: 6))
        #expect(!client.machine.isReady, "that base is the newest revision")
    }

    /// A program that runs often and briefly: the events that earlier runs have stored count, so that the journal is
    /// rewritten one day.
    @Test func eventsOfEarlierRunsCount() throws {
        func writes(_ kept: Int) throws -> [String] {
            var client = DrivenClient(keepsAtOnce: false)
            let replica = Replica(confirmed: Hand(), revision: 0, logID: 5, sequence: 0)
            client.perform { $0.open("list", from: replica, keptEvents: kept, isJournaled: true) }
            try client.perform { try $0.edit("list", Delta.inserting(tasks(1), at: 0, .after)) }
            return client.unkept.joined().map { if case .checkpoint = $0 { "checkpoint" } else { "append" } }
        }
        #expect(try writes(19_000) == ["append"] && writes(20_000) == ["checkpoint"])
    }
}
