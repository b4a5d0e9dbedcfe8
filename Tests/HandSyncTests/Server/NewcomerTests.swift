import HandCore
import HandSimulation
import HandSync
import HandTestSupport
import HandWire
import Testing

/// A client costs the store nothing before its first commit.
@Suite struct NewcomerTests {
    private static func world() throws -> TestWorld {
        let world = TestWorld()
        _ = try world.store.create("list", rules: Rules(), logID: 9, deckSeed: nil)
        return world
    }

    private static func author(_ stream: TestStream) -> AuthorID {
        for case .welcome(let welcome) in stream.heard { return welcome.author }
        return 0
    }

    private static func comes(_ world: TestWorld, _ client: UInt64 = 1, as person: String = "ada") -> TestStream {
        let stream = world.connect(client, person: person)
        world.settle()
        stream.subscribe("list", request: 1, logID: 9)
        world.settle()
        return stream
    }

    private static func known(_ authors: [AuthorID], _ world: TestWorld) throws -> [AuthorID] {
        try world.store.people(authors).map(\.author)
    }

    @Test func aClientWithoutCommitsIsNotStored() throws {
        let world = try Self.world()
        let streams = (1...50).map { Self.comes(world, $0) }
        let authors = streams.map(Self.author)
        #expect(Set(authors).count == 50 && !authors.contains(0))
        #expect(try Self.known(authors, world) == [])
        streams[7].submit(1, base: 0, "first")
        world.settle()
        #expect(try Self.known(authors, world) == [authors[7]])
        #expect(world.machine.brokenInvariant() == nil)
        for stream in streams { stream.end() }
        #expect(world.machine.brokenInvariant() == nil)
        // Clients without commits are forgotten; those with commits are not.
        let (again, other) = (Self.comes(world, 8), Self.comes(world, 9))
        #expect(Self.author(again) == authors[7] && again.lastStart?.lastSequence == 1)
        #expect(!authors.contains(Self.author(other)))
        #expect(try world.store.load(1).sequences.map(\.key) == [authors[7]])
    }

    /// A client that reconnects while its first commit is being written keeps its author, in whatever order the store
    /// answers.
    @Test(arguments: ["ada", "eve"], [false, true])
    func aFirstCommitBeingWrittenIsMadeOnce(person: String, isReadFirst: Bool) throws {
        let world = try Self.world()
        let first = Self.comes(world)
        first.submit(1, base: 0, "in flight")
        #expect(world.waiting == 1)
        let second = world.connect(1, person: person)
        #expect(world.waiting == (person == "ada" ? 1 : 2))
        if isReadFirst { world.answer(world.waiting - 1) }
        world.settle()
        #expect((Self.author(second) == Self.author(first)) == (person == "ada"))
        second.subscribe("list", request: 1, logID: 9)
        world.settle()
        #expect(second.lastStart?.lastSequence == 1)
        second.submit(1, base: 1, "once more")
        second.submit(2, base: 1, "the next")
        world.settle()
        #expect(second.heard.contains(.acknowledged(list: 1, sequence: 1, revision: 1)))
        #expect(try world.store.load(1).revision == 2)
        #expect(world.machine.brokenInvariant() == nil)
    }

    /// A client that only reads costs the store nothing, and keeps its author when it comes back before the server has
    /// noticed that its old connection is dead.
    @Test func aClientThatConnectsAgainKeepsItsAuthor() throws {
        let world = try Self.world()
        let first = Self.comes(world)
        let second = world.connect(1, person: "ada")
        #expect(world.waiting == 0 && Self.author(second) == Self.author(first))
        world.settle()
        second.subscribe("list", request: 1, logID: 9)
        world.settle()
        second.submit(1, base: 0, "stored with its author")
        world.settle()
        #expect(try Self.known([Self.author(first)], world) == [Self.author(first)])
        // The author is stored now, so a third connection does not store it again.
        let third = world.connect(1, person: "ada")
        world.settle()
        third.subscribe("list", request: 1, logID: 9)
        world.settle()
        third.submit(2, base: 1, "the next")
        world.settle()
        #expect(try world.store.load(1).revision == 2)
        #expect(world.machine.brokenInvariant() == nil)
    }

    /// Under another name it is another author, but its submissions go on in one sequence.
    @Test func aClientThatComesBackUnderAnotherNameIsTheSameClient() throws {
        let world = try Self.world()
        let first = Self.comes(world)
        let second = Self.comes(world, as: "eve")
        second.submit(1, base: 0, "stored")
        world.settle()
        #expect(Self.author(second) != Self.author(first))
        #expect(try world.store.clients(of: [Self.author(second)]) == [Self.author(second): Self.author(first)])
    }

    /// An author is stored once, even if its client has connected again while the first commit was being written.
    @Test func anAuthorIsStoredOnce() throws {
        let world = try Self.world()
        let first = Self.comes(world)
        first.submit(1, base: 0, "in flight")
        let second = world.connect(1, person: "ada")
        world.settle()
        second.subscribe("list", request: 1, logID: 9)
        world.settle()
        second.submit(2, base: 1, "the next")
        world.settle()
        #expect(second.heard.contains { if case .commit(_, let commit) = $0 { commit.revision == 2 } else { false } })
        #expect(try world.store.load(1).revision == 2)
    }

    /// Its first commit fails, after it has connected again. The next commit is stored with the author.
    @Test func anAuthorWhoseFirstCommitFailedIsStoredWithTheNext() throws {
        let world = try Self.world()
        Self.comes(world).submit(1, base: 0, "lost")
        let second = world.connect(1, person: "ada")
        world.failure = .failed("disk full")
        world.settle()
        world.failure = nil
        second.subscribe("list", request: 1, logID: 9)
        world.settle()
        second.submit(1, base: 0, "kept")
        world.settle()
        #expect(try world.store.load(1).revision == 1)
        #expect(try Self.known([Self.author(second)], world) == [Self.author(second)])
        #expect(world.machine.brokenInvariant() == nil)
    }

    /// Of two hellos of a client, the later one wins, in whatever order the store answers.
    @Test(arguments: [false, true])
    func theLaterHelloWins(isReadFirst: Bool) throws {
        let world = try Self.world()
        let (first, second) = (world.connect(1, person: "ada"), world.connect(1, person: "ada"))
        #expect(world.waiting == 2)
        if isReadFirst { world.answer(1) }
        world.settle()
        #expect(Self.author(first) == 0 && Self.author(second) != 0)
        let wasReplaced = [first, second].map { stream in
            stream.heard.contains { if case .error(.replaced, _, _, _, _) = $0 { true } else { false } }
        }
        #expect(wasReplaced == [true, false])
    }

    /// The store was asked before the commit was durable, and answers after it.
    @Test func aLateAnswerOfTheStoreIsIgnored() throws {
        let world = try Self.world()
        let first = Self.comes(world)
        first.submit(1, base: 0, "in flight")
        let second = world.connect(1, person: "eve")
        let answer = world.look(1)
        world.settle()
        answer()
        second.subscribe("list", request: 1, logID: 9)
        world.settle()
        #expect(second.lastStart?.lastSequence == 1)
        #expect(try world.store.load(1).sequences.map(\.value.sequence) == [1])
    }

    @Test func aFailedWriteStoresNoClient() throws {
        let world = try Self.world()
        let ada = Self.comes(world)
        world.failure = .failed("disk full")
        ada.submit(1, base: 0, "lost")
        world.settle()
        world.failure = nil
        #expect(try Self.known([Self.author(ada)], world) == [])
        #expect(world.machine.brokenInvariant() == nil)
        ada.submit(1, base: 0, "kept")
        world.settle()
        #expect(try Self.known([Self.author(ada)], world) == [Self.author(ada)])
        #expect(world.machine.brokenInvariant() == nil)
    }

    /// Deleting a list also drops the commits that were to be written to it.
    @Test func aDeletedListKeepsNoClient() throws {
        let world = try Self.world()
        let (ada, root) = (Self.comes(world), Self.comes(world, 2))
        root.say(.delete(request: 2, name: "list"))
        ada.submit(1, base: 0, "too late")
        ada.end()
        world.settle()
        #expect(world.machine.brokenInvariant() == nil)
        root.end()
        #expect(world.machine.brokenInvariant() == nil)
    }

    /// A newcomer's first commits are in several lists, and some of them are lost: the others are still a newcomer's.
    @Test func aNewcomerLosesSomeFirstCommits() throws {
        let world = try Self.world()
        _ = try world.store.create("other", rules: Rules(), logID: 10, deckSeed: nil)
        let (ada, root) = (Self.comes(world), Self.comes(world, 2))
        ada.subscribe("other", request: 2, logID: 10)
        world.settle()
        root.say(.delete(request: 2, name: "list"))
        for (list, sequence) in [(1, 1), (2, 1), (2, 2)] as [(UInt64, UInt64)] {
            ada.submit(SequenceNumber(sequence), base: 0, "x", list: ListNumber(list))
        }
        world.settle()
        #expect(ada.errors == [.listDeleted] && ada.commits.map(\.revision) == [1, 2])
        #expect(try Self.known([Self.author(ada)], world) == [Self.author(ada)])
        ada.submit(3, base: 2, "y", list: 2)
        world.settle()
        #expect(ada.commits.map(\.revision) == [1, 2, 3] && world.machine.brokenInvariant() == nil)
    }

    /// A user's allowance also limits how often they may connect.
    @Test func hellosAreCharged() throws {
        var limits = Limits()
        limits.userWork = 4_000
        limits.tellingDelay = 1_000_000
        limits.tooFastDeadline = 1_000_000
        let world = TestWorld(limits: limits)
        world.tokens = ["ada": .everything, "ben": .everything]
        func welcomed(_ streams: [TestStream]) -> Int { streams.count { Self.author($0) != 0 } }
        let streams = (1...60).map { world.connect($0, token: "ada") }
        world.settle()
        let atOnce = welcomed(streams)
        #expect(world.machine.brokenInvariant() == nil)
        try #require((10...30).contains(atOnce))
        let ben = world.connect(100, token: "ben")
        world.settle()
        #expect(welcomed([ben]) == 1)
        // Waiting connections are not read, and a connection is not read before its welcome.
        #expect(streams.allSatisfy { $0.isStopped == (Self.author($0) == 0) })
        let seconds = UInt64(60 - atOnce) / 2
        for isOver in [false, true] {
            world.now = (seconds + (isOver ? 1 : 0)) * 1_000 - 1
            world.timeout()
            world.turn()
            #expect(streams.allSatisfy { $0.isStopped == (Self.author($0) == 0) })
            world.settle()
            #expect(welcomed(streams) == (isOver ? 60 : atOnce))
        }
        #expect(streams.allSatisfy { $0.errors.isEmpty } && world.machine.brokenInvariant() == nil)
    }

    /// A client whose token is revoked while it waits is not admitted.
    @Test func aTokenRevokedWhileWaitingIsNotAdmitted() {
        var limits = Limits()
        limits.userWork = 10
        limits.tooFastDeadline = 1_000_000
        let world = TestWorld(limits: limits)
        world.tokens = ["ada": .everything]
        let streams = (1...2).map { world.connect($0, token: "ada") }
        world.settle()
        #expect(streams.map(Self.author) == [0, 0])
        world.tokens = [:]
        world.accessChanged()
        world.now += 100_000_000
        world.timeout()
        world.settle()
        #expect(streams.allSatisfy { $0.errors == [.notAuthenticated] && Self.author($0) == 0 })
    }
}
