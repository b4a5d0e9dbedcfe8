import HandCore
import HandSync
import HandWire

/// A server process: a machine, whose effects are carried out in a virtual world. It can be killed at any moment and
/// started again.
final class SimulatedServer {
    unowned let system: System
    private let number: Int
    /// The server's name in a trace.
    let name: String
    private(set) var machine: ServerMachine?
    /// The number of the current process. Events that were scheduled for an earlier process do not happen.
    private(set) var process = 0
    private var links: [Link] = []
    var random: SplitMix64
    private var armed: UInt64?
    /// Whether the disk failed to confirm a flush.
    private var mustEnd = false
    /// Milliseconds that the wall clock has jumped ahead.
    var clockOffset: UInt64 = 0
    /// Milliseconds added to each request to the store.
    var diskDelay: UInt64 = 0
    var isCutOff = false

    private static let epoch: UInt64 = 1_800_000_000_000

    init(_ system: System, number: Int) {
        (self.system, self.number) = (system, number)
        random = SplitMix64(seed: system.schedule.seed &+ UInt64(number) &* 0x3_0001 ^ 0x5E)
        name = system.isShared ? "server \(number + 1)" : "server"
        if system.isShared { clockOffset = UInt64(random.next(below: 20_000)) }
    }

    var isUp: Bool { machine != nil }

    // MARK: The process

    func start() {
        guard machine == nil else { return }
        process += 1
        armed = nil
        mustEnd = false
        machine = ServerMachine(
            limits: system.schedule.limits, program: "simulated", retention: system.schedule.retention,
            serverID: isShared ? UInt64(number) << 32 | UInt64(process) : nil, seed: random.next(), at: time)
        system.trace("\(name) starts")
        system.reach.note(Reach.Server.starts)
        turn()
    }

    /// `kill -9`, or the loss of power: unflushed writes are lost or not.
    func crash() {
        guard machine != nil else { return }
        system.trace("\(name) dies")
        system.reach.note(Reach.Server.dies)
        machine = nil
        if !system.isShared { system.crashStore(&random) }
        for link in exchange(&links, with: []) { link.serverDied() }
        let delay = 1 + UInt64(random.next(below: 2_000))
        system.scheduler.after(delay) { [self] in start() }
    }

    /// SIGTERM: the server writes all commits that it has numbered, and notifies everybody.
    func stop() {
        system.trace("\(name) is asked to stop")
        machine?.stop(at: time)
        turn()
    }

    func accept(_ link: Link) {
        guard let machine else { return }
        links.append(link)
        let connection = machine.accepted(link.serverEnd, at: time)
        let mine = process
        link.up.onBytes = { [unowned self] bytes in
            happened(to: mine) { $0.received(bytes, from: connection, at: time) }
        }
        link.down.onDrain = { [unowned self] in happened(to: mine) { $0.drained(connection, at: time) } }
        link.onServerLoss = { [unowned self] reason in
            links.removeAll { $0 === link }
            happened(to: mine) { $0.ended(connection, reason: reason, at: time) }
        }
        turn()
    }

    /// Passes an event to the machine and ends the turn, unless the machine's process has ended.
    private func happened(to process: Int, _ event: (ServerMachine) -> Void) {
        guard process == self.process, let machine else { return }
        event(machine)
        turn()
    }

    /// Ends the loop's turn, as after every event, and schedules another one if the machine asks for it.
    func turn() {
        guard let machine else { return }
        let hasMore = endTurn(of: machine)
        if mustEnd {
            system.reach.note(Reach.Server.endsAfterFlush)
            return crash()
        }
        if let problem = machine.brokenInvariant() { system.report(.invariant, "\(name): \(problem)") }
        system.checkWork(machine.heaviest)
        if machine.hasStopped {
            self.machine = nil
            links = []
            system.trace("\(name) has stopped")
            system.reach.note(Reach.Server.stops)
            return system.scheduler.after(1 + UInt64(random.next(below: 1_000))) { [self] in start() }
        }
        let mine = process
        if hasMore {
            system.scheduler.after(0) { [self] in if process == mine { turn() } }
        }
        let deadline = machine.deadline
        guard deadline != armed else { return }
        armed = deadline
        system.scheduler.after(deadline > now ? deadline - now : 0) { [self] in
            guard process == mine, self.machine?.deadline == deadline else { return }
            armed = nil
            self.machine?.timeout(at: time)
            turn()
        }
    }

    var now: UInt64 { system.scheduler.now }
    var time: Moment { Moment(now: now, wallClock: Self.epoch + now + clockOffset) }
    private var isShared: Bool { system.isShared }

    // MARK: Effects

    /// Carries out what the machine wants before and after its turn.
    private func endTurn(of machine: ServerMachine) -> Bool {
        carryOutAll(of: machine)
        var hasMore = false
        repeat { hasMore = machine.endTurn(at: time) || hasMore } while carryOutAll(of: machine)
        return hasMore
    }

    /// Returns whether any effect was answered at once.
    @discardableResult
    private func carryOutAll(of machine: ServerMachine) -> Bool {
        var isAnswered = false
        while let effect = machine.nextEffect() {
            if case .identify = effect { isAnswered = true }
            carryOut(effect, of: machine)
        }
        return isAnswered
    }

    private func carryOut(_ effect: ServerMachine.Effect, of machine: ServerMachine) {
        switch effect {
        case .ask(let request): ask(request, for: machine)
        case .compute(let computation): compute(computation)
        case .identify(let hello, let connection):
            // Two users share their allowances; some clients have no user.
            let user = hello.client.low % 3 == 0 ? nil : "user \(hello.client.low % 3)"
            let grant = Grant(access: .everything, user: user)
            machine.identified(connection, saying: hello, as: grant, at: time)
        case .called: machine.accessChanged(at: time) { _, _ in .everything }
        case .tell(let hint): tell(hint)
        case .note(let event): note(event)
        case .end: mustEnd = true
        }
    }

    private func ask(_ request: StoreRequest, for machine: ServerMachine) {
        guard !isShared else { return askShared(request, for: machine) }
        let mine = process
        let disk = system.disk
        system.scheduler.after(UInt64(random.next(below: 3)) + diskDelay / 2) { [self] in
            guard process == mine, self.machine != nil else { return }
            let before = disk.writes
            var reply = request.run(on: system.store)
            let writes = disk.writes
            let flush = writes > before ? 1 + UInt64(random.next(below: system.schedule.flush)) : 0
            system.scheduler.after(flush + diskDelay / 2) { [self] in
                happened(to: mine) { machine in
                    if writes > before, disk.failsFlush {
                        reply = request.run(on: BrokenStore(.syncFailed(path: "virtual disk")))
                    } else if writes > before {
                        disk.flush(writes)
                    }
                    machine.finished(reply, at: time)
                }
            }
        }
    }

    private func compute(_ computation: Computation) {
        system.reach.note(Reach.Server.computes)
        let mine = process
        let result = computation.run()
        system.scheduler.after(UInt64(random.next(below: 20))) { [self] in
            happened(to: mine) { $0.finished(result, at: time) }
        }
    }

    private func note(_ note: ServerNote) {
        system.reach.note(note)
        switch note {
        case .closing(let connection, let code): closing(connection, code)
        case .unsettled(let list, _): system.trace("\(name) does not know what became of its commits of \(list.name)")
        case .reloaded(let list, let error):
            system.trace("\(name) loads \(list.name) anew: \(error)")
            // The store may have forgotten commits that the server has not seen.
            let known = machine?.durable(list.name)?.revision ?? 0
            if known >= system.disk.durable.lists[list.number]?.stored.floor ?? 0 {
                system.report(.order, "\(name) loads \(list.name) anew, which never went back: \(error)")
            }
        default: break
        }
    }

    private func closing(_ connection: Connection, _ code: ErrorCode) {
        system.trace("\(name) closes \(connection.peerDescription): \(code)")
        let expected: Set<ErrorCode> = [
            .replaced, .idleTimeout, .handshakeTimeout, .shuttingDown, .internalError, .tooManyConnections,
        ]
        if !expected.contains(code), !connection.peerDescription.hasPrefix("stranger") {
            system.report(.protocol, "\(connection.peerDescription) is closed with \(code)")
        }
    }
}
