import HandCore
import HandWire

/// The client's side of one connection, and what survives it: the replicas of the lists that it is subscribed to, and what of
/// them is to be kept.
///
/// Events and times go in; effects come out, as its driver pulls them with `nextEffect()`, in the order in which they are to be
/// carried out. What happens is told at once. It is sent when it is kept.
public struct ClientMachine: Sendable {
    enum State: Equatable, Sendable {
        /// Given up. → `connecting`
        case stopped
        /// Given up until the journal takes what must be kept. → `connecting`, `stopped`
        case heldUp
        /// Not connected until the driver says whether this client goes on under another id; then it waits so many
        /// milliseconds. → `waiting`, `stopped`
        case changingID(wait: UInt64)
        /// Not connected; tries at that time. → `connecting`, `heldUp`, `stopped`
        case waiting(until: UInt64)
        /// The connection is being made. → `greeting`, `waiting`, `changingID`, `heldUp`, `stopped`
        case connecting
        /// The hello is sent. → `ready`, `waiting`, `changingID`, `heldUp`, `stopped`
        case greeting
        /// The server has said welcome. → `waiting`, `changingID`, `heldUp`, `stopped`
        case ready

        /// Whether there is a connection, or one is being made.
        var isUp: Bool { self == .connecting || self == .greeting || self == .ready }
    }

    /// How this client comes to another id, when it wants one.
    private enum IDChange: Equatable, Sendable {
        /// It may be asked for, from that time on.
        case allowed(after: UInt64)
        /// It is asked for when all is kept, then the driver answers. No connection is made meanwhile, as what is submitted under
        /// the old id could be doubled under the new one.
        case due, asked
    }

    public enum Effect: Sendable {
        case connect
        case send([UInt8])
        case disconnect
        /// To be written to the journal in that order; `kept` is to be called when that is done.
        case keep([JournalWrite])
        /// The journal is to say whether this client may go on under another id; `took` is to be called then.
        case takeID
        /// The view of a list has changed, or its user should be told something.
        case update(list: String, Replica.Update)
        case status(Status)
        /// Something else has happened to a list: `progress`, `presence`, `renamed` (the session knows it by the new name), or
        /// `refused` (it is not followed any longer).
        case list(String, ListEvent)
        /// Milliseconds that the server took to answer a ping.
        case latency(UInt64)
        case answer(request: UInt64, Answer)
        /// A message of the server that answers no request.
        case told(ErrorCode, String)
    }

    public enum Status: Equatable, Sendable {
        case connecting
        case online
        /// Milliseconds until the next try; nil if there will be none.
        case offline(reason: String, retryIn: UInt64?)
    }

    public enum Answer: Sendable {
        case done
        case lists([DownMessage.ListEntry], hasMore: Bool)
        case deletedLists([DownMessage.DeletedEntry], hasMore: Bool)
        case history([Commit], people: [DownMessage.Person])
        case state(Hand, revision: Int)
        case excerpt(Excerpt)
        /// An edit that was made on an excerpt is durable.
        case committed(revision: Int, [Replica.Notice])
        case rejected(Rejection)
        /// The excerpt on which an edit was made is too old: nothing was committed.
        case stale
        /// Who is on a list.
        case people([DownMessage.Presence])
        case error(ErrorCode, String)
        /// The connection was lost before the answer came.
        case disconnected
    }

    /// A list that is arriving in chunks.
    package struct IncomingSnapshot: Sendable {
        /// What has arrived of it.
        var hand: Hand
        let revision: Int
        let count: Int
        let digest: UInt64
        let logID: UInt64
        let lastSequence: UInt64

        init(
            revision: Int, count: Int, digest: UInt64, rules: Rules, logID: UInt64 = 0, lastSequence: UInt64 = 0
        ) {
            hand = Hand(rules: rules)
            self.revision = revision
            self.count = count
            self.digest = digest
            self.logID = logID
            self.lastSequence = lastSequence
        }

        var isComplete: Bool { hand.count >= count }

        /// The whole list; nil if it is not what the server announced.
        func assembled() -> Hand? {
            hand.digest == digest && hand.count == count ? hand : nil
        }
    }

    /// Requests without an answer so far.
    struct Request: Sendable {
        var incoming: IncomingSnapshot?
    }

    private var effects = Queue<Effect>()
    /// Frames that wait for what happened before them to be kept, each with the journal's mark at that time.
    private var frames = Queue<(bytes: [UInt8], mark: Int)>()
    /// What is to be kept; nil if nothing is.
    var journal: JournalBuffer?
    var state = State.stopped
    /// Why the server turned this client away for good; nil while connecting again may help.
    public internal(set) var refusal: ErrorCode?
    var reader = FrameReader(limit: Int(Int32.max))
    var backoff: Backoff
    var hello: UpMessage.Hello
    /// Whether another program has used this client's id, such as one started from a copy of its files.
    public private(set) var isShared = false
    private var idChange = IDChange.allowed(after: 0)
    /// When it is tried again to keep what could not be kept.
    private var keepAgainAt: UInt64?
    /// The number under which a commit of this client was made in this run.
    private var knownAuthor: UInt64?
    public internal(set) var author: UInt64?
    /// Whether the server has ever answered. If so, it is worth waiting for.
    public private(set) var hasHeard = false
    /// The version that the server speaks with this client, as its last welcome said.
    public internal(set) var version = ProtocolVersion.lowest
    public internal(set) var subscriptions: [String: Subscription] = [:]
    var names: [UInt64: String] = [:]
    /// Lists that were closed before the server had answered to their subscription, by its request.
    var abandoned: [UInt64: String] = [:]
    var requests: [UInt64: Request] = [:]
    var visits: [UInt64: Visit] = [:]
    var nextRequest: UInt64 = 1
    var idleDeadline: UInt64 = 45_000
    var lastHeard: UInt64 = 0
    var nextPing: UInt64 = 0
    /// When this client's connection was replaced by another, in the last while.
    var replacedAt: [UInt64] = []
    /// A client that is replaced more often than this in 60,000 ms shares its id with another program.
    package static let mostReplacements = 3
    static let replacementPeriod: UInt64 = 60_000
    /// Milliseconds that a server has to say welcome.
    static let greetingDeadline: UInt64 = 10_000
    /// The longest time in milliseconds that this client waits because a server asks it to.
    static let longestWait: UInt64 = 60_000
    /// Milliseconds after which it is tried again to keep what could not be kept.
    static let keepingInterval: UInt64 = 2_000
    /// Milliseconds after which it is asked again for another id.
    static let askingInterval: UInt64 = 60_000
    /// The number of missed commits from which on progress is reported.
    static let longWay = 1_000

    /// - Parameter journal: if anything is to be kept.
    public init(
        client: ClientID, person: String, program: String, capabilities: Capabilities = .presence,
        token: String? = nil, seed: UInt64, journal: JournalBuffer? = nil
    ) {
        self.journal = journal
        hello = UpMessage.Hello(
            capabilities: capabilities, client: client, person: person, program: program, token: token)
        backoff = Backoff(seed: seed)
    }

    public var isReady: Bool { state == .ready }

    /// Whether it is time to go on under another id: another program has this one, and nothing is in flight, of which only
    /// this one can tell what became.
    public var wantsNewID: Bool { isShared && !hasInFlight }

    var hasInFlight: Bool {
        subscriptions.values.contains { $0.replica.inFlight != nil } || visits.values.contains { $0.sequence != nil }
    }

    /// When `timer(now:)` is to be called at the latest.
    public var deadline: UInt64? {
        [connectionDeadline, keepAgainAt, idDeadline].compactMap(\.self).min()
    }

    private var idDeadline: UInt64? {
        guard wantsNewID, journal?.isKept == true, case .allowed(let time) = idChange else { return nil }
        return time
    }

    private var connectionDeadline: UInt64? {
        switch state {
        case .waiting(let until): until
        case .stopped, .heldUp, .changingID, .connecting: nil
        case .greeting: lastHeard + Self.greetingDeadline
        case .ready: min(nextPing, lastHeard + idleDeadline)
        }
    }
}

// MARK: - Effects

extension ClientMachine {
    /// What is to be done next; nil if nothing is left to do.
    public mutating func nextEffect() -> Effect? {
        let subscriptions = subscriptions
        if let writes = journal?.take({ subscriptions[$0]?.replica }) { return .keep(writes) }
        let keptMark = keptMark
        if let frame = frames.next(if: { $0.mark <= keptMark }) { return .send(frame.bytes) }
        if let effect = effects.next() { return effect }
        guard idChange == .due, journal?.isKept == true else { return nil }
        idChange = .asked
        return .takeID
    }

    mutating func emit(_ effect: Effect) { effects.append(effect) }

    /// Sends a message as soon as all that has happened so far is kept.
    mutating func send(_ message: UpMessage) { frames.append((message.frame, journalMark)) }
}

// MARK: - What is kept

extension ClientMachine {
    /// Grows with what must be kept: what has been done so far is safe from a crash when `keptMark` has come here.
    public var journalMark: Int { journal?.mark ?? 0 }
    public var keptMark: Int { journal?.keptMark ?? 0 }

    /// Has everything kept now, also what could be had from the server again.
    public mutating func flush() { journal?.flush() }

    /// The first so many of the writes that were to be kept are on disk.
    ///
    /// - Parameter problem: why the next one is not. What cannot be kept must not be sent: the client stops until it can be.
    public mutating func kept(_ count: Int, problem: String? = nil, now: UInt64) {
        journal?.wrote(count)
        guard let problem else {
            keepAgainAt = nil
            if state == .heldUp { start() }
            return
        }
        keepAgainAt = now + Self.keepingInterval
        if state != .stopped { giveUp(.heldUp, problem) }
    }

    /// Another program has used this client's id.
    mutating func noteShared() {
        if !isShared { journal?.add(.shared, isUrgent: true) }
        isShared = true
    }

    /// Asks for another id, on no connection.
    private mutating func changeID() {
        idChange = .due
        journal?.flush()
        guard state.isUp else { return }
        let wait = backoff.next()
        giveUp(.changingID(wait: wait), "another program has this one's id; it takes a new one", retryIn: wait)
    }

    /// Whether the client goes on under another id; nil if the journal still needs the old one.
    public mutating func took(_ client: ClientID?, now: UInt64) {
        idChange = .allowed(after: client == nil ? now + Self.askingInterval : 0)
        if case .changingID(let wait) = state { state = .waiting(until: now + wait) }
        guard let client else { return }
        hello.client = client
        isShared = false
        replacedAt = []
        author = nil
    }

    /// A commit of this client was made: its number is known from then on. Who forgets that can still take back what it makes later.
    mutating func noteCommitted() {
        guard let author, author != knownAuthor else { return }
        knownAuthor = author
        journal?.add(.committed(author: author, person: hello.person), isUrgent: false)
    }
}

// MARK: - The connection

extension ClientMachine {
    /// Starts connecting, and keeps at it until `stop`.
    public mutating func start() {
        switch state {
        case .stopped, .heldUp, .waiting: break
        case .changingID, .connecting, .greeting, .ready: return
        }
        refusal = nil
        guard case .allowed = idChange else {
            state = .changingID(wait: 0)
            return
        }
        state = .connecting
        emit(.status(.connecting))
        emit(.connect)
    }

    public mutating func connected(now: UInt64) {
        guard state == .connecting else { return }
        state = .greeting
        lastHeard = now
        reader = FrameReader(limit: Int(Int32.max))
        send(.hello(hello))
    }

    /// The connection could not be made, or is lost. All pending edits stay.
    public mutating func disconnected(reason: String, now: UInt64) {
        if state.isUp { wait(reason, now: now) }
    }

    /// - Parameter notBefore: milliseconds to wait, as the server asked.
    private mutating func wait(_ reason: String, now: UInt64, notBefore: UInt64 = 0) {
        let wait = min(notBefore, Self.longestWait) + backoff.next()
        leave(.waiting(until: now + wait), reason, retryIn: wait)
    }

    /// Closes this connection because of what the server sent or failed to send, and connects again later.
    mutating func fail(_ reason: String, now: UInt64, notBefore: UInt64 = 0) {
        emit(.disconnect)
        wait(reason, now: now, notBefore: notBefore)
    }

    /// Gives the connection up for good.
    public mutating func stop(reason: String) {
        if state != .stopped { giveUp(.stopped, reason) }
    }

    private mutating func giveUp(_ state: State, _ reason: String, retryIn wait: UInt64? = nil) {
        emit(.disconnect)
        leave(state, reason, retryIn: wait)
    }

    /// - Parameter wait: milliseconds until the next try; nil if nobody knows whether there will be one.
    private mutating func leave(_ state: State, _ reason: String, retryIn wait: UInt64?) {
        self.state = state
        frames = Queue()
        names = [:]
        abandoned = [:]
        for name in subscriptions.keys { subscriptions[name]?.lost() }
        // A visit goes on over the next connection, if there will be one.
        for request in visits.keys { visits[request]?.disconnected() }
        let unanswered = (requests.keys + (wait == nil ? Array(visits.keys) : [])).sorted()
        if wait == nil { visits = [:] }
        requests = [:]
        for request in unanswered { emit(.answer(request: request, .disconnected)) }
        emit(.status(.offline(reason: reason, retryIn: wait)))
    }

    public mutating func timer(now: UInt64) {
        if let keepAgainAt, now >= keepAgainAt {
            self.keepAgainAt = nil
            journal?.retry()
        }
        if let idDeadline, now >= idDeadline { changeID() }
        guard let connectionDeadline, now >= connectionDeadline else { return }
        switch state {
        case .waiting: start()
        case .stopped, .heldUp, .changingID, .connecting: break
        case .greeting: fail("the server did not answer the hello in time", now: now)
        case .ready:
            if now >= lastHeard + idleDeadline {
                fail("nothing was heard from the server for \(idleDeadline / 1000) s", now: now)
            } else {
                ping(now: now)
            }
        }
    }

    /// Asks for a sign of life, which also tells how far away the server is.
    mutating func ping(now: UInt64) {
        send(.ping(now))
        nextPing = now + idleDeadline / 3
    }

    /// Takes bytes from the socket.
    public mutating func received(_ bytes: UnsafeRawBufferPointer, now: UInt64) {
        guard state == .greeting || state == .ready else { return }
        lastHeard = now
        hasHeard = true
        var reader = reader
        do {
            try reader.read(bytes) { (body) throws(WireError) -> Bool in
                handle(try DownMessage(body), now: now)
                return state == .greeting || state == .ready
            }
            self.reader = reader
        } catch {
            fail("the server sent something else than Protocol.md allows: \(error)", now: now)
        }
    }
}
