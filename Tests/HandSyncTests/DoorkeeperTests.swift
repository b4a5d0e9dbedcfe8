import HandCore
import HandSync
import HandWire
import Testing

/// What one address may take of a server.
@Suite struct DoorkeeperTests {
    private static var world: TestWorld {
        var limits = Limits()
        limits.connectionsPerAddress = 3
        limits.failedHellos = 2
        return TestWorld(limits: limits)
    }

    @Test func oneAddressHasItsShare() throws {
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
        // Who was turned away is not counted out.
        fourth.end()
        let fifth = world.connect(21, from: "10.0.0.1")
        world.settle()
        #expect(fifth.errors == [.tooManyConnections])
        streams[0].end()
        let sixth = world.connect(22, from: "10.0.0.1")
        world.settle()
        #expect(sixth.errors.isEmpty)
    }

    @Test func whoTriesTokensIsTurnedAwayForAMinute() throws {
        let world = Self.world
        world.tokens = ["right": .everything]
        for attempt in 1...2 {
            let stream = world.connect(UInt64(attempt), token: "wrong \(attempt)", from: "10.0.0.1")
            world.settle()
            #expect(stream.errors == [.notAuthenticated])
            stream.end()
        }
        // The right one is of no use now, and an address beside it is not hit.
        let third = world.connect(3, token: "right", from: "10.0.0.1")
        let other = world.connect(4, token: "right", from: "10.0.0.2")
        world.settle()
        #expect(third.errors == [.tooManyConnections])
        #expect(other.errors.isEmpty)
        world.now += 60_000
        world.service.timeout()
        let later = world.connect(5, token: "right", from: "10.0.0.1")
        world.settle()
        #expect(later.errors.isEmpty)
    }
}
