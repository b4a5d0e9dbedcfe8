import HandCore
import HandSimulation
import HandSync
import HandTestSupport
import HandWire
import Testing

/// Bugs that the simulator found in the machine, each in its shortest form.
@Suite struct ServiceTests {
    /// Another server starts soon, so the client need not wait long, also if new connections were turned away before.
    @Test func aClientThatConnectsWhileTheServerStopsComesBackSoon() {
        let world = TestWorld()
        world.machine.stop(at: world.time)
        world.machine.drain()
        let ada = TestStream(world)
        world.turn()
        guard case .error(.shuttingDown, _, _, let retryAfter, _)? = ada.heard.last else {
            Issue.record("\(ada.heard)")
            return
        }
        #expect(retryAfter == 200)
        ada.end()
        #expect(world.machine.hasStopped)
    }

    private static func world(limits: Limits = Limits()) throws -> TestWorld {
        let world = TestWorld(limits: limits)
        _ = try world.store.create("list", rules: Rules(), logID: 9, deckSeed: nil)
        return world
    }

    /// A flush that failed while a list was being created went unnoticed: only commits were checked.
    @Test(arguments: [0, 1, 2]) func aFailedFlushOfAnythingEndsTheProcess(what: Int) throws {
        let world = try Self.world()
        let stream = world.connect(1)
        if what > 0 { world.settle() }
        if what == 1 { stream.say(.create(request: 1, name: "new", rules: Rules())) }
        if what == 2 { stream.say(.delete(request: 1, name: "list")) }
        world.failure = .syncFailed(path: "disk")
        world.settle()
        #expect(world.ended == .syncFailed(path: "disk"))
    }

    /// The store answered an old connection's hello after the new one's, and the old connection took over.
    @Test func ofTwoHellosTheLaterWins() throws {
        let world = try Self.world()
        let (old, new) = (world.connect(1), world.connect(1))
        #expect(world.waiting == 2)
        world.answer(1)
        world.answer(0)
        #expect(old.errors == [.replaced])
        #expect(new.errors.isEmpty)
        new.subscribe("list", request: 1)
        world.settle()
        #expect(new.lastStart != nil)
    }

    /// A client that had forgotten a submission was sent an old sequence while the submission was being written. It
    /// used the submission's sequence again, and mistook that commit for its own.
    @Test func aSubscriptionWaitsForItsClientsSubmissions() throws {
        let world = try Self.world()
        let stream = world.connect(1)
        world.settle()
        stream.subscribe("list", request: 1)
        world.settle()
        stream.submit(1, base: 0, "forgotten")
        stream.say(.unsubscribe(list: 1))
        stream.subscribe("list", request: 2)
        #expect(stream.lastStart?.request == 1)
        world.settle()
        #expect(stream.lastStart?.request == 2)
        #expect(stream.lastStart?.lastSequence == 1)
    }

    /// A client of several lists was not told which of them it does not follow.
    @Test func notSubscribedNamesTheList() throws {
        let world = try Self.world()
        let stream = world.connect(1)
        world.settle()
        stream.say(.submit(Submission(list: 7, base: 0, sequence: 1, delta: .identity)))
        guard case .error(.notSubscribed, 0, 7, _, _) = stream.heard.last else {
            Issue.record("\(stream.heard)")
            return
        }
    }

    /// A client that closed a list and opened it again on one connection was not sent who is present.
    @Test func aNewSubscriptionGetsAllPresence() throws {
        let world = try Self.world()
        let (stream, other) = (world.connect(1), world.connect(2))
        world.settle()
        for one in [stream, other] { one.subscribe("list", request: 1) }
        world.settle()
        let before = stream.heard.count
        stream.subscribe("list", request: 2)
        world.settle()
        let told = stream.heard[before...].contains { message in
            if case .presence(_, let entries) = message { Set(entries.map(\.author)) == [1, 2] } else { false }
        }
        #expect(told)
    }

    /// A lagging connection that was sent a snapshot never got the presence of people who had arrived in the meantime.
    @Test func aSnapshotForALaggingConnectionIncludesNewArrivals() throws {
        var limits = Limits()
        limits.windowBytes = 64
        let world = try Self.world(limits: limits)
        let (slow, writer) = (world.connect(1), world.connect(2))
        world.settle()
        slow.subscribe("list", request: 1)
        world.settle()
        slow.isWriting = true
        writer.subscribe("list", request: 1)
        world.settle()
        world.now += limits.presenceInterval
        world.timeout()
        for number in 1...20 {
            writer.submit(SequenceNumber(number), base: number - 1, "n")
            world.settle()
        }
        slow.drain()
        world.settle()
        #expect(slow.lastStart.map { if case .snapshot = $0.start { true } else { false } } == true)
        #expect(slow.present() == [1, 2])
    }

    /// Commits that a reader was about to get are forgotten while they are being read: it gets a snapshot.
    @Test func commitsForgottenWhileBeingReadBringASnapshot() throws {
        var limits = Limits()
        limits.windowBytes = 64
        let world = try Self.world(limits: limits)
        let (slow, writer) = (world.connect(1), world.connect(2))
        world.settle()
        for one in [slow, writer] { one.subscribe("list", request: 1) }
        world.settle()
        for number in 1...12 {
            writer.submit(SequenceNumber(number), base: number - 1, "n")
            world.settle()
        }
        slow.isWriting = true
        for number in 13...16 {
            writer.submit(SequenceNumber(number), base: number - 1, "n")
            world.settle()
        }
        slow.drain()
        var trimmed = try world.store.trim(1, keeping: Retention(commits: 0), now: 0)
        while trimmed.hasMore { trimmed = try world.store.trim(1, keeping: Retention(commits: 0), now: 0) }
        world.settle()
        let revisions = slow.heard.compactMap { if case .commit(_, let commit) = $0 { commit.revision } else { nil } }
        let start = try #require(slow.lastStart)
        if case .snapshot(let revision, let count, _) = start.start {
            #expect(revision == 16 && count == 16)
        } else {
            #expect(revisions == Array(1...16), "no gap")
        }
    }

    /// Edits that could not be stored no longer count as waiting: the number of waiting edits of a connection is
    /// limited.
    @Test func failedEditsDoNotCountAsWaiting() throws {
        let world = try Self.world()
        let stream = world.connect(1)
        world.settle()
        stream.subscribe("list", request: 1)
        world.settle()
        world.failure = .failed("no room")
        let tries = world.limits.pendingSubmissions + 1
        for _ in 1...tries {
            stream.submit(1, base: 0, "n")
            world.settle()
        }
        #expect(stream.heard.count { $0 == .rejected(list: 1, sequence: 1, .notStored) } == tries)
        world.failure = nil
        stream.submit(1, base: 0, "n")
        world.settle()
        #expect(stream.errors.isEmpty && stream.heard.contains { if case .commit(1, _) = $0 { true } else { false } })
    }

    /// A client that sends nothing for too long is disconnected.
    @Test func aSilentClientIsDisconnected() throws {
        let world = try Self.world()
        let (silent, other) = (world.connect(1), world.connect(2))
        world.settle()
        world.now += world.limits.idleDeadline
        other.say(.ping(1))
        world.now += 1
        world.timeout()
        world.settle()
        #expect(silent.errors == [.idleTimeout] && silent.endReason == .idleTimeout)
        #expect(other.errors.isEmpty && !other.isShutDown)
    }

    /// Whoever has taken long to get here has less time for the hello.
    @Test func theTimeForTheHelloBeginsWithTheConnection() throws {
        let world = try Self.world()
        world.now = 5_000
        let late = TestStream(world, since: 1_000)
        let prompt = TestStream(world)
        world.now = 1_000 + world.limits.handshakeDeadline
        world.timeout()
        world.settle()
        #expect(late.endReason == .handshakeTimeout && prompt.endReason == nil)
        world.now = 5_000 + world.limits.handshakeDeadline
        world.timeout()
        world.settle()
        #expect(prompt.endReason == .handshakeTimeout)
    }

    /// However often somebody moves, others are notified at most once per interval.
    @Test func presenceIsSentOncePerInterval() throws {
        let world = try Self.world()
        let (mover, other) = (world.connect(1), world.connect(2))
        world.settle()
        for one in [mover, other] { one.subscribe("list", request: 1) }
        world.settle()
        world.now += world.limits.presenceInterval
        world.timeout()
        world.settle()
        func told() -> Int { other.heard.count { if case .presence = $0 { true } else { false } } }
        let before = told()
        for id in 1...5 {
            mover.say(.presence(list: 1, Focus(ItemID(rawValue: UInt64(id)))))
            world.timeout()
            world.settle()
        }
        #expect(told() == before)
        world.now += world.limits.presenceInterval
        world.timeout()
        world.settle()
        #expect(told() == before + 1)
    }

    /// A snapshot that could not be written is tried again after the same number of commits.
    @Test func aFailedSnapshotIsTriedAgain() throws {
        var limits = Limits()
        limits.snapshotCommits = 3
        let world = try Self.world(limits: limits)
        let stream = world.connect(1)
        world.settle()
        stream.subscribe("list", request: 1)
        world.settle()
        for sequence in 1...6 {
            stream.submit(SequenceNumber(sequence), base: sequence - 1, "n")
            world.answer()
            if sequence == 3 { world.failure = .failed("no room") }
            world.settle()
            world.failure = nil
            if sequence == 3 { #expect(try world.store.load(1).snapshotRevision == 0) }
        }
        #expect(try world.store.load(1).snapshotRevision == 6)
    }

    /// A list that nobody follows stays in memory for a while, but not forever.
    @Test func aListWithoutFollowersIsUnloaded() throws {
        let world = try Self.world()
        func lists() -> [String] { world.machine.listReports().map(\.name) }
        let stream = world.connect(1)
        world.settle()
        stream.subscribe("list", request: 1)
        world.settle()
        for _ in 0..<3 {
            world.now += world.limits.unloadDelay
            stream.say(.ping(1))
            world.timeout()
            world.settle()
            #expect(lists() == ["list"], "it is followed")
        }
        stream.say(.unsubscribe(list: 1))
        world.now += world.limits.unloadDelay - 1
        stream.say(.ping(2))
        world.timeout()
        #expect(lists() == ["list"], "somebody may return")
        // The list is checked from time to time.
        world.now += 1_001
        world.timeout()
        #expect(lists().isEmpty)
        stream.subscribe("list", request: 2)
        world.settle()
        #expect(stream.lastStart?.request == 2 && stream.errors.isEmpty)
    }

    /// A client compares its list with the server's when it returns.
    @Test func aReturningClientGetsTheDigest() throws {
        let world = try Self.world()
        let stream = world.connect(1)
        world.settle()
        stream.subscribe("list", request: 1, logID: 9, revision: 0)
        world.settle()
        #expect(stream.lastStart?.start == .resumed(head: 0, digest: Hand().digest))
    }

    /// A client that has not seen its own commits gets them one by one, even if a snapshot would be smaller: from a
    /// snapshot it could not tell whether its own program made them, or a copy of it.
    @Test(arguments: [(1, true), (2, false)]) func ownCommitsComeOneByOne(client: UInt64, areOwn: Bool) throws {
        var limits = Limits()
        limits.windowBytes = 64
        let world = try Self.world(limits: limits)
        let writer = world.connect(1)
        world.settle()
        writer.subscribe("list", request: 1)
        world.settle()
        for number in 1...20 {
            // One item is inserted and deleted repeatedly.
            let item = Item(id: ItemID(rawValue: 5), content: .note("n"))
            let edit: Delta = number & 1 == 1 ? .inserting([item], at: 0, .after) : .deleting(0..<1)
            writer.say(
                .submit(Submission(list: 1, base: number - 1, sequence: SequenceNumber(number), delta: edit)))
            world.settle()
        }
        let stream = world.connect(client)
        world.settle()
        stream.subscribe("list", request: 1, logID: 9, revision: 1)
        world.settle()
        #expect(
            try #require(stream.lastStart).start
                == (areOwn
                    ? .resumed(head: 20, digest: Hand().digest)
                    : .snapshot(revision: 20, count: 0, digest: Hand().digest)))
        let revisions = stream.heard.compactMap { if case .commit(_, let commit) = $0 { commit.revision } else { nil } }
        #expect(revisions == (areOwn ? Array(2...20) : []))
    }
}
