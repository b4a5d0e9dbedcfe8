import HandCore
import HandLoad
import Testing

/// Rates, in virtual time: players on a loop with a clock like libuv's, and a server that answers when the test says.
@Suite struct PaceTests {
    /// A loop in virtual time. Its clock shows the time of the start of the turn, in milliseconds, though each call
    /// takes some time.
    private final class World {
        /// The time in nanoseconds.
        var now: UInt64 = 123_456_789
        private var looked: UInt64 = 123
        private var calls: [(at: UInt64, order: Int, body: () -> Void)] = []
        private var order = 0
        /// The duration of each call.
        let work: UInt64

        init(work: UInt64) { self.work = work }

        /// Returns when a timer that is set now expires, by the loop's clock.
        func deadline(after milliseconds: UInt64) -> UInt64 { (looked + milliseconds) * 1_000_000 }

        @discardableResult
        func call(at time: UInt64, _ body: @escaping () -> Void) -> Int {
            order += 1
            calls.append((time, order, body))
            return order
        }

        func cancel(_ call: Int) { calls.removeAll { $0.order == call } }

        func run(until end: UInt64) {
            while let next = calls.min(by: { ($0.at, $0.order) < ($1.at, $1.order) }), next.at <= end {
                cancel(next.order)
                if next.at > now {
                    now = next.at
                    looked = now / 1_000_000
                }
                next.body()
                now += work
            }
        }
    }

    private final class VirtualAlarm: Alarm {
        private let world: World
        private var call: Int?

        init(_ world: World) { self.world = world }

        var now: UInt64 { world.now }
        func start(after milliseconds: UInt64, _ body: @escaping () -> Void) {
            stop()
            call = world.call(at: world.deadline(after: milliseconds), body)
        }
        func stop() {
            if let call { world.cancel(call) }
            call = nil
        }
        func close() { stop() }
    }

    /// A client that is acknowledged after some time, but never while the server stands still.
    private final class Somebody: LoadClient {
        private let world: World
        private let meter: Meter
        private let latency: UInt64
        private let standstill: Range<UInt64>
        unowned var player: Player!
        private(set) var madeAt: [UInt64] = []
        private(set) var isSettled = true
        let revision = 0
        let digest: UInt64? = nil

        init(_ world: World, _ meter: Meter, latency: UInt64, standstill: Range<UInt64>) {
            (self.world, self.meter, self.latency, self.standstill) = (world, meter, latency, standstill)
        }

        func start() { player.isReady() }
        func edit(_ edit: ScriptRun.Edit, since time: UInt64) -> Bool {
            isSettled = false
            madeAt.append(world.now)
            var end = world.now + latency
            if standstill.contains(world.now) { end = standstill.upperBound + latency }
            world.call(at: end) { [self] in
                meter.acknowledged(since: time, now: world.now)
                isSettled = true
                player.isSettled()
            }
            return true
        }
        func undo(since time: UInt64) -> Bool { false }
        func redo(since time: UInt64) -> Bool { false }
        func goOffline() {}
        func goOnline() { player.isReady() }
        func stall() {}
        func resume() {}
        func close() {}
        func tick(now: UInt64) {}
    }

    /// Returns the clients' figures, and the times of their edits.
    private static func play(
        _ source: String = "loop\nadd x\npause 1m\nend", clients: Int, rate: Double, seconds: UInt64,
        work: UInt64 = 1_300_000, latency: UInt64 = 5_000_000, standstill: Range<UInt64> = 0..<0
    ) throws -> (figures: LoadFigures, madeAt: [[UInt64]], start: UInt64) {
        let world = World(work: work)
        let meter = Meter(clients: clients)
        let script = try Script(parsing: source)
        let start = world.now
        var players: [Player] = []
        var people: [Somebody] = []
        for number in 0..<clients {
            let player = Player(
                ScriptRun(script.roles[0], client: number, seed: 1), number: number, list: "x", VirtualAlarm(world),
                meter, onReady: { _ in }, onFinished: {})
            let somebody = Somebody(
                world, meter, latency: latency,
                standstill: start + standstill.lowerBound..<start + standstill.upperBound)
            somebody.player = player
            player.connect(somebody)
            player.pace = Pace(start: start, rate: rate, client: number, of: clients)
            players.append(player)
            people.append(somebody)
        }
        for player in players { player.begin() }
        world.run(until: start + seconds * 1_000_000_000)
        return (meter.take(), people.map(\.madeAt), start)
    }

    /// A busy loop's timer expires before an edit is due: that edit was once counted as three minutes late.
    @Test(arguments: [0, 200_000, 1_300_000, 4_700_000] as [UInt64])
    func aServerThatAnswersAtOnceIsFast(work: UInt64) throws {
        let (figures, madeAt, start) = try Self.play(clients: 5, rate: 50, seconds: 20, work: work, latency: 100_000)
        #expect((990...1_001).contains(figures.commits))
        #expect(figures.acknowledged.min >= 99_000)
        // The loop's millisecond, and the time that the loop spends on the others.
        #expect(figures.acknowledged.max < 2_000_000 + 5 * work)
        for (client, times) in madeAt.enumerated() {
            for (edit, time) in times.enumerated() {
                let due = start + UInt64(edit) * 100_000_000 + UInt64(client) * 20_000_000
                #expect(time + 1_000_000 > due && time < due + 2_000_000 + 5 * work)
            }
        }
    }

    /// The latency of edits that were due while the server stood still counts from when they were due, though they
    /// could not be made then.
    @Test func waitingForThePreviousEditIsLatency() throws {
        let (figures, madeAt, _) = try Self.play(
            clients: 1, rate: 100, seconds: 10, work: 0, standstill: 2_000_000_000..<4_000_000_000)
        // All thousand are made; the two hundred of the two seconds, and those after them until the backlog is gone,
        // are late.
        #expect((998...1_001).contains(figures.commits) && madeAt[0].count >= figures.commits)
        let late = figures.acknowledged
        #expect((1_990_000_000...2_010_000_000).contains(late.max))
        #expect((1_700_000_000...2_010_000_000).contains(late.valueAtPercentile(98)))
        #expect((990_000_000...1_010_000_000).contains(late.valueAtPercentile(80)))
        #expect(late.valueAtPercentile(50) < 10_000_000)
    }

    /// If the server is too slow for the rate, latencies keep growing.
    @Test func latenciesOfASlowServerGrow() throws {
        let (figures, _, _) = try Self.play(clients: 1, rate: 200, seconds: 10, work: 0, latency: 10_000_000)
        #expect((995...1_001).contains(figures.commits))
        // The last answered edit was due after 5 s.
        #expect((4_950_000_000...5_050_000_000).contains(figures.acknowledged.max))
        #expect((2_450_000_000...2_550_000_000).contains(figures.acknowledged.valueAtPercentile(50)))
    }

    /// If the script itself keeps a client away, nobody is late.
    @Test(arguments: ["offline 700ms", "stall 700ms"])
    func timeAwayIsNotLatency(away: String) throws {
        let (figures, _, _) = try Self.play("loop\nadd x\n\(away)\nend", clients: 2, rate: 10, seconds: 20)
        #expect((40...46).contains(figures.commits))
        #expect(figures.acknowledged.max < 20_000_000)
    }

    @Test func playersTakeTurns() {
        let pace = Pace(start: 1_000_000_000, rate: 10, client: 1, of: 2)
        #expect(pace.due(0) == 1_100_000_000 && pace.due(3) == 1_700_000_000)
        #expect(pace.turn(of: 0, at: 1_000_000_000) == .later(milliseconds: 100))
        #expect(pace.turn(of: 0, at: 1_098_999_999) == .later(milliseconds: 1))
        #expect(pace.turn(of: 0, at: 1_099_500_000) == .now(since: 1_099_500_000))
        #expect(pace.turn(of: 0, at: 1_100_000_000) == .now(since: 1_100_000_000))
        #expect(pace.turn(of: 0, at: 9_000_000_000) == .now(since: 1_100_000_000))
        #expect(pace.turn(of: 3, at: 9_000_000_000) == .now(since: 1_700_000_000))
    }
}
