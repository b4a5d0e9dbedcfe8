import HandCore
import HandSync
import HandTestSupport
import HandWire
import Testing

/// A client that changes its name is another author, but its edits are still made only once.
@Suite struct NameTests {
    private static func world() throws -> TestWorld {
        let world = TestWorld()
        _ = try world.store.create("list", rules: Rules(), logID: 9, deckSeed: nil)
        return world
    }

    private static func author(_ stream: TestStream) -> AuthorID? {
        for case .welcome(let welcome) in stream.heard { return welcome.author }
        return nil
    }

    /// Returns a connection of client 1 that follows the list from a revision.
    private static func connects(_ world: TestWorld, as person: String, from revision: Int) -> TestStream {
        let stream = world.connect(1, person: person)
        world.settle()
        stream.subscribe("list", request: 1, logID: 9, revision: revision)
        world.settle()
        return stream
    }

    @Test func theNameOfACommitNeverChanges() throws {
        let world = try Self.world()
        var authors: [AuthorID?] = []
        for (index, name) in ["ONE", "TWO", "ONE", ""].enumerated() {
            let stream = Self.connects(world, as: name, from: index)
            #expect(stream.lastStart?.lastSequence == SequenceNumber(index))
            stream.submit(SequenceNumber(index) + 1, base: index, name)
            world.settle()
            authors.append(Self.author(stream))
            #expect(stream.errors.isEmpty)
            stream.end()
        }
        #expect(authors[0] == authors[2] && Set(authors).count == 3)
        let reader = world.connect(2)
        world.settle()
        reader.say(.history(request: 5, name: "list", from: 1, limit: 9))
        world.settle()
        guard case .history(_, let commits, let people)? = reader.heard.last else {
            Issue.record("\(reader.heard)")
            return
        }
        let names = Dictionary(uniqueKeysWithValues: people.map { ($0.author, $0.name) })
        #expect(commits.map { names[$0.author] } == ["ONE", "TWO", "ONE", "somebody"])
        #expect(commits.map(\.sequence) == [1, 2, 3, 4])
    }

    /// A client recognizes its own commits by its current author. So a commit under a former name that it has not seen
    /// arrives in a snapshot, whose sequence shows that it is included.
    @Test(arguments: [0, 1]) func aSubmissionUnderAFormerNameIsInTheSnapshot(seen: Int) throws {
        let world = try Self.world()
        let one = Self.connects(world, as: "ONE", from: 0)
        one.submit(1, base: 0, "in flight")
        world.settle()
        one.end()
        let two = Self.connects(world, as: "TWO", from: seen)
        let start = try #require(two.lastStart)
        #expect(start.lastSequence == 1)
        if case .snapshot(revision: 1, count: 1, _) = start.start {
            #expect(seen == 0)
        } else {
            #expect(seen == 1 && start.start.resumedHead == 1)
        }
        two.submit(1, base: 1, "once more")
        world.settle()
        #expect(two.heard.contains(.acknowledged(list: 1, sequence: 1, revision: 1)))
        two.end()
        // Under its own name it gets the commit, and recognizes it.
        let again = Self.connects(world, as: "ONE", from: 0)
        #expect(again.lastStart?.start.resumedHead == 1)
    }

    /// The answer waits for a running write, whatever the client's name was when it submitted.
    @Test func aSubscriptionWaitsForSubmissionsUnderAnotherName() throws {
        let world = try Self.world()
        let one = Self.connects(world, as: "ONE", from: 0)
        one.submit(1, base: 0, "being written")
        let two = world.connect(1, person: "TWO")
        world.answer(world.waiting - 1)
        two.subscribe("list", request: 1, logID: 9, revision: 0)
        #expect(two.lastStart == nil)
        world.settle()
        #expect(two.lastStart?.lastSequence == 1)
    }

    /// A failed write releases its sequence, also for another name.
    @Test func aFailedWriteReleasesItsSequence() throws {
        let world = try Self.world()
        let one = Self.connects(world, as: "ONE", from: 0)
        one.submit(1, base: 0, "kept")
        world.settle()
        let two = Self.connects(world, as: "TWO", from: 1)
        world.failure = .failed("disk full")
        two.submit(2, base: 1, "lost")
        world.settle()
        world.failure = nil
        let again = Self.connects(world, as: "ONE", from: 1)
        #expect(again.lastStart?.lastSequence == 1)
        again.submit(2, base: 1, "second")
        world.settle()
        #expect(again.errors.isEmpty)
        #expect(try world.store.load(1).sequences.values.map(\.sequence) == [2])
    }
}
