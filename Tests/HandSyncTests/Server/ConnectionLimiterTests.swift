import HandCore
import HandSync
import HandWire
import Testing

/// The limits for one address.
@Suite struct ConnectionLimiterTests {
    private static var world: TestWorld {
        var limits = Limits()
        limits.connectionsPerAddress = 3
        limits.failedHellos = 2
        return TestWorld(limits: limits)
    }

    @Test func connectionsOfOneAddressAreLimited() throws {
        let world = Self.world
        let streams = (1...3).map { world.connect($0, from: "10.0.0.1") }
        world.settle()
        #expect(streams.allSatisfy { $0.errors.isEmpty })
        let fourth = world.connect(4, from: "10.0.0.1")
        let other = world.connect(5, from: "10.0.0.2")
        let local = (6...20).map { world.connect($0) }
        world.settle()
        #expect(fourth.errors == [.tooManyConnections])
        #expect(other.errors.isEmpty && local.allSatisfy { $0.errors.isEmpty })
        // A connection that was turned away does not count.
        fourth.end()
        let fifth = world.connect(21, from: "10.0.0.1")
        world.settle()
        #expect(fifth.errors == [.tooManyConnections])
        streams[0].end()
        let sixth = world.connect(22, from: "10.0.0.1")
        world.settle()
        #expect(sixth.errors.isEmpty)
    }

    /// Many people may be behind one address: wrong tokens from one of them do not block the others.
    @Test func aValidTokenGetsInDespiteOthersFailures() throws {
        let world = Self.world
        world.tokens = ["right": .everything]
        func answer(_ client: UInt64, _ token: String?, _ origin: String) -> [ErrorCode] {
            let stream = world.connect(client, token: token, from: origin)
            world.settle()
            defer { stream.end() }
            return stream.errors
        }
        for attempt in 1...2 { #expect(answer(UInt64(attempt), "wrong \(attempt)", "10.0.0.1") == [.notAuthenticated]) }
        // A client that keeps guessing gets the same answer, not one after which it would retry.
        #expect(answer(3, "wrong 3", "10.0.0.1") == [.notAuthenticated])
        #expect(answer(4, nil, "10.0.0.1") == [.notAuthenticated])
        #expect(answer(5, "right", "10.0.0.1").isEmpty)
        // An admitted client does not reset the count of others' failures.
        #expect(answer(6, "wrong 4", "10.0.0.1") == [.notAuthenticated])
        #expect(answer(7, "wrong", "10.0.0.2") == [.notAuthenticated])
        #expect(world.turnedAway == 3)
        world.now += 60_000
        world.timeout()
        #expect(answer(8, "wrong 5", "10.0.0.1") == [.notAuthenticated])
        #expect(answer(9, "right", "10.0.0.1").isEmpty)
    }

    /// Connections that send nothing, or something wrong, do not count as people: the oldest of them is closed to make
    /// room.
    @Test func silentConnectionsMakeRoom() throws {
        let world = Self.world
        world.tokens = ["right": .everything]
        let first = world.connect(1, token: "right", from: "10.0.0.1")
        let silent = (1...2).map { _ in TestStream(world, from: "10.0.0.1") }
        let second = world.connect(2, token: "right", from: "10.0.0.1")
        world.settle()
        #expect(second.errors.isEmpty && first.errors.isEmpty)
        #expect(silent[0].errors == [.tooManyConnections] && silent[1].errors.isEmpty)
        let third = world.connect(3, token: "right", from: "10.0.0.1")
        world.settle()
        #expect(third.errors.isEmpty && silent[1].errors == [.tooManyConnections])
        // Now the connections belong to people.
        let fourth = world.connect(4, token: "right", from: "10.0.0.1")
        world.settle()
        #expect(fourth.errors == [.tooManyConnections])
        // Closed connections are not subtracted twice.
        for stream in silent + [third] { stream.end() }
        let more = (5...6).map { client -> TestStream in
            let stream = world.connect(UInt64(client), token: "right", from: "10.0.0.1")
            world.settle()
            return stream
        }
        #expect(more[0].errors.isEmpty && more[1].errors == [.tooManyConnections])
        #expect(world.machine.brokenInvariant() == nil)
    }

    /// The number of logged attempts is limited: nobody can fill a log by guessing.
    @Test func loggedAttemptsAreLimited() throws {
        let world = Self.world
        world.tokens = [:]
        for attempt in 1...50 {
            let stream = world.connect(UInt64(attempt), token: "wrong", from: "10.0.0.1")
            world.settle()
            stream.end()
        }
        #expect(world.turnedAway == 2)
    }

    /// A handshake is work, whatever is sent afterwards.
    @Test func handshakesAreCharged() {
        var limits = Limits()
        limits.handshakesPerAddress = 2
        let world = TestWorld(limits: limits)
        func count(_ origin: String?) -> Int {
            (0..<100).count { _ in world.machine.mayShakeHands(with: origin, at: world.time) }
        }
        #expect(count("10.0.0.1") == 20 && count("10.0.0.1") == 0)
        #expect(count("10.0.0.2") == 20 && count(nil) == 100)
        world.now += 1_500
        #expect(count("10.0.0.1") == 3)
        world.now += 60_000
        world.timeout()
        #expect(count("10.0.0.1") == 20)
    }
}
