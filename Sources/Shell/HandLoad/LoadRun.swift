import EventLoop

/// One load test, from creating its lists to the final comparison, in one process on one loop.
package final class LoadRun {
    /// A report while the test runs.
    package enum Progress: Sendable {
        case filling
        case connecting(Int, of: Int)
        /// All clients are connected; the work begins when the call with this report returns.
        case ready
        case second(LoadResult.Sample)
        /// The work is over; the clients catch up with the server.
        case converging(Int, of: Int)
        /// All edits are answered; the lists are compared when the call with this report returns.
        case settled
    }

    enum Phase {
        case preparing, connecting, working, settling, comparing, over
    }

    let plan: LoadPlan
    let loop: Loop
    let meter: Meter
    let progress: (Progress) -> Void
    private let timer: Timer
    private var signals: [Signal] = []
    /// How long the clients may take to settle.
    var timeout: Double
    var phase = Phase.preparing
    var seeder: ListSeeder?
    var players: [Player] = []
    var ready = 0
    var finished = 0
    var result: LoadResult
    private var failure: LoadError?
    /// The server's figures when the work began.
    private var serverBefore: [String: Double] = [:]
    var onlyMakesLists = false
    /// The start of the phase, in nanoseconds.
    var phaseStart: UInt64 = 0
    private var workStart: UInt64 = 0
    private var lastSample: UInt64 = 0
    /// How many bytes had arrived while connecting, and when their number last grew.
    private var heard = 0
    private var lastHeard: UInt64 = 0

    /// The milliseconds between two ticks.
    static let tick: UInt64 = 50
    /// Seconds to wait for a server that does not answer.
    private static let connectTimeout = 15.0

    /// - Parameters:
    ///   - onlyMakesLists: whether to end when the lists are made.
    ///   - progress: called on the calling thread.
    @discardableResult package static func run(
        _ plan: LoadPlan, onlyMakesLists: Bool = false, progress: @escaping (Progress) -> Void
    ) throws -> LoadResult {
        let loop = try Loop()
        let run = LoadRun(plan, loop, progress)
        run.onlyMakesLists = onlyMakesLists
        for number in plan.endings {
            run.signals.append(try Signal(loop, number) { [unowned run] in run.endEarly() })
        }
        run.start()
        loop.run()
        // Closing cancels pending operations, whose callbacks still need the run.
        withExtendedLifetime(run) { loop.close() }
        if let failure = run.failure { throw failure }
        return run.result
    }

    private init(_ plan: LoadPlan, _ loop: Loop, _ progress: @escaping (Progress) -> Void) {
        self.plan = plan
        self.loop = loop
        self.progress = progress
        timeout = plan.timeout
        meter = Meter(clients: plan.own.count)
        timer = Timer(loop)
        result = LoadResult(seed: plan.seed, clients: plan.own.count, rate: plan.rate)
    }

    func seconds(since start: UInt64) -> Double { Double(Loop.monotonicNanoseconds - start) / 1e9 }

    // MARK: Preparing

    private func start() {
        phaseStart = Loop.monotonicNanoseconds
        timer.start(after: Self.tick, repeating: Self.tick) { [unowned self] in tick() }
        findServer()
    }

    func later(_ milliseconds: UInt64, _ body: @escaping () -> Void) {
        let timer = Timer(loop)
        timer.start(after: milliseconds) {
            timer.close()
            body()
        }
    }

    // MARK: Working

    func isReady(_ player: Player) {
        ready += 1
        if ready == players.count { result.connected = seconds(since: phaseStart) }
        if phase == .working { return begin(player) }
        guard phase == .connecting, ready == players.count || plan.ramp > 0 else { return }
        phase = .working
        progress(.ready)
        // Latencies measured while connecting do not count for the work.
        var before = meter.take()
        before.acknowledged.reset()
        before.seen.reset()
        result.total.add(before)
        workStart = Loop.monotonicNanoseconds
        lastSample = workStart
        askServer { [unowned self] figures in
            switch figures {
            case .success(let figures): serverBefore = figures
            case .failure(let failure): fail(failure)
            case nil: break
            }
        }
        for player in players { begin(player) }
    }

    private func begin(_ player: Player) {
        // A client that connects later also starts later; nothing was due before.
        player.pace = plan.rate.map {
            Pace(start: Loop.monotonicNanoseconds, rate: $0, client: player.number, of: plan.clients)
        }
        player.begin()
    }

    private func sample() {
        let figures = meter.take()
        let sample = LoadResult.Sample(
            at: seconds(since: workStart), seconds: seconds(since: lastSample), clients: ready, figures: figures)
        result.samples.append(sample)
        result.total.add(figures)
        lastSample = Loop.monotonicNanoseconds
        progress(.second(sample))
    }

    // MARK: Time

    private func tick() {
        seeder?.tick(now: loop.now)
        for player in players { player.tick(now: loop.now) }
        switch phase {
        case .preparing:
            if seeder?.isOnline != true, seconds(since: phaseStart) > Self.connectTimeout {
                fail("the server does not answer")
            }
        case .connecting: waitForAll()
        case .working:
            if seconds(since: lastSample) >= 1 { sample() }
            if seconds(since: workStart) >= plan.seconds || finished == players.count { endWork() }
        case .settling: waitForSettled()
        case .comparing, .over: break
        }
    }

    /// Does not give up while bytes arrive: a hundred copies of a long list take a while.
    private func waitForAll() {
        if ready < players.count { progress(.connecting(ready, of: players.count)) }
        if meter.figures.bytesReceived > heard {
            heard = meter.figures.bytesReceived
            lastHeard = Loop.monotonicNanoseconds
        }
        guard seconds(since: max(phaseStart, lastHeard)) > Self.connectTimeout + plan.ramp else { return }
        let reason = meter.problems.first.map { ": \($0)" } ?? ""
        fail("only \(ready) of \(players.count) clients could connect\(reason)")
    }

    /// Ends the test with what was measured so far.
    private func endEarly() {
        switch phase {
        case .preparing, .connecting:
            fail(LoadError(description: "the test was ended before the clients began to work", reason: .ended))
        case .working: endWork()
        case .settling, .comparing: timeout = 0
        case .over: break
        }
    }

    private func endWork() {
        result.seconds = seconds(since: workStart)
        for player in players { player.stop() }
        if seconds(since: lastSample) > 0.01 { sample() }
        phase = .settling
        phaseStart = Loop.monotonicNanoseconds
    }

    private func waitForSettled() {
        let settled = players.count { $0.client?.isSettled == true }
        progress(.converging(settled, of: players.count))
        guard settled == players.count || seconds(since: phaseStart) > timeout else { return }
        phase = .comparing
        progress(.settled)
        phaseStart = Loop.monotonicNanoseconds
        askServer { [unowned self] figures in
            switch figures {
            case .success(let after): result.server = MeasuredServer(from: serverBefore, to: after)
            // What the clients have measured counts all the same.
            case .failure(let failure): result.problems.append("\(failure)")
            case nil: break
            }
            compare(plan.script.names[...])
        }
    }

    /// Reads the server's own figures; nil if the plan has no address for them.
    private func askServer(_ then: @escaping (Result<[String: Double], LoadError>?) -> Void) {
        guard let status = plan.status else { return then(nil) }
        Scrape.figures(loop, at: status) { [weak self] figures in
            if self?.phase != .over { then(figures) }
        }
    }

    // MARK: The end

    func finish() {
        // Late answers count for the latencies, but not for the rates.
        let late = meter.take()
        result.total.errors.merge(late.errors, uniquingKeysWith: +)
        result.total.missed += late.missed
        result.total.acknowledged.add(late.acknowledged)
        result.total.seen.add(late.seen)
        result.problems += meter.problems
        end()
    }

    func fail(_ reason: String) { fail(LoadError(description: reason)) }

    func fail(_ failure: LoadError) {
        if phase == .over { return }
        self.failure = failure
        end()
    }

    func end() {
        phase = .over
        for player in players { player.close() }
        for signal in signals { signal.close() }
        seeder?.close()
        timer.close()
        loop.stop()
    }
}

package struct LoadError: Error, CustomStringConvertible {
    package let description: String
    package var reason = Reason.unreachable

    package enum Reason: Sendable {
        case unreachable
        /// The user may not do it.
        case notAllowed
        /// The server refused something else.
        case refused
        /// The test would have changed items that no load test made.
        case conflict
        /// A signal has ended the test before there was anything to tell.
        case ended
    }
}
