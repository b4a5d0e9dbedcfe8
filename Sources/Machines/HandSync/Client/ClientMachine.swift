import HandCore
import HandWire

/// The client's side of one connection, and what survives it: the replicas of the subscribed lists, and what of
/// them is to be kept.
///
/// Events and times go in. The driver pulls effects with `nextEffect()`, in the order in which they are to be
/// carried out. Its user is told at once; the server is told when the journal has it.
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

    /// How this client gets a new id.
    enum IDChange: Equatable, Sendable {
        /// A new id may be requested from that time on.
        case allowed(after: UInt64)
        /// It is asked for when all is kept, then the driver answers. No connection is made meanwhile, as what is submitted under
        /// the old id could be doubled under the new one.
        case due, asked
    }

    /// A request without an answer so far.
    struct Request: Sendable {
        /// The list that it asks for, as far as it has come.
        var incoming: IncomingSnapshot?
        /// What it is done for on a list, if that takes more than one message.
        var visit: Visit?
    }

    var effects = Queue<Effect>()
    /// Frames that wait for what happened before them to be kept, each with the journal's mark at that time.
    var frames = Queue<(bytes: [UInt8], mark: Int)>()
    /// What is to be kept; nil without a journal.
    var journal: JournalBuffer?
    var state = State.stopped
    /// Why the server turned this client away for good; nil while connecting again may help.
    public internal(set) var refusal: ErrorCode?
    var reader = FrameReader(limit: Int(Int32.max))
    var servers: ServerRound
    var backoff: Backoff
    var hello: UpMessage.Hello
    /// Whether another program has used this client's id, such as one started from a copy of its files.
    public internal(set) var isShared = false
    var idChange = IDChange.allowed(after: 0)
    /// When to retry writing the journal.
    var keepAgainAt: UInt64?
    /// The author number of this client's last commit in this run.
    var knownAuthor: UInt64?
    public internal(set) var author: UInt64?
    /// What the server last said of itself.
    public internal(set) var welcome: DownMessage.Welcome?
    /// Whether the server has ever answered. Then it is worth waiting for.
    public internal(set) var hasHeard = false
    public internal(set) var subscriptions: [String: Subscription] = [:]
    /// The last sequence that this client has used in each history, where no replica remembers it.
    var used: [UInt64: UInt64]
    var names: [UInt64: String] = [:]
    /// Lists that were closed before the server had answered to their subscription, by its request.
    var abandoned: [UInt64: String] = [:]
    var requests: [UInt64: Request] = [:]
    var nextRequest: UInt64 = 1
    var idleDeadline: UInt64 = 45_000
    var lastHeard: UInt64 = 0
    var nextPing: UInt64 = 0
    /// When the server said welcome.
    var readySince: UInt64 = 0
    /// The times at which another connection replaced this client's, within `replacementPeriod`.
    var replacedAt: [UInt64] = []
    /// A client that is replaced more often than this within `replacementPeriod` shares its id with another program.
    package static let mostReplacements = 3
    static let replacementPeriod: UInt64 = 60_000
    /// Milliseconds that a server has to say welcome, unless others are to be tried.
    static let greetingDeadline: UInt64 = 10_000
    /// The longest wait in milliseconds that a server can ask for.
    static let longestWait: UInt64 = 60_000
    /// Milliseconds between attempts to write the journal.
    static let keepingInterval: UInt64 = 2_000
    /// Milliseconds between requests for a new id.
    static let askingInterval: UInt64 = 60_000
    /// Progress is reported if at least this many commits were missed.
    static let longWay = 1_000

    /// - Parameters:
    ///   - journal: nil if nothing is to be kept.
    ///   - used: sequences that earlier runs have used (`JournalWrite.used`), the last one of each history.
    ///   - servers: what the hosts are called that have the lists, if there are several.
    ///   - list: the list that is worked on, if that is known; it decides with which of the servers the client begins.
    public init(
        client: ClientID, person: String, program: String, capabilities: Capabilities = [.presence, .digest],
        token: String? = nil, seed: UInt64, journal: JournalBuffer? = nil, used: [UInt64: UInt64] = [:],
        servers: [String] = [], list: String? = nil
    ) {
        self.servers = ServerRound(servers, list: list, most: Self.greetingDeadline)
        self.used = used
        self.journal = journal
        hello = UpMessage.Hello(
            capabilities: capabilities, client: client, person: person, program: program, token: token)
        backoff = Backoff(seed: seed)
    }

    public var isReady: Bool { state == .ready }

    /// Whether it is time for a new id: another program has this one, and nothing is in flight, whose outcome only
    /// the old id can learn.
    public var wantsNewID: Bool { isShared && !hasInFlight }

    var hasInFlight: Bool {
        subscriptions.values.contains { $0.replica.inFlight != nil }
            || requests.values.contains { $0.visit?.sequence != nil }
    }

    /// When `timer(now:)` is to be called at the latest.
    public var deadline: UInt64? {
        [connectionDeadline, keepAgainAt, idDeadline].compactMap(\.self).min()
    }

    var idDeadline: UInt64? {
        guard wantsNewID, journal?.isKept == true, case .allowed(let time) = idChange else { return nil }
        return time
    }

    var connectionDeadline: UInt64? {
        switch state {
        case .waiting(let until): until
        case .stopped, .heldUp, .changingID, .connecting: nil
        case .greeting: lastHeard + (servers.hurry ?? Self.greetingDeadline)
        case .ready: min(nextPing, lastHeard + idleDeadline)
        }
    }
}
