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
            ada.submit(UInt64(sequence), base: sequence - 1, "x")
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
                ada.submit(UInt64(edits), base: edits - 1, "x")
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
        #expect(revisions(ada) == Array(1...edits) && world.service.brokenInvariant() == nil)
    }

    /// A failed write rejects its edits and nothing else; the next ones are written, and the server counts both.
    @Test func aFailedWriteIsFollowedByGoodOnes() throws {
        let (world, ada) = Self.world()
        var next = 1
        for round in 1...3 {
            world.failure = .failed("full")
            ada.submit(UInt64(next), base: round - 1, "lost")
            world.settle()
            world.failure = nil
            ada.submit(UInt64(next + 1), base: round - 1, "kept")
            world.settle()
            next += 2
            #expect(revisions(ada) == Array(1...round))
            #expect(world.service.figures.failedWrites == round && world.service.figures.commits == round)
            #expect(world.service.load.pendingCommits == 0)
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
            ada.submit(UInt64(round), base: round - 1, String(repeating: "x", count: 200))
            world.settle()
            world.failure = .failed("disk")
            world.pass(1_000)
            world.failure = nil
            let before = world.service.load.storeBytes
            ada.submit(UInt64(round + 10), base: round, "")
            world.settle()
            world.pass(2_000)
            #expect(world.service.load.storeBytes > before || before == 0 && round == 1)
        }
        #expect(world.service.load.storeBytes > 200)
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
            world.service.cutOff(true)
            world.service.cutOff(true)
            let during = TestStream(world)
            world.settle()
            #expect(before.errors == [.shuttingDown] && during.errors == [.shuttingDown])
            world.service.cutOff(false)
        }
    }

    /// A server that stops first says what became of the edits that are being written.
    @Test func aStoppingServerAnswersWhatItWrites() throws {
        let (world, ada) = Self.world()
        ada.submit(1, base: 0, "x")
        world.turn()
        ada.submit(2, base: 0, "y")
        world.turn()
        world.service.stop()
        world.turn()
        world.pass(3_000, settles: false)
        #expect(ada.errors.isEmpty && !world.service.hasStopped && world.waiting > 0)
        world.settle()
        #expect(revisions(ada) == [1, 2] && ada.errors == [.shuttingDown])
        guard case .error(.shuttingDown, _, _, _)? = ada.heard.last else {
            Issue.record("\(ada.heard)")
            return
        }
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
