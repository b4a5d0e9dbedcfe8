import EventLoop
import HandClient
import HandCore
import HandSync
import HandWire

/// A client that holds the whole list, as every real client does, and checks it against the digest of each commit.
final class FullClient: LoadClient, MachineShell {
    private let number: Int
    private let list: String
    private let meter: Meter
    private unowned let player: Player
    private let driver: MachineDriver
    private var random: SplitMix64
    private var isStalled = false
    private var wasLive = false
    private var wasSettled = true
    /// When the unanswered edits were made, the oldest first.
    private var madeAt: [UInt64] = []
    /// How many of the unanswered edits are in flight.
    private var inFlight = 0
    private var submitted: SequenceNumber = 0

    init(
        _ player: Player, _ loop: Loop, _ plan: LoadPlan, to servers: ServerOrder, _ meter: Meter, seed: UInt64
    ) {
        self.player = player
        (number, list) = (player.number, player.list)
        self.meter = meter
        random = SplitMix64(seed: seed)
        let id = ClientID.random(using: &random)
        let machine = ClientMachine(
            client: id, person: "load \(number + 1)", program: "hand load", token: plan.token, seed: random.next(),
            servers: servers.names, list: servers.list)
        driver = MachineDriver(machine, on: loop, to: servers.destinations)
        driver.shell = self
    }

    private var machine: ClientMachine { driver.machine }
    private var replica: Replica? { machine.subscriptions[list]?.replica }
    var isSettled: Bool { replica?.hasPending != true && replica?.inFlight == nil }
    var revision: Int { replica?.revision ?? 0 }
    var digest: UInt64? { replica?.confirmed.digest }

    func start() {
        driver.perform { machine in
            machine.open(list)
            machine.start()
        }
    }

    func close() {
        driver.perform { $0.stop(reason: "the test is over") }
    }

    func goOffline() {
        driver.perform { $0.stop(reason: "offline") }
    }

    /// Edits made offline could not be answered before now, so their latency counts from here.
    func goOnline() {
        let now = Loop.monotonicNanoseconds
        madeAt = madeAt.map { _ in now }
        driver.perform { $0.start() }
    }

    func stall() {
        isStalled = true
        driver.stopReading()
    }

    func resume() {
        isStalled = false
        driver.resumeReading()
    }

    func tick(now: UInt64) {
        if !isStalled { driver.tick(now: now) }
    }

    // MARK: Editing

    func edit(_ edit: ScriptRun.Edit, since time: UInt64) -> Bool {
        guard let view = replica?.view,
            let delta = edit.delta(count: view.count, itemID: .scripted(using: &random), item: { view[$0] })
        else { return false }
        return change(since: time) { machine in
            try machine.edit(list, delta)
            return true
        }
    }

    func undo(since time: UInt64) -> Bool {
        change(since: time) { try $0.take(.undo, list) }
    }

    func redo(since time: UInt64) -> Bool {
        change(since: time) { try $0.take(.redo, list) }
    }

    private func change(since time: UInt64, _ body: (inout ClientMachine) throws -> Bool) -> Bool {
        madeAt.append(time)
        return driver.perform { machine in
            let isDone = (try? body(&machine)) ?? false
            if !isDone { madeAt.removeLast() }
            return isDone
        }
    }

    // MARK: Effects

    func heard(_ event: ServerConnection.Event) {
        switch event {
        case .bytes(let bytes): meter.received(bytes: bytes.count, commits: 0)
        case .lost(let reason): player.hasLost(reason)
        case .unanswered: player.hasLost(LightClient.noAnswer)
        case .found, .opened, .drained: break
        }
    }

    func carryOut(_ effect: ClientMachine.Effect) {
        switch effect {
        case .list(_, .changed(_, let update)):
            if case .commit(let commit) = update.cause { saw(commit) }
            for notice in update.notices { note(notice) }
        case .status(.online): meter.connected()
        case .list(_, .refused(let code, let text)): meter.failed("\(code)", "client \(number + 1): \(text)")
        case .warning(let code, let text): meter.failed("\(code)", "client \(number + 1): \(text)")
        case .connect, .send, .disconnect, .keep, .takeID, .status, .list, .latency, .answer: break
        }
    }

    private func saw(_ commit: Commit) {
        meter.received(bytes: 0, commits: 1)
        if commit.author != machine.author, meter.samples(revision: commit.revision, client: number) {
            meter.saw(author: commit.author, sequence: commit.sequence, now: Loop.monotonicNanoseconds)
        }
    }

    private func note(submission: Replica.InFlight?) {
        guard let submission, let author = machine.author, let first = madeAt.first else { return }
        inFlight = submission.count
        if submission.sequence != submitted { meter.submitted(submission.sequence, by: author, at: first) }
        submitted = submission.sequence
    }

    private func note(_ notice: Replica.Notice) {
        switch notice {
        case .acknowledged:
            let now = Loop.monotonicNanoseconds
            if let first = madeAt.first { meter.acknowledged(since: first, now: now) }
            forget()
        case .rejected(let reason, _, _):
            meter.failed("rejected: \(reason.name)", "client \(number + 1): \(reason)")
            forget()
        case .diverged(let revision):
            meter.failed(
                LoadResult.diverged,
                "client \(number + 1) diverged at revision \(revision) of '\(list)': after that commit its digest "
                    + "differs from the server's")
        case .superseded, .keptWords, .usedTwice, .restored: break
        }
    }

    /// Drops the times of the edits that have been answered.
    private func forget() {
        madeAt.removeFirst(min(max(1, inFlight), madeAt.count))
        inFlight = 0
    }

    func carriedOut() {
        note(submission: replica?.inFlight)
        meter.sent(bytes: driver.flush())
        let (wasLive, wasSettled) = (wasLive, wasSettled)
        // Both flags are set before the player is called, because the player may edit at once.
        self.wasLive = machine.subscriptions[list]?.isLive == true
        self.wasSettled = isSettled
        if self.wasLive && !wasLive { player.isReady() }
        if self.wasSettled && !wasSettled { player.isSettled() }
    }
}
