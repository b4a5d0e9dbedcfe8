import EventLoop
import HandCore
import HandStore
import HandSync
import HandWire
import TLS

/// Carries out what a `ClientMachine` decides, on the loop's thread: the socket, the timer. The journal is written on another.
///
/// `HandClient` runs one on a thread of its own; a program with a loop can have one on that.
package final class ClientEngine {
    let configuration: ClientConfiguration
    let loop: Loop
    private let timer: Timer
    private let journal: JournalQueue?
    private var hook: TurnHook?
    package private(set) var machine: ClientMachine
    private var stream: (any Channel)?
    /// Made when it is needed first.
    private var tls: TLSContext?
    private var attempt: Cancellable?
    private var outgoing: [UInt8] = []
    var lists: [String: ListFollowers] = [:]
    /// Why lists that were opened are not followed any more.
    var refusals: [String: ClientError] = [:]
    private var answers: [UInt64: (ClientMachine.Answer) -> Void] = [:]
    private(set) var status = ClientMachine.Status.connecting
    private var statusWaiters: [(ClientMachine.Status) -> Void] = []
    /// Hears of every change of the connection.
    package var onStatus: ((ClientMachine.Status) -> Void)?
    /// Hears how many milliseconds the server takes to answer.
    package var onLatency: ((UInt64) -> Void)?
    /// Called when the server says something that answers nothing.
    package var onTold: ((String) -> Void)?
    private(set) var isClosed = false
    /// Who waits for what was edited to be kept, with the mark up to which it must be.
    private var keptWaiters: [(mark: Int, body: (String?) -> Void)] = []
    /// Why something could not be kept when that was tried last.
    private var keepingProblem: String?
    /// Who waits for lists that are being read from the journal.
    var opening: [String: [(Result<Void, any Error>) -> Void]] = [:]

    package init(_ configuration: ClientConfiguration, loop: Loop, journal: ClientJournal?) {
        self.configuration = configuration
        self.loop = loop
        self.journal = journal.map { JournalQueue($0, loop: loop) }
        timer = Timer(loop)
        machine = ClientMachine(
            client: journal?.client ?? configuration.client, person: configuration.person,
            program: configuration.program, token: configuration.token, seed: configuration.seed,
            journal: journal.map { _ in JournalBuffer() })
        hook = loop.onTurnEnd { [unowned self] in endTurn() }
    }

    // MARK: Events

    /// Starts connecting; if it was doing so and waits, it tries now.
    package func start() {
        perform { $0.start() }
    }

    /// Returns why edits are lost with the process that calls it; nil if all is kept.
    @discardableResult
    package func close() -> String? {
        guard !isClosed else { return nil }
        isClosed = true
        for list in lists.values { list.finish(.closed) }
        lists = [:]
        perform { $0.stop(reason: "closed") }
        journal?.finish()
        let mark = machine.journalMark
        perform { $0.flush() }
        journal?.close()
        hook?.cancel()
        timer.close()
        return machine.keptMark < mark ? keepingProblem : nil
    }

    private func rearm() {
        guard !isClosed else { return }
        guard let deadline = machine.deadline else { return timer.stop() }
        timer.start(after: deadline > loop.now ? deadline - loop.now : 0) { [unowned self] in
            perform { $0.timer(now: loop.now) }
        }
    }

    private func endTurn() {
        guard !outgoing.isEmpty, let stream, !stream.isWriting else { return }
        let bytes = outgoing
        outgoing = []
        stream.write([OutputBuffer(bytes)])
    }

    // MARK: The journal

    private func keep(_ writes: [JournalWrite]) {
        journal?.ask {
            $0.keep(writes)
        } then: { [unowned self] progress in
            keepingProblem = progress.problem
            perform { $0.kept(progress.done, problem: progress.problem, now: loop.now) }
            tellWhoWaits(progress.problem)
        }
    }

    /// Calls `body` when all that was edited so far is kept, with what went wrong if it could not be.
    func whenKept(_ body: @escaping (String?) -> Void) {
        keptWaiters.append((machine.journalMark, body))
        tellWhoWaits(nil)
    }

    private func tellWhoWaits(_ problem: String?) {
        while let first = keptWaiters.first, problem != nil || first.mark <= machine.keptMark {
            keptWaiters.removeFirst()
            first.body(problem)
        }
    }

    /// Asks the journal something when all that has happened so far is kept; the answer is `otherwise` if there is no journal.
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

    func carryOut(_ effect: ClientMachine.Effect) {
        switch effect {
        case .connect: connect()
        case .send(let bytes): if stream != nil { outgoing += bytes }
        case .disconnect: disconnect()
        case .keep(let writes): keep(writes)
        case .takeID: takeID()
        case .renamed(let list, let name):
            lists[name] = lists.removeValue(forKey: list)
            refusals[list] = .refused(.noSuchList, "'\(list)' is called '\(name)' now")
            lists[name]?.yield(.renamed(to: name))
        case .update(let list, let update): lists[list]?.collect(update)
        case .status(let status): changed(status)
        case .progress(let list, let items, let total): lists[list]?.yield(.progress(items: items, of: total))
        case .presence(let list, let entries): lists[list]?.note(entries)
        case .latency(let milliseconds): onLatency?(milliseconds)
        case .answer(let request, let answer): answers.removeValue(forKey: request)?(answer)
        case .refused(let list, let code, let message):
            let end = ClientError.refused(code, message)
            refusals[list] = end
            lists.removeValue(forKey: list)?.finish(end)
        case .told(_, let message): onTold?(message)
        }
    }

    private func changed(_ status: ClientMachine.Status) {
        self.status = status
        for list in lists.values { list.note(status, errorGivenUp) }
        onStatus?(status)
        let waiters = statusWaiters
        statusWaiters = []
        for waiter in waiters { waiter(status) }
    }

    /// Why the client no longer tries to connect; nil while it does.
    var errorGivenUp: ClientError? {
        if case .offline(let reason, retryIn: nil) = status { error(reason) } else { nil }
    }

    /// What being offline for that reason is to whoever asks something.
    func error(_ reason: String) -> ClientError {
        isClosed ? .closed : machine.refusal.map { .refused($0, reason) } ?? .unreachable(reason)
    }

    /// Calls `body` at the next change of the connection.
    func onStatusChange(_ body: @escaping (ClientMachine.Status) -> Void) {
        statusWaiters.append(body)
    }

    /// Asks the server something; `.disconnected` at once if there is no connection.
    package func ask(_ message: (UInt64) -> UpMessage, _ answer: @escaping (ClientMachine.Answer) -> Void) {
        begin({ $0.ask(message) }, answer)
    }

    /// The same for whatever of a machine is answered by its request.
    func begin(
        _ ask: (inout ClientMachine) -> UInt64?,
        _ answer: @escaping (ClientMachine.Answer) -> Void
    ) {
        guard let request = perform(ask) else { return answer(.disconnected) }
        answers[request] = answer
    }

    /// Has the machine take an event, carries out the effects, and tells those who follow its lists what has changed.
    package func perform<Result>(_ body: (inout ClientMachine) throws -> Result) rethrows -> Result {
        defer {
            while let effect = machine.nextEffect() { carryOut(effect) }
            for (name, followers) in lists { followers.publish(machine.subscriptions[name]) }
            rearm()
        }
        return try body(&machine)
    }

    // MARK: The socket

    private func connect() {
        switch configuration.server {
        case .unix(let path):
            attempt = Pipe.connect(loop, path: path) { [unowned self] in opened($0) }
        case .tcp(let host, let port): connect(to: host, port) { [unowned self] in opened($0) }
        case .tls(let host, let port):
            connect(to: host, port) { [unowned self] in secure($0, of: host) }
        }
    }

    private func connect(to host: String, _ port: UInt16, _ done: @escaping (Result<TCP, UVError>) -> Void) {
        attempt = DNS.resolve(loop, host: host, port: port) { [unowned self] result in
            switch result {
            case .failure(let error): lost("\(host): \(error)")
            case .success(let addresses): connect(to: addresses[...], error: nil, done)
            }
        }
    }

    /// Tries one address after the other.
    private func connect(
        to addresses: ArraySlice<SocketAddress>, error: UVError?, _ done: @escaping (Result<TCP, UVError>) -> Void
    ) {
        guard let address = addresses.first else { return lost(error.map { "\($0)" } ?? "no address was found") }
        attempt = TCP.connect(loop, to: address) { [unowned self] result in
            switch result {
            case .success: done(result)
            case .failure(let error): connect(to: addresses.dropFirst(), error: error, done)
            }
        }
    }

    /// Puts TLS onto a connection.
    private func secure(_ result: Result<TCP, UVError>, of host: String) {
        guard case .success(let stream) = result else { return opened(result) }
        do {
            let context = try tls ?? .client(trust: configuration.trust, certificate: configuration.certificate)
            tls = context
            opened(.success(try TLSStream(loop, stream, context, .client(of: host))))
        } catch {
            stream.close()
            attempt = nil
            lost("\(error)")
        }
    }

    private func opened(_ result: Result<some Channel, UVError>) {
        attempt = nil
        switch result {
        case .failure(let error): lost("\(error)")
        case .success(let stream):
            if isClosed { return stream.close() }
            self.stream = stream
            stream.onDrain = { [unowned self] in endTurn() }
            stream.open { [unowned self] bytes in
                receive(bytes)
            } onEnd: { [unowned self] end in
                lost(end == .eof ? "the server closed the connection" : "\(end)")
            }
            perform { $0.connected(now: loop.now) }
        }
    }

    private func receive(_ bytes: UnsafeRawBufferPointer) {
        perform { $0.received(bytes, now: loop.now) }
    }

    private func lost(_ reason: String) {
        guard !isClosed else { return }
        disconnect()
        perform { $0.disconnected(reason: reason, now: loop.now) }
    }

    private func disconnect() {
        attempt?.cancel()
        attempt = nil
        stream?.close()
        stream = nil
        outgoing = []
    }
}
