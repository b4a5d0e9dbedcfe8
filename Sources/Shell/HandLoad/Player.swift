import EventLoop
import HandScript

/// Has one client do what its script says, one step after the other.
final class Player: ParticipantDelegate {
    /// Shared by all players of a process.
    struct Pace {
        /// When the first edit of all is due, in nanoseconds.
        let start: UInt64
        /// Nanoseconds between two edits of one client.
        let interval: Double
        let clients: Int

        /// When a client's edit is due, its first being number 0.
        func due(_ edit: Int, client: Int) -> UInt64 {
            start + UInt64(interval * (Double(edit) + Double(client) / Double(clients)))
        }
    }

    private enum State {
        /// Not connected for the first time. → `idle`
        case starting
        /// Ready to begin. → `working`
        case idle
        /// On its way from step to step.
        case working
        /// Until what was edited is answered. → `working`
        case settling
        /// Until a time. → `working`
        case waiting
        /// Until a time, deaf. → `working`
        case stalled
        /// Until it is connected again. → `working`
        case returning
        /// Until it is as far as others were, or too much time has passed. → `working`
        case converging(revision: Int, until: UInt64)
        case finished
    }

    let number: Int
    let list: String
    private(set) var participant: (any Participant)!
    private let meter: Meter
    private let timer: Timer
    private let loop: Loop
    private var run: ScriptRun
    private var state = State.starting
    /// When the time offline ends, in the loop's milliseconds; nil while online.
    private var offlineUntil: UInt64?
    private var edits = 0
    var pace: Pace?
    private let onReady: (Player) -> Void
    private let onFinished: (Player) -> Void

    /// Milliseconds that `expect converged` may take.
    private static let patience: UInt64 = 30_000

    init(
        _ run: ScriptRun, number: Int, list: String, loop: Loop, _ meter: Meter,
        onReady: @escaping (Player) -> Void, onFinished: @escaping (Player) -> Void
    ) {
        self.run = run
        self.number = number
        self.list = list
        self.loop = loop
        self.meter = meter
        self.onReady = onReady
        self.onFinished = onFinished
        timer = Timer(loop)
    }

    func connect(_ participant: any Participant) {
        self.participant = participant
        participant.start()
    }

    /// Starts with the first step; to be called once it is ready.
    func begin() {
        guard case .idle = state else { return }
        go()
    }

    /// Makes no further step. Who is offline comes back.
    func stop() {
        if case .finished = state { return }
        timer.stop()
        if offlineUntil != nil { participant.goOnline() }
        if case .stalled = state { participant.goOn() }
        offlineUntil = nil
        state = .finished
    }

    func close() {
        timer.close()
        participant?.close()
    }

    func tick(now: UInt64) {
        participant?.tick(now: now)
        guard case .converging(let revision, let until) = state else { return }
        if participant.isSettled && participant.revision >= revision { return go() }
        guard now >= until else { return }
        meter.failed(
            "not converged",
            "client \(number + 1) is at revision \(participant.revision) of '\(list)', others were at \(revision) "
                + "\(Self.patience / 1000) s ago")
        go()
    }

    // MARK: Events

    func isReady() {
        switch state {
        case .starting:
            state = .idle
            onReady(self)
        case .returning: go()
        default: break
        }
    }

    func isSettled() {
        meter.reached(participant.revision, of: list)
        if case .settling = state { go() }
    }

    func hasLost(_ reason: String) {
        if case .starting = state { return meter.failed("not connected", "client \(number + 1): \(reason)") }
        meter.failed("connection lost", "client \(number + 1): \(reason)")
    }

    // MARK: Steps

    /// Makes steps until there is something to wait for.
    private func go() {
        state = .working
        while case .working = state { take(run.next()) }
    }

    private func take(_ step: ScriptRun.Step) {
        switch step {
        case .edit, .undo, .redo: edit(step)
        case .pause(let milliseconds): if pace == nil { wait(milliseconds) }
        case .goOffline(let milliseconds):
            offlineUntil = loop.now + UInt64(milliseconds)
            participant.goOffline()
        case .goOnline:
            let end = offlineUntil ?? 0
            wait(Int(end > loop.now ? end - loop.now : 0)) { [unowned self] in comeBack() }
        case .disconnect:
            participant.goOffline()
            comeBack()
        case .stall(let milliseconds):
            participant.stall()
            wait(milliseconds) { [unowned self] in
                participant.goOn()
                go()
            }
            state = .stalled
        case .expectConverged:
            state = .converging(revision: meter.newest(of: list), until: loop.now + Self.patience)
        case .finished:
            state = .finished
            onFinished(self)
        }
    }

    private func comeBack() {
        offlineUntil = nil
        state = .returning
        participant.goOnline()
    }

    /// Makes an edit, now or when it is due.
    private func edit(_ step: ScriptRun.Step) {
        guard let pace, offlineUntil == nil else { return perform(step, since: Loop.monotonicNanoseconds) }
        let due = pace.due(edits, client: number)
        let now = Loop.monotonicNanoseconds
        guard due > now else { return perform(step, since: due) }
        wait(Int((due - now + 999_999) / 1_000_000)) { [unowned self] in
            state = .working
            perform(step, since: due)
            if case .working = state { go() }
        }
    }

    private func perform(_ step: ScriptRun.Step, since time: UInt64) {
        let isDone: Bool
        switch step {
        case .edit(let edit): isDone = participant.edit(edit, since: time)
        case .undo: isDone = participant.undo(since: time)
        case .redo: isDone = participant.redo(since: time)
        default: return
        }
        if isDone { meter.edited() }
        edits += 1
        // Where nothing can be done a loop would never wait.
        if !isDone { return wait(1) }
        if offlineUntil == nil, !participant.isSettled { state = .settling }
    }

    private func wait(_ milliseconds: Int, then: (() -> Void)? = nil) {
        state = .waiting
        timer.start(after: UInt64(milliseconds)) { [unowned self] in
            if let then { then() } else { go() }
        }
    }
}
