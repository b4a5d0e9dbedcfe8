import EventLoop
import HandCore
import HandSync
import HandWire

/// Carries out the effects of a `ClientMachine`, on the loop's thread. Another thread writes the journal.
///
/// `HandClient` runs an engine on a thread of its own. A program that has a loop can run an engine on it.
package final class ClientEngine: MachineShell {
    let configuration: ClientConfiguration
    let loop: Loop
    private let timer: Timer
    private let journal: JournalQueue?
    private var hook: TurnHook?
    private let driver: MachineDriver
    package var machine: ClientMachine { driver.machine }
    /// The file of the client's journal; nil without one.
    package var journalPath: String? { configuration.journalPath }
    var certificateLifetime: Int? { driver.certificateLifetime }
    var lists: [String: ListFollowers] = [:]
    /// The reasons why lists that were opened are not followed any more.
    var refusals: [String: ClientError] = [:]
    private var answers: [UInt64: (ClientMachine.Answer) -> Void] = [:]
    private(set) var status = ClientMachine.Status.connecting(to: nil)
    /// The time since which the server owes an answer, or has not been reached; nil if the server owes no answer.
    /// Counted from the server's last sign of life.
    package private(set) var awaitingSince: UInt64?
    /// Called at every change of the connection.
    package var onStatus: ((ClientMachine.Status) -> Void)?
    /// Called with the latency in milliseconds.
    package var onLatency: ((UInt64) -> Void)?
    /// Called with the server's messages that do not answer a request.
    package var onWarning: ((String) -> Void)?
    private(set) var isClosed = false
    /// The conditions that are waited for. Each is called after every event until the condition returns true.
    private var waiters: [() -> Bool] = []
    /// The reason why the last write to the journal failed.
    private var keepingProblem: String?
    /// The `HandClient` that gives other threads access to this engine; created at the first need.
    private var client: HandClient?
    private var olderStep: ((Swift.Result<Bool, any Error>) -> Void)?
    /// Callbacks for lists that are being read from the journal.
    var opening: [String: [(Result<Void, any Error>) -> Void]] = [:]

    package init(_ configuration: ClientConfiguration, loop: Loop, journal: ClientJournal?) {
        self.configuration = configuration
        self.loop = loop
        self.journal = journal.map { JournalQueue($0, loop: loop) }
        timer = Timer(loop)
        let machine = ClientMachine(
            client: journal?.client ?? configuration.client, person: configuration.person,
            program: configuration.program, token: configuration.token, seed: configuration.seed,
            journal: journal.map { _ in JournalBuffer() }, persons: configuration.persons, used: journal?.used ?? [:],
            servers: configuration.server.places, list: configuration.list)
        driver = MachineDriver(machine, on: loop, to: configuration.destinations)
        driver.shell = self
        hook = loop.onTurnEnd { [unowned self] in driver.flush() }
    }

    // MARK: Events

    /// Starts connecting. If the engine waits for its next attempt, it makes the attempt now.
    package func start() {
        perform { $0.start() }
    }

    /// Closes everything. Returns the reason why edits are lost when the process ends, or nil if all are kept.
    ///
    /// - Parameter closed: called after the journal is closed; without a journal, at once. If `closed` is given,
    ///   another thread closes the journal. In any case this method waits until the events that are not kept yet are
    ///   written.
    @discardableResult
    package func close(then closed: (() -> Void)? = nil) -> String? {
        guard !isClosed else { return nil }
        isClosed = true
        for list in lists.values { list.finish(.closed) }
        lists = [:]
        perform { $0.stop(reason: "closed") }
        journal?.finish()
        let mark = machine.journalMark
        perform { machine in
            machine.noteMemory()
            machine.flush()
        }
        journal?.finish()
        let loss = machine.keptMark < mark ? keepingProblem : nil
        waiters = []
        hook?.cancel()
        timer.close()
        client?.leave()
        if let journal { journal.close(then: closed) } else { closed?() }
        return loss
    }

    private func rearm() {
        guard !isClosed else { return }
        guard let deadline = machine.deadline else { return timer.stop() }
        timer.start(after: deadline > loop.now ? deadline - loop.now : 0) { [unowned self] in
            driver.tick(now: loop.now)
        }
    }

    // MARK: The journal

    private func keep(_ writes: [JournalWrite]) {
        keepingProblem = nil
        journal?.ask {
            $0.keep(writes)
        } then: { [unowned self] progress in
            keepingProblem = progress.problem
            perform { $0.kept(progress.done, problem: progress.problem, now: loop.now) }
        }
    }

    /// Whether all events are on disk, or cannot be written.
    package var isKept: Bool { machine.keptMark == machine.journalMark || keepingProblem != nil }

    /// Calls `body` with nil when all edits so far are on disk, or with the reason why they cannot be written.
    func whenKept(_ body: @escaping (String?) -> Void) {
        let mark = machine.journalMark
        wait { [unowned self] in
            let isKept = mark <= machine.keptMark
            guard isKept || keepingProblem != nil else { return false }
            body(isKept ? nil : keepingProblem)
            return true
        }
    }

    /// Runs `body` on the journal once the journal has all events so far. Without a journal the answer is `otherwise`.
    func askJournal<Value: Sendable>(
        otherwise: Value, _ body: @escaping @Sendable (ClientJournal) throws -> Value,
        then: @escaping (Result<Value, any Error>) -> Void
    ) {
        guard let journal else { return then(.success(otherwise)) }
        perform { $0.flush() }
        whenKept { problem in
            if let problem { return then(.failure(ClientError.notKept(problem))) }
            journal.ask({ journal in Result { try body(journal) } }, then: then)
        }
    }

    private func takeID() {
        var random = SystemRandomNumberGenerator()
        let fresh = ClientID.random(using: &random)
        journal?.ask {
            (try? $0.take(fresh)) == true ? fresh : nil
        } then: { [unowned self] taken in
            perform { $0.took(taken, now: loop.now) }
        }
    }

    // MARK: Effects

    package func carryOut(_ effect: ClientMachine.Effect) {
        switch effect {
        case .connect, .send, .disconnect: break
        case .keep(let writes): keep(writes)
        case .takeID: takeID()
        case .list(let list, .refused(let code, let message)): end(list, .refused(code, message))
        case .list(let list, .editsWait(let message)): end(list, .editsWait(list: list, message))
        case .list(let list, let event):
            lists[list]?.yield(event)
            guard case .renamed(let name) = event else { break }
            lists[name] = lists.removeValue(forKey: list)
            refusals[list] = .refused(.noSuchList, "'\(list)' is called '\(name)' now")
        case .status(let status):
            self.status = status
            onStatus?(status)
        case .latency(let milliseconds): onLatency?(milliseconds)
        case .answer(let request, let answer): answers.removeValue(forKey: request)?(answer)
        case .warning(_, let message): onWarning?(message)
        }
    }

    private func end(_ list: String, _ reason: ClientError) {
        refusals[list] = reason
        lists.removeValue(forKey: list)?.finish(reason)
    }

    /// The reason why the client no longer tries to connect, or nil while the client tries.
    var errorGivenUp: ClientError? {
        if case .offline(let reason, retryIn: nil) = status { error(reason) } else { nil }
    }

    /// Returns the error of requests while the client is offline for a reason.
    func error(_ reason: String) -> ClientError {
        isClosed ? .closed : machine.refusal.map { .refused($0, reason) } ?? .unreachable(reason)
    }

    /// Sends a request to the server. If there is no connection, the answer is `.disconnected` at once.
    package func ask(_ message: (UInt64) -> UpMessage, _ answer: @escaping (ClientMachine.Answer) -> Void) {
        begin({ $0.ask(message) }, answer)
    }

    /// Makes the machine begin a request that ends with an answer.
    func begin(
        _ ask: (inout ClientMachine) -> UInt64?,
        _ answer: @escaping (ClientMachine.Answer) -> Void
    ) {
        guard let request = perform(ask) else { return answer(.disconnected) }
        answers[request] = answer
    }

    /// Passes an event to the machine, carries out the effects, and notifies followers of changes.
    package func perform<Result>(_ body: (inout ClientMachine) throws -> Result) rethrows -> Result {
        try driver.perform(body)
    }

    package func heard(_ event: ServerConnection.Event) {
        if case .bytes = event { awaitingSince = nil }
    }

    package func carriedOut() {
        awaitingSince = machine.awaitsAnswer ? awaitingSince ?? loop.now : nil
        for followers in lists.values { followers.publish() }
        let waiting = waiters
        waiters = []
        waiters = waiting.filter { !$0() } + waiters
        endTurn()
        rearm()
    }

    /// Undoes or redoes an edit from before a followed list's history, and calls `body` with whether there was such an
    /// edit. Of several calls, only the last one is answered.
    package func takeOlder(
        _ step: UndoStep, on name: String, then body: @escaping (Swift.Result<Bool, any Error>) -> Void
    ) throws {
        let client = try client ?? HandClient(self)
        self.client = client
        olderStep = body
        Task {
            let outcome: Swift.Result<Bool, any Error>
            do { outcome = .success(try await client.takeOlder(step, on: name)) } catch { outcome = .failure(error) }
            client.post { engine in
                engine.olderStep?(outcome)
                engine.olderStep = nil
            }
        }
    }

    // MARK: Waiting

    /// Calls `isOver` now and after each event until it returns true.
    func wait(_ isOver: @escaping () -> Bool) {
        if isOver() { endTurn() } else { waiters.append(isOver) }
    }

    /// Starts a new settlement for each list whose last settlement was taken.
    private func endTurn() {
        for followers in lists.values { followers.endTurn() }
    }

    /// Answers as soon as `value` returns a value or throws.
    func wait<Value: Sendable>(_ reply: Reply<Value>, for value: @escaping () throws -> Value?) {
        wait {
            do {
                guard let value = try value() else { return false }
                reply.succeed(value)
            } catch {
                reply.fail(error)
            }
            return true
        }
    }
}
