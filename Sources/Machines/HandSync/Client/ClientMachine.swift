import HandCore
import HandWire

/// The client's side of one connection, and what survives it: the replicas of the lists that it is subscribed to.
///
/// Events and times go in; effects come out, as its driver pulls them with `nextEffect()`, in the order in which they are to be
/// carried out. In particular what must be kept (`journal`) comes before what is sent.
public struct ClientMachine: Sendable {
    enum State: Equatable, Sendable {
        /// Not connected; tries at `retryAt`, or not at all if nil. → `connecting`
        case disconnected(retryAt: UInt64?)
        /// The connection is being made. → `greeting`, `disconnected`
        case connecting
        /// The hello is sent. → `ready`, `disconnected`
        case greeting
        /// The server has said welcome. → `disconnected`
        case ready
    }

    public enum Effect: Sendable {
        case connect
        case send([UInt8])
        case disconnect
        /// Events of a list that must be kept before anything that follows is done.
        case journal(list: String, JournalEvent)
        /// A list's replica was replaced by a snapshot, so its journal must be replaced, too.
        case checkpoint(list: String)
        /// Of the submissions of this client to a history, the server has taken those up to that sequence. Those after it were
        /// not taken and will not be: their sequences are free.
        case sequences(log: UInt64, through: UInt64)
        /// The submission with that sequence is an undo or a redo. This must be kept before the submission is sent.
        case step(Retrace.Step, log: UInt64, sequence: UInt64)
        /// The view of a list has changed, or its user should be told something.
        case update(list: String, Replica.Update)
        case status(Status)
        /// How much of a list's snapshot has come, or how many of the commits that were missed, if they are many.
        case progress(list: String, items: Int, of: Int)
        case presence(list: String, [DownMessage.Presence])
        /// Milliseconds that the server took to answer a ping.
        case latency(UInt64)
        case answer(request: UInt64, Answer)
        /// A list's journal gets another name.
        case moved(list: String, to: String)
        /// A followed list was renamed; the session knows it by the new name.
        case renamed(list: String, to: String)
        /// A subscription came to nothing.
        case refused(list: String, ErrorCode, String)
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

    /// What is known of one list.
    public struct Subscription: Sendable {
        public internal(set) var replica: Replica
        /// Its number on this connection, once the server has answered.
        public internal(set) var list: UInt64?
        var request: UInt64 = 0
        /// Commits up to here must come before anything is submitted.
        var submitFrom = 0
        /// The revision from which they come.
        var resumedAt = 0
        var lastSequence: UInt64 = 0
        var isCaughtUp = false
        /// Whether it was asked for by its log id, as there is no list of its name.
        var isSought = false
        /// The sequence of the submission that was sent on this connection and is not answered. It is not sent again on it:
        /// of two rejections the second would be taken for that of the next submission, which has the same sequence.
        var unanswered: UInt64?
        var incoming: IncomingSnapshot?
        /// The item that this person is on; sent again with each subscription.
        var presence: ItemID?
        /// Whether commits and edits are kept on disk.
        var isJournaled: Bool
        /// Whether this client has ever had the list.
        public internal(set) var isLoaded: Bool

        /// Whether the view is the server's newest revision with the user's own pending edits.
        public var isLive: Bool { list != nil && isCaughtUp }
    }

    /// A list that is arriving in chunks.
    struct IncomingSnapshot: Sendable {
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

    private var effects = EffectQueue<Effect>()
    var state = State.disconnected(retryAt: nil)
    /// Why the server turned this client away for good; nil while connecting again may help.
    public internal(set) var refusal: ErrorCode?
    var reader = FrameReader(limit: Int(Int32.max))
    var backoff: Backoff
    var hello: UpMessage.Hello
    /// Whether another program has used this client's id, such as one started from a copy of its files.
    public internal(set) var isShared = false
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
    /// The number of missed commits from which on progress is reported.
    static let longWay = 1_000

    public init(
        client: ClientID, person: String, program: String, capabilities: Capabilities = .presence,
        token: String? = nil, seed: UInt64
    ) {
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
        switch state {
        case .disconnected(let retryAt): retryAt
        case .connecting: nil
        case .greeting: lastHeard + Self.greetingDeadline
        case .ready: min(nextPing, lastHeard + idleDeadline)
        }
    }
}

// MARK: - Effects

extension ClientMachine {
    /// What is to be done next; nil if nothing is left to do.
    public mutating func nextEffect() -> Effect? { effects.next() }

    mutating func emit(_ effect: Effect) { effects.append(effect) }
}

// MARK: - The connection

extension ClientMachine {
    /// Starts connecting, and keeps at it until `stop`.
    public mutating func start() {
        guard case .disconnected = state else { return }
        refusal = nil
        state = .connecting
        emit(.status(.connecting))
        emit(.connect)
    }

    public mutating func connected(now: UInt64) {
        guard state == .connecting else { return }
        state = .greeting
        lastHeard = now
        reader = FrameReader(limit: Int(Int32.max))
        emit(.send(UpMessage.hello(hello).frame))
    }

    /// The connection could not be made, or is lost. All pending edits stay.
    ///
    /// - Parameter notBefore: milliseconds to wait, as the server asked.
    public mutating func disconnected(
        reason: String, now: UInt64, notBefore: UInt64 = 0
    ) {
        if case .disconnected = state { return }
        let wait = min(notBefore, Self.longestWait) + backoff.next()
        leave(reason: reason, retryAt: now + wait, wait: wait)
    }

    /// Goes on as another client, over a new connection.
    ///
    /// - Precondition: `wantsNewID`.
    public mutating func goOn(as client: ClientID, now: UInt64) {
        hello.client = client
        isShared = false
        replacedAt = []
        author = nil
        if case .disconnected = state { return }
        fail("another program has this one's id; it takes a new one", now: now)
    }

    /// Gives the connection up for good.
    public mutating func stop(reason: String) {
        if case .disconnected(retryAt: nil) = state { return }
        emit(.disconnect)
        leave(reason: reason, retryAt: nil, wait: nil)
    }

    private mutating func leave(reason: String, retryAt: UInt64?, wait: UInt64?) {
        state = .disconnected(retryAt: retryAt)
        names = [:]
        abandoned = [:]
        for name in subscriptions.keys {
            subscriptions[name]?.list = nil
            subscriptions[name]?.isCaughtUp = false
            subscriptions[name]?.isSought = false
            subscriptions[name]?.unanswered = nil
            subscriptions[name]?.incoming = nil
        }
        // A visit goes on over the next connection, if there will be one.
        for request in visits.keys { visits[request]?.disconnected() }
        let unanswered = (requests.keys + (retryAt == nil ? Array(visits.keys) : [])).sorted()
        if retryAt == nil { visits = [:] }
        requests = [:]
        for request in unanswered { emit(.answer(request: request, .disconnected)) }
        emit(.status(.offline(reason: reason, retryIn: wait)))
    }

    public mutating func timer(now: UInt64) {
        guard let deadline, now >= deadline else { return }
        switch state {
        case .disconnected: start()
        case .connecting: break
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
        emit(.send(UpMessage.ping(now).frame))
        nextPing = now + idleDeadline / 3
    }

    /// Closes this connection because of what the server sent or failed to send, and connects again later.
    mutating func fail(_ reason: String, now: UInt64, notBefore: UInt64 = 0) {
        emit(.disconnect)
        disconnected(reason: reason, now: now, notBefore: notBefore)
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
