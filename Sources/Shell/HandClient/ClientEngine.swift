import EventLoop
import HandCore
import HandStore
import HandSync
import HandWire
import TLS

/// Carries out what a `ClientMachine` decides, on the loop's thread: the socket, the timer, the journal.
///
/// In each turn of the loop the journal is written first, then the socket: what is sent has been kept. `HandClient` runs
/// one on a thread of its own; a program with a loop can have one on that.
package final class ClientEngine {
    let configuration: ClientConfiguration
    let loop: Loop
    private let timer: Timer
    /// Tries again to keep what could not be kept.
    private let keeping: Timer
    /// Whether something was not kept that nobody will try again.
    private var hasForgotten = false
    /// The number under which a commit of this client was made in this run.
    private var knownAuthor: UInt64?
    let journal: JournalWriter?
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
    var keptWaiters: [(String?) -> Void] = []

    package init(_ configuration: ClientConfiguration, loop: Loop, journal: ClientJournal?) {
        self.configuration = configuration
        self.loop = loop
        self.journal = journal.map(JournalWriter.init)
        timer = Timer(loop)
        keeping = Timer(loop)
        machine = ClientMachine(
            client: journal?.client ?? configuration.client, person: configuration.person,
            program: configuration.program, token: configuration.token, seed: configuration.seed)
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
        endTurn()
        let problem = journal?.close(machine)
        hook?.cancel()
        timer.close()
        keeping.close()
        return problem
    }

    private func rearm() {
        guard !isClosed else { return }
        guard let deadline = machine.deadline else { return timer.stop() }
        timer.start(after: deadline > loop.now ? deadline - loop.now : 0) { [unowned self] in
            perform { $0.timer(now: loop.now) }
        }
    }

    private func endTurn() {
        let problem = journal?.flush(machine)
        if let problem { stop(problem) }
        let waiters = keptWaiters
        keptWaiters = []
        for waiter in waiters { waiter(problem) }
        leaveSharedID()
        guard !outgoing.isEmpty, let stream, !stream.isWriting else { return }
        let bytes = outgoing
        outgoing = []
        stream.write([OutputBuffer(bytes)])
    }

    /// Another program has this client's id, which may have been told to both by one backup: each goes on under its own.
    private func leaveSharedID() {
        guard machine.isShared, !isClosed, let journal else { return }
        // What cannot be written now is tried again at the end of the next turn.
        guard let fresh = try? journal.noteShared(machine) else { return }
        perform { $0.goOn(as: fresh, now: loop.now) }
    }

    /// What cannot be kept must not be sent: the client stops until its journal takes it.
    private func stop(_ problem: String) {
        outgoing = []
        perform { $0.stop(reason: problem) }
        keepLater(problem)
    }

    private func keepLater(_ problem: String) {
        keeping.start(after: Self.keepingInterval) { [unowned self] in
            if journal?.flush(machine) != nil { return keepLater(problem) }
            if status == .offline(reason: problem, retryIn: nil), !hasForgotten { start() }
        }
    }

    /// Milliseconds.
    private static let keepingInterval: UInt64 = 2_000

    // MARK: Effects

    func carryOut(_ effect: ClientMachine.Effect) {
        switch effect {
        case .connect: connect()
        case .send(let bytes): if stream != nil { outgoing += bytes }
        case .disconnect: disconnect()
        case .journal(let list, let event): journal?.add(event, to: list)
        case .checkpoint(let list): journal?.replace(list)
        case .sequences(let log, let last): note { try $0.forgetSteps(in: log, after: last) }
        case .step(let step, let log, let sequence): note { try $0.note(step, in: log, sequence: sequence) }
        case .moved(let list, let name): journal?.move(list, to: name)
        case .renamed(let list, let name):
            lists[name] = lists.removeValue(forKey: list)
            refusals[list] = .refused(.noSuchList, "'\(list)' is called '\(name)' now")
            lists[name]?.yield(.renamed(to: name))
        case .update(let list, let update):
            if update.notices.contains(where: { if case .acknowledged = $0 { true } else { false } }) { committed() }
            lists[list]?.collect(update)
        case .status(let status): changed(status)
        case .progress(let list, let items, let total): lists[list]?.yield(.progress(items: items, of: total))
        case .presence(let list, let entries): lists[list]?.note(entries)
        case .latency(let milliseconds): onLatency?(milliseconds)
        case .answer(let request, let answer):
            if case .committed = answer { committed() }
            answers.removeValue(forKey: request)?(answer)
        case .refused(let list, let code, let message):
            let end = ClientError.refused(code, message)
            refusals[list] = end
            lists.removeValue(forKey: list)?.finish(end)
        case .told(_, let message): onTold?(message)
        }
    }

    /// Keeps something that must be known before anything more is sent.
    private func note(_ body: (ClientJournal) throws -> Void) {
        do { try journal.map { try body($0.journal) } } catch {
            hasForgotten = true
            stop(JournalWriter.problem(error))
        }
    }

    /// A commit of this client was made: its number is known from then on. Who forgets that can still take back what it makes later.
    private func committed() {
        guard let author = machine.author, author != knownAuthor else { return }
        knownAuthor = author
        try? journal?.journal.note(author: author, of: configuration.person)
    }

    private func changed(_ status: ClientMachine.Status) {
        self.status = status
        if status == .online, let author = machine.author {
            try? journal?.journal.meet(author: author, of: configuration.person)
        }
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
