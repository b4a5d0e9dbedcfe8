import EventLoop
import HandFormats
import HandSync
import HandWire

/// A client's machine with its connection, its journal and its timer, on a loop's thread: what the screens and
/// `HandClient` have in common. Another thread writes the journal.
///
/// The owner calls `flush` at the end of each turn of the loop.
package final class JournaledClient: MachineShell {
    package let configuration: ClientConfiguration
    package let loop: Loop
    /// Gets the effects that are about lists and the connection.
    package weak var shell: (any MachineShell)?
    private let driver: MachineDriver
    private let journal: JournalQueue?
    private let timer: Timer
    package private(set) var isClosed = false
    /// The time since which the server owes an answer, or has not been reached; nil if the server owes no answer.
    /// Counted from the server's last sign of life.
    package private(set) var awaitingSince: UInt64?
    /// Callbacks for requests, by their numbers.
    private var answers: [RequestNumber: (ClientMachine.Answer) -> Void] = [:]
    /// Callbacks for lists that are being read from the journal.
    private var opening: [String: [(Result<Void, any Error>) -> Void]] = [:]
    /// Callbacks for marks that the journal has not reached, in order.
    private var marks: [(mark: Int, then: (String?) -> Void)] = []
    /// The reason why the last write to the journal failed.
    private var keepingProblem: String?

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
    }

    package var machine: ClientMachine { driver.machine }
    package var certificateLifetime: Int? { driver.certificateLifetime }

    /// Starts connecting. If the client waits for its next attempt, it makes the attempt now.
    package func start() { perform { $0.start() } }

    /// Passes an event to the machine, and carries out the effects.
    package func perform<Result>(_ body: (inout ClientMachine) throws -> Result) rethrows -> Result {
        try driver.perform(body)
    }

    /// Makes an edit.
    ///
    /// - Throws: `ClientError.notMade`.
    package func edit<Result>(_ body: (inout ClientMachine) throws -> Result) throws -> Result {
        do { return try perform(body) } catch let error as Replica.EditError { throw ClientError.notMade(error) }
    }

    /// Sends the collected bytes.
    package func flush() { driver.flush() }

    /// Closes everything. Returns the reason why edits are lost when the process ends, or nil if all are kept.
    ///
    /// - Parameter closed: called after the journal is closed; without a journal, at once. If `closed` is given,
    ///   another thread closes the journal. In any case this method waits until the events that are not kept yet are
    ///   written.
    @discardableResult
    package func close(then closed: (() -> Void)? = nil) -> String? {
        guard !isClosed else { return nil }
        isClosed = true
        perform { $0.stop(reason: "closed") }
        journal?.finish()
        let mark = machine.journalMark
        perform { machine in
            machine.noteMemory()
            machine.flush()
        }
        journal?.finish()
        let loss = machine.keptMark < mark ? keepingProblem : nil
        marks = []
        timer.close()
        if let journal { journal.close(then: closed) } else { closed?() }
        return loss
    }

    // MARK: Effects

    package func carryOut(_ effect: ClientMachine.Effect) {
        switch effect {
        case .connect, .send, .disconnect: break
        case .keep(let writes): keep(writes)
        case .takeID: takeID()
        case .answer(let request, let answer): answers.removeValue(forKey: request)?(answer)
        case .list, .status, .latency, .warning: shell?.carryOut(effect)
        }
    }

    package func heard(_ event: ServerConnection.Event) {
        if case .bytes = event { awaitingSince = nil }
    }

    package func carriedOut() {
        awaitingSince = machine.awaitsAnswer ? awaitingSince ?? loop.now : nil
        shell?.carriedOut()
        guard !isClosed else { return }
        guard let deadline = machine.deadline else { return timer.stop() }
        timer.start(after: deadline > loop.now ? deadline - loop.now : 0) { [unowned self] in
            driver.tick(now: loop.now)
        }
    }

    // MARK: Requests

    /// Makes the machine send a request, and calls `then` with the answer: at once with `other` if the machine sends
    /// none, because there is no connection.
    package func ask(
        _ ask: (inout ClientMachine) -> RequestNumber?,
        orElse other: ClientMachine.Answer = .disconnected(nil, mayBeDone: false),
        then: @escaping (ClientMachine.Answer) -> Void
    ) {
        let request = perform { machine in
            let request = ask(&machine)
            // A request that no server can read is answered as soon as it is made.
            if let request { answers[request] = then }
            return request
        }
        if request == nil { then(other) }
    }

    /// Sends requests until all pages have arrived. Calls `then` with them, and with the reason if a request failed;
    /// before that, calls `progress` after each page.
    package func askAll<Pages: PagedRequest>(
        _ pages: Pages, progress: @escaping (Pages) -> Void = { _ in }, then: @escaping (Pages, String?) -> Void
    ) {
        guard let request = pages.request else { return then(pages, nil) }
        ask {
            $0.ask(request)
        } then: { [unowned self] answer in
            if let failure = answer.failure { return then(pages, failure) }
            var pages = pages
            pages.take(answer)
            if pages.request != nil { progress(pages) }
            askAll(pages, progress: progress, then: then)
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
            answerMarks()
        }
    }

    /// Whether all events are on disk, or cannot be written.
    package var isKept: Bool { machine.keptMark == machine.journalMark || keepingProblem != nil }

    /// Whether the disk has refused something that only this process has.
    package var hasUnkept: Bool { machine.keptMark < machine.journalMark && keepingProblem != nil }

    /// Calls `then` with nil when all events so far are on disk, or with the reason why they cannot be written.
    func whenKept(_ then: @escaping (String?) -> Void) {
        marks.append((machine.journalMark, then))
        answerMarks()
    }

    private func answerMarks() {
        while let (mark, then) = marks.first, mark <= machine.keptMark || keepingProblem != nil {
            marks.removeFirst()
            then(mark <= machine.keptMark ? nil : keepingProblem)
        }
    }

    /// Runs `body` on the journal once the journal has all events so far. Without a journal the answer is `otherwise`.
    package func askJournal<Value: Sendable>(
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

    /// Waits until the journal has answered everything that it was asked.
    package func finishJournal() { journal?.finish() }

    private func takeID() {
        var random = SystemRandomNumberGenerator()
        let fresh = ClientID.random(using: &random)
        journal?.ask {
            (try? $0.take(fresh)) == true ? fresh : nil
        } then: { [unowned self] taken in
            perform { $0.took(taken, now: loop.now) }
        }
    }

    // MARK: Lists

    /// Follows a list, starting from its kept copy or from nothing.
    package func open(_ name: String, from kept: ClientJournal.Kept? = nil) {
        guard !isClosed else { return }
        perform { machine in
            machine.open(
                name, from: kept?.replica, keptEvents: kept?.events ?? 0,
                isJournaled: configuration.keepsLists || kept != nil)
        }
    }

    /// Reads the kept copy of a list, and follows the list from there, unless it is followed already. If the
    /// configuration does not keep lists, the copy is read only if edits wait in it.
    package func follow(_ name: String, _ then: @escaping (Result<Void, any Error>) -> Void) {
        if state(of: name) != nil { return then(.success(())) }
        opening[name, default: []].append(then)
        guard opening[name]?.count == 1 else { return }
        askJournal(otherwise: nil) { [configuration] journal in
            try configuration.keepsLists || journal.mayHavePending(name) ? journal.kept(name) : nil
        } then: { [unowned self] outcome in
            let waiting = opening.removeValue(forKey: name) ?? []
            if case .success(let kept) = outcome { open(name, from: kept) }
            for body in waiting { body(outcome.map { _ in }) }
        }
    }

    /// Returns the state of a followed list.
    package func state(of name: String) -> ListState? { machine.subscriptions[name]?.state }

    package func isFollowed(_ name: String) -> Bool { machine.subscriptions[name] != nil || opening[name] != nil }
}

extension ClientMachine.Answer {
    /// Why a request has failed; nil if it has not.
    package var failure: String? {
        switch self {
        case .error(_, let text): Printable.clean(text)
        case .disconnected: "the server cannot be reached"
        default: nil
        }
    }
}
