import HandCore
import HandSync
import HandWire
import Testing

/// The speed limit of a user: a user who is too fast is slowed down, then notified, then disconnected.
@Suite struct UserPaceTests {
    /// Ten seconds' worth of requests at once, then the rate per second; no request is lost, and others do not notice.
    @Test func aFastUserIsSlowedDown() {
        let world = TestWorld.ofTwoUsers { _ in }
        let ada = world.connect(1, token: "ada")
        let ben = world.connect(2, token: "ben")
        world.settle()
        for request in 1...150 { ada.say(.lists(request: RequestNumber(request), after: "")) }
        world.settle()
        #expect(ada.answers == 101 && ada.isStopped)
        #expect(world.machine.brokenInvariant() == nil)
        #expect(world.machine.load.slowed == 1 && world.machine.figures.slowings == 1)
        for request in 1...50 { ben.say(.lists(request: RequestNumber(request), after: "")) }
        world.settle()
        #expect(ben.answers == 50 && !ben.isStopped)
        for _ in 0..<20 {
            world.pass(100)
            #expect(world.machine.load.slowed == 1 && world.machine.brokenInvariant() == nil)
        }
        #expect((118...122).contains(ada.answers))
        world.pass(4_000)
        #expect(ada.answers == 150 && !ada.isStopped && world.machine.load.slowed == 0)
        #expect(world.machine.brokenInvariant() == nil)
    }

    /// The server's work for a user counts, not only what they send.
    @Test func workIsCounted() throws {
        let world = TestWorld.ofTwoUsers {
            $0.userRequests = 1_000
            // With this, there are 3,000 at once, and an insertion of 82 items takes 920.
            $0.userWork = 300
        }
        let ada = world.ownerOfList()
        func insert(_ count: Int, _ sequence: SequenceNumber) -> UpMessage {
            let items = (0..<count).map {
                Item(id: ItemID(rawValue: sequence.rawValue << 32 + UInt64($0)), content: .note("x"))
            }
            return .submit(
                Submission(
                    list: 1, base: 0, sequence: sequence, delta: Delta.inserting(items, at: 0, .after)))
        }
        for sequence in 1...UInt64(3) {
            ada.say(insert(82, SequenceNumber(sequence)))
            world.settle()
            #expect(!ada.isStopped)
        }
        ada.say(insert(82, 4))
        world.settle()
        #expect(ada.isStopped && world.machine.load.slowed == 1)
        world.pass(1_800)
        #expect(ada.isStopped)
        world.pass(1_000)
        #expect(!ada.isStopped && world.machine.brokenInvariant() == nil)
    }

    /// All connections of a user count together.
    @Test func connectionsOfAUserCountTogether() {
        let world = TestWorld.ofTwoUsers { $0.tooFastDeadline = 1_000_000 }
        let streams = (1...5).map { world.connect($0, token: "ada") }
        world.settle()
        for request in 1...60 {
            for stream in streams { stream.say(.lists(request: RequestNumber(request), after: "")) }
        }
        world.settle()
        let total = streams.reduce(0) { $0 + $1.answers }
        #expect((100...105).contains(total))
        world.pass(4_000)
        let later = streams.reduce(0) { $0 + $1.answers }
        #expect((34...45).contains(later - total))
        // All connections take turns.
        #expect(streams.allSatisfy { $0.answers > 20 })
        streams[0].end()
        world.pass(30_000)
        #expect(streams[1...].allSatisfy { $0.answers == 60 })
    }

    @Test func bytesCountToo() {
        let world = TestWorld.ofTwoUsers {
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
                world.pass(10)
            }
        }
        send(for: 1)
        let first = ada.errors.count
        #expect((90...110).contains(first))
        send(for: 2)
        #expect((15...25).contains(ada.errors.count - first))
        #expect(ada.errors.count { $0 == .slowedDown } == 1)
    }

    /// The user is notified once, and disconnected in the end, with a time to wait; a user who slows down is not.
    @Test func aUserWhoStaysTooFastIsNotifiedThenDisconnected() {
        let world = TestWorld.ofTwoUsers { _ in }
        let ada = world.connect(1, token: "ada")
        world.settle()
        var request: RequestNumber = 0
        func hammer(_ seconds: Int) {
            for _ in 0..<seconds * 20 {
                if !ada.isStopped {
                    for _ in 1...20 {
                        request = request.next
                        ada.say(.lists(request: request, after: ""))
                    }
                    world.settle()
                }
                world.pass(50)
            }
        }
        hammer(1)
        #expect(ada.errors.isEmpty)
        hammer(3)
        #expect(ada.errors == [.slowedDown])
        world.pass(60_000)
        #expect(!ada.isStopped)
        hammer(1)
        #expect(ada.errors == [.slowedDown], "old excesses are forgiven")
        hammer(8)
        #expect(ada.errors == [.slowedDown, .slowedDown, .tooFast])
        #expect(ada.isShutDown)
        ada.end()
        #expect(world.machine.brokenInvariant() == nil)
    }

    /// Accounts of absent users are removed once that makes no difference.
    @Test func unusedAccountsAreRemoved() {
        let world = TestWorld.ofTwoUsers { _ in }
        world.tokens = Dictionary(uniqueKeysWithValues: (0..<50).map { ("user \($0)", .everything) })
        for number in 0..<50 {
            let stream = world.connect(UInt64(number), token: "user \(number)")
            world.settle()
            stream.say(.lists(request: 1, after: ""))
            world.settle()
            stream.end()
        }
        #expect(world.machine.load.accounts == 50)
        world.pass(12_000)
        #expect(world.machine.load.accounts == 0)
    }

    /// A client that is closed while it is slowed down is gone in the end, whatever still arrives from it; the server
    /// can stop.
    @Test func aSlowedDownClientCanBeClosed() {
        let world = TestWorld.ofTwoUsers { $0.userBytes = 100 }
        let ada = world.connect(1, token: "ada")
        world.settle()
        for request in 1...130 { ada.say(.fetch(request: RequestNumber(request), name: "list", revision: nil)) }
        world.settle()
        #expect(ada.isStopped && world.machine.load.slowed == 1)
        #expect(world.machine.close(connection: 1, at: world.time))
        #expect(world.machine.load.slowed == 0 && world.machine.brokenInvariant() == nil)
        for _ in 0..<40 {
            ada.send([UInt8](repeating: 0, count: 1_000))
            world.pass(100)
        }
        #expect(ada.isClosed && world.machine.load.connections == 0)
        world.machine.stop(at: world.time)
        world.settle()
        #expect(world.machine.hasStopped)
    }

    /// Whoever is being closed is read no further than what was under way when they were told, but pays for it.
    @Test func aClosedUserIsNotReadOn() {
        let world = TestWorld.ofTwoUsers { $0.userBytes = 1_000_000 }
        let ada = world.connect(1, token: "ada")
        world.settle()
        #expect(world.machine.close(connection: 1, at: world.time))
        world.turn()
        #expect(ada.isShutDown && !ada.isStopped)
        var read = 0
        while !ada.isStopped, read < 10 << 20 {
            ada.send([UInt8](repeating: 1, count: 16 << 10))
            read += 16 << 10
        }
        #expect(read == Connection.maxIgnored)
        world.pass(world.limits.drainDeadline + 1_000)
        #expect(ada.isClosed && world.machine.load.connections == 0)
    }

    /// Pings are requests like others.
    @Test func pingsCount() {
        let world = TestWorld.ofTwoUsers { _ in }
        let ada = world.connect(1, token: "ada")
        world.settle()
        for _ in 1...150 { ada.say(.ping(1)) }
        #expect(ada.heard.count { $0 == .pong(1) } == 101 && ada.isStopped)
        world.pass(10_000)
        #expect(ada.heard.count { $0 == .pong(1) } == 150 && world.machine.brokenInvariant() == nil)
    }

    /// However many messages come at once, from one connection or from many of one user, others' messages are answered
    /// after a millisecond's work; everything is done in the end, in order.
    @Test(arguments: [1, 40]) func oneUserHasAShareOfATurn(connections: Int) throws {
        let world = TestWorld.ofTwoUsers { $0.userRequests = 100_000 }
        _ = world.ownerOfList()
        let streams = (0..<connections).map { world.connect(10 + UInt64($0), token: "ada") }
        let ben = world.connect(2, token: "ben")
        world.settle()
        var (turns, most, before) = (0, 0, world.machine.workDone)
        world.onTurn = {
            turns += 1
            (most, before) = (max(most, world.machine.workDone - before), world.machine.workDone)
            ben.send(UpMessage.ping(UInt64(turns)).frame, ending: false)
        }
        let each = 4_000 / connections
        for stream in streams {
            let burst = (0..<each).flatMap { number in
                UpMessage.excerpt(
                    .init(
                        request: RequestNumber(number), name: "list",
                        (0..<20).map { .positions(start: $0, count: 1) })
                ).frame
            }
            stream.send(burst, ending: false)
        }
        world.settle()
        for stream in streams {
            let answers = stream.heard.compactMap { if case .excerpt(let request, _) = $0 { request } else { nil } }
            #expect(answers == (0..<each).map(RequestNumber.init))
        }
        #expect(turns >= 40 && most <= 20_000, "\(turns) turns, at most \(most) steps in one")
        #expect(world.machine.brokenInvariant() == nil)
    }

    /// The request that caused the disconnection is not executed.
    @Test func theLastRequestIsNotExecuted() {
        let world = TestWorld.ofTwoUsers { $0.tooFastDeadline = 1 }
        let ada = world.connect(1, token: "ada")
        world.settle()
        for request in 1...110 { ada.say(.lists(request: RequestNumber(request), after: "")) }
        world.settle()
        ada.say(.create(request: 1, name: "late", rules: Rules()))
        world.pass(5_000)
        #expect(ada.errors == [.tooFast])
        let ben = world.connect(2, token: "ben")
        world.settle()
        ben.subscribe("late", request: 1)
        world.settle()
        #expect(ben.errors == [.noSuchList])
    }

    /// Whoever leaves before the answer has caused the work all the same: the user's next connection waits.
    @Test func whoLeavesBeforeTheAnswerPays() {
        let world = TestWorld.ofTwoUsers {
            $0.userRequests = 1_000
            $0.userWork = 300
        }
        let ada = world.ownerOfList()
        let gone = world.connect(7, token: "ada")
        world.settle()
        for request in 1...20 { gone.say(.history(request: RequestNumber(request), name: "list", from: 1, limit: 1)) }
        world.pass(60_000)
        #expect(!ada.isStopped)
        // The answer to each request costs as much as finding a list, 200 steps.
        for client in 8...40 {
            let leaver = world.connect(UInt64(client), token: "ada")
            world.settle()
            leaver.say(.history(request: 1, name: "list", from: 1, limit: 1))
            leaver.end()
            world.settle()
        }
        #expect(world.machine.brokenInvariant() == nil)
        ada.say(.ping(1))
        #expect(ada.isStopped)
    }

    /// A user who is slowed down in the middle of a list gets its commits after its last chunk, as everybody does.
    @Test func commitsWaitForTheChunksOfWhoeverIsSlowedDown() throws {
        let world = TestWorld.ofTwoUsers {
            $0.userWork = 300
            $0.tooFastDeadline = 1_000_000
        }
        let ada = world.ownerOfList()
        func insert(_ sequence: UInt64, _ count: Int) {
            let items = (0..<UInt64(count)).map {
                Item(id: ItemID(rawValue: sequence << 32 + $0), content: .note(String(repeating: "x", count: 10_000)))
            }
            let delta = Delta.inserting(items, at: 0, .after)
            ada.say(.submit(Submission(list: 1, base: 0, sequence: SequenceNumber(sequence), delta: delta)))
        }
        for sequence in 1...UInt64(4) {
            insert(sequence, 20)
            world.pass(60_000)
        }
        let ben = world.connect(2, token: "ben")
        world.settle()
        ben.subscribe("list", request: 1)
        world.settle()
        let chunks = ben.heard.count { if case .chunk = $0 { true } else { false } }
        insert(5, 1)
        world.settle()
        #expect(chunks > 0 && world.machine.load.slowed == 1 && world.machine.durable("list")?.revision == 5)
        world.pass(120_000)
        let last = try #require(ben.heard.lastIndex { if case .chunk = $0 { true } else { false } })
        let commits = ben.heard.indices.filter { if case .commit = ben.heard[$0] { true } else { false } }
        #expect(commits.count == 1 && commits.allSatisfy { $0 > last })
        #expect(world.machine.brokenInvariant() == nil)
    }

    /// Before the welcome, a client is told nothing that does not close its connection.
    @Test func nobodyIsWarnedBeforeTheWelcome() {
        let world = TestWorld.ofTwoUsers {
            $0.tooFastDeadline = 1_000_000
            // Two hellos take more than there is at once.
            $0.userWork = 300
        }
        let ada = world.connect(1, token: "ada")
        world.settle()
        for request in 1...1_000 { ada.say(.lists(request: RequestNumber(request), after: "")) }
        world.settle()
        while !ada.errors.contains(.slowedDown) { world.pass(100) }
        let late = world.connect(2, token: "ada")
        world.settle()
        #expect(late.heard.isEmpty && late.isStopped)
    }
}

extension TestStream {
    /// The number of pages of lists received.
    fileprivate var answers: Int { heard.count { if case .lists = $0 { true } else { false } } }
}
