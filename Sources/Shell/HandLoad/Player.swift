/// Makes one client follow its script, step by step.
package final class Player {
    private enum State {
        /// Not connected yet. → `idle`
        case starting
        /// Connected, and waiting for `begin`. → `working`
        case idle
        /// Taking steps.
        case working
        /// Waiting until the server has answered the edit. → `working`
        case settling
        /// Waiting for some time. → `working`
        case waiting
        /// Waiting for some time without reading. → `working`
        case stalled
        /// Waiting until the client is connected again. → `working`
        case returning
        /// Waiting until the client reaches a revision that others had, or gives up. → `working`
        case converging(revision: Int, until: UInt64)
        case finished
    }

    let number: Int
    let list: String
    private(set) var client: (any LoadClient)!
    private let meter: Meter
    private let alarm: any Alarm
    private var run: ScriptRun
    private var state = State.starting
    /// When the time offline ends, in nanoseconds; nil while online.
    private var offlineUntil: UInt64?
    private var edits = 0
    /// Set if edits have due times.
    package var pace: Pace?
    private let onReady: (Player) -> Void
    private let onFinished: () -> Void

    /// How many seconds `expect converged` may take.
    private static let timeout: UInt64 = 30

    package init(
        _ run: ScriptRun, number: Int, list: String, _ alarm: any Alarm, _ meter: Meter,
        onReady: @escaping (Player) -> Void, onFinished: @escaping () -> Void
    ) {
        self.run = run
        self.number = number
        self.list = list
        self.alarm = alarm
        self.meter = meter
        self.onReady = onReady
        self.onFinished = onFinished
    }

    package func connect(_ client: any LoadClient) {
        self.client = client
        client.start()
    }

    /// Takes the first step, if the client is ready.
    package func begin() {
        guard case .idle = state else { return }
        go()
    }

    /// Takes no further step. A client that is offline goes online again. Edits that were due but not made count as
    /// waiting until now.
    package func stop() {
        if case .finished = state { return }
        alarm.stop()
        if let pace, offlineUntil == nil {
            let now = alarm.now
            while case .now(let since) = pace.turn(of: edits, at: now) {
                meter.waited(since: since, now: now)
                edits += 1
            }
        }
        if offlineUntil != nil { client.goOnline() }
        if case .stalled = state { client.resume() }
        offlineUntil = nil
        state = .finished
    }

    func close() {
        alarm.close()
        client?.close()
    }

    /// - Parameter now: the loop's milliseconds.
    func tick(now: UInt64) {
        client?.tick(now: now)
        guard case .converging(let revision, let until) = state else { return }
        if client.isSettled && client.revision >= revision { return go() }
        guard alarm.now >= until else { return }
        meter.failed(
            "not converged",
            "client \(number + 1) is at revision \(client.revision) of '\(list)', others were at \(revision) "
                + "\(Self.timeout) s ago")
        go()
    }

    // MARK: Events

    /// Called when the client is connected and has the list.
    package func isReady() {
        switch state {
        case .starting:
            state = .idle
            onReady(self)
        case .returning: go()
        default: break
        }
    }

    /// Called when the client's edits are acknowledged or refused.
    package func isSettled() {
        meter.reached(client.revision, of: list)
        if case .settling = state { go() }
    }

    func hasLost(_ reason: String) {
        if case .starting = state { return meter.failed("not connected", "client \(number + 1): \(reason)") }
        meter.failed("connection lost", "client \(number + 1): \(reason)")
    }

    // MARK: Steps

    /// Takes steps until there is something to wait for.
    private func go() {
        state = .working
        while case .working = state { take(run.next()) }
    }

    private func take(_ step: ScriptRun.Step) {
        switch step {
        case .edit, .undo, .redo: edit(step)
        case .pause(let milliseconds): if pace == nil { wait(milliseconds) }
        case .goOffline(let milliseconds):
            offlineUntil = alarm.now + UInt64(milliseconds) * 1_000_000
            pace?.delay(by: milliseconds)
            client.goOffline()
        case .goOnline:
            let now = alarm.now
            wait(Int((max(offlineUntil ?? 0, now) - now) / 1_000_000)) { [unowned self] in comeBack() }
        case .disconnect:
            client.goOffline()
            comeBack()
        case .stall(let milliseconds):
            pace?.delay(by: milliseconds)
            client.stall()
            wait(milliseconds) { [unowned self] in
                client.resume()
                go()
            }
            state = .stalled
        case .expectConverged:
            state = .converging(revision: meter.newest(of: list), until: alarm.now + Self.timeout * 1_000_000_000)
        case .finished:
            state = .finished
            onFinished()
        }
    }

    private func comeBack() {
        offlineUntil = nil
        state = .returning
        client.goOnline()
    }

    /// Makes an edit now, or when it is due.
    private func edit(_ step: ScriptRun.Step) {
        let now = alarm.now
        guard let pace, offlineUntil == nil else { return perform(step, since: now) }
        switch pace.turn(of: edits, at: now) {
        case .now(let since): perform(step, since: since)
        // The alarm may ring early because the loop's clock lags; then `edit` waits for the rest.
        case .later(let milliseconds):
            wait(milliseconds) { [unowned self] in
                state = .working
                edit(step)
                if case .working = state { go() }
            }
        }
    }

    private func perform(_ step: ScriptRun.Step, since time: UInt64) {
        let isDone: Bool
        switch step {
        case .edit(let edit): isDone = client.edit(edit, since: time)
        case .undo: isDone = client.undo(since: time)
        case .redo: isDone = client.redo(since: time)
        case .pause, .goOffline, .goOnline, .disconnect, .stall, .expectConverged, .finished: return
        }
        if isDone { meter.edited() }
        edits += 1
        // Without a pause, a loop that can do nothing would never yield.
        if !isDone { return wait(1) }
        if offlineUntil == nil, !client.isSettled { state = .settling }
    }

    private func wait(_ milliseconds: Int, then: (() -> Void)? = nil) {
        state = .waiting
        alarm.start(after: UInt64(milliseconds)) { [unowned self] in
            if let then { then() } else { go() }
        }
    }
}
