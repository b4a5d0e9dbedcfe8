import HandCore
import HandWire

/// The client side of one connection, and the state that survives it: the replicas of the subscribed lists, and the
/// parts of them that must be kept on disk.
///
/// Events and times go in. The driver pulls effects with `nextEffect()` and carries them out in that order. The user is
/// notified at once; messages to the server wait until the journal is written.
public struct ClientMachine: Sendable {
    /// The state of the connection. The transitions, which a test compares with the code:
    ///
    ///     | event      | stopped    | heldUp     | changingID | waiting    | connecting | greeting   | ready      |
    ///     | start      | connecting | connecting | changingID | connecting | connecting | greeting   | ready      |
    ///     | stop       | stopped    | stopped    | stopped    | stopped    | stopped    | stopped    | stopped    |
    ///     | connected  | stopped    | heldUp     | changingID | waiting    | greeting   | greeting   | ready      |
    ///     | welcome    | stopped    | heldUp     | changingID | waiting    | connecting | ready      | ready      |
    ///     | lost       | stopped    | heldUp     | changingID | waiting    | waiting    | waiting    | waiting    |
    ///     | unanswered | stopped    | heldUp     | changingID | waiting    | connecting | connecting | connecting |
    ///     | silence    | stopped    | heldUp     | changingID | connecting | connecting | waiting    | waiting    |
    ///     | not kept   | stopped    | heldUp     | heldUp     | heldUp     | heldUp     | heldUp     | heldUp     |
    ///     | kept       | stopped    | connecting | changingID | waiting    | connecting | greeting   | ready      |
    ///     | id shared  | stopped    | changingID | changingID | waiting    | changingID | changingID | changingID |
    ///     | new id     | stopped    | heldUp     | waiting    | waiting    | connecting | greeting   | ready      |
    package enum State: Equatable, Sendable {
        /// Given up.
        case stopped
        /// Given up until the journal can be written.
        case heldUp
        /// Not connected until the driver reports whether this client gets another id; then it waits for `wait`
        /// milliseconds.
        case changingID(wait: UInt64)
        /// Not connected; the next attempt is at that time.
        case waiting(until: UInt64)
        /// The connection is being made.
        case connecting
        /// The hello was sent.
        case greeting
        /// The server has sent its welcome.
        case ready

        /// Whether there is a connection, or one is being made.
        var isUp: Bool { self == .connecting || self == .greeting || self == .ready }

        /// Whether there will be another connection.
        var isBetweenConnections: Bool {
            switch self {
            case .waiting, .changingID: true
            case .stopped, .heldUp, .connecting, .greeting, .ready: false
            }
        }
    }

    /// How this client gets a new id.
    enum IDChange: Equatable, Sendable {
        /// A new id may be requested from that time on.
        case allowed(after: UInt64)
        /// The client requests a new id when the journal is written, then waits for the driver's answer. It does not
        /// connect until then, as an edit submitted under the old id could be applied again under the new one.
        case due, asked
    }

    /// A request that has not been answered yet.
    struct Request: Sendable {
        /// The part of the requested list that has arrived.
        var incoming: IncomingSnapshot?
        /// The ephemeral subscription behind this request, if the request takes more than one message.
        var ephemeral: EphemeralSubscription?
        /// What was asked; nil for an ephemeral subscription.
        var asked: UpMessage?
        /// Whether the request waits for a connection. If it changes no lists, it also outlives a connection.
        var waits = false
        /// Whether the request was sent on this connection.
        var isSent = false
        /// Whether the request changes the server's lists.
        var changesLists: Bool { asked?.changesLists == true }
    }

    var common: Common
    package internal(set) var state = State.stopped
    /// Why the server permanently refused this client; nil while connecting again may help.
    public internal(set) var refusal: ErrorCode?
    /// The last violation of the protocol by a server; nil if there was none.
    package internal(set) var violation: String?
    var reader = FrameReader(limit: Self.welcomeBytes)
    var servers: ServerRound
    var backoff: Backoff
    var idChange = IDChange.allowed(after: 0)
    /// When to retry writing the journal.
    var keepAgainAt: UInt64?
    /// The server's last welcome message.
    public internal(set) var welcome: DownMessage.Welcome?
    /// The user's name and roles, if the server has told them.
    public internal(set) var granted: DownMessage.Granted?
    /// Whether a ping has not been answered.
    var isPinging = false
    /// Whether the server has ever answered. If so, it is worth waiting for.
    public internal(set) var hasHeard = false
    public internal(set) var subscriptions: [String: Subscription] = [:]
    /// The names of the followed lists, by their numbers on this connection.
    var names: [ListNumber: String] = [:]
    /// Lists that were closed before the server answered their subscription, by the request of the subscription.
    var abandoned: [RequestNumber: String] = [:]
    var requests: [RequestNumber: Request] = [:]
    var idleDeadline: UInt64 = 45_000
    var lastHeard: UInt64 = 0
    var nextPing: UInt64 = 0
    /// When the server sent its welcome.
    var readySince: UInt64 = 0
    /// When a server violated the protocol last.
    var violatedAt: UInt64?
    /// The server's budgets: for making this client repeat itself (`Repeat`), and for sending presence.
    var repeats = TokenBucket(rate: 10, now: 0)
    var presence = TokenBucket(rate: 20_000, now: 0)
    /// The times at which another connection replaced this client's, within `replacementPeriod`.
    var replacedAt: [UInt64] = []
    /// A client that is replaced more often than this within `replacementPeriod` shares its id with another program.
    package static let maxReplacements = 3
    static let replacementPeriod: UInt64 = 60_000
    /// The times at which bytes arrived that this client does not understand, within `misreadingPeriod`.
    var misreadAt: [UInt64] = []
    /// A client that meets such bytes more often than this within `misreadingPeriod` stops.
    package static let maxMisreadings = 3
    static let misreadingPeriod: UInt64 = 600_000
    /// Milliseconds that a server has to send its welcome, unless there are other servers to try.
    static let greetingDeadline: UInt64 = 10_000
    /// Milliseconds after a violation during which a welcome does not mean that all is well.
    static let probation: UInt64 = 60_000
    /// The most bytes of a message before the server's welcome, and the bounds for the limit of later messages,
    /// whatever limit the server states.
    static let welcomeBytes = 64 << 10
    static let frameBytes = 16 << 20...256 << 20
    /// The most people on one list.
    package static let maxPeople = 100_000
    /// The longest wait that a server can request, in milliseconds.
    static let longestWait: UInt64 = 60_000
    /// Milliseconds between attempts to write the journal.
    static let keepingInterval: UInt64 = 2_000
    /// Milliseconds between requests for a new id.
    static let askingInterval: UInt64 = 60_000

    /// - Parameters:
    ///   - journal: nil if nothing must be kept.
    ///   - persons: the author numbers of this person's other clients, whose commits can be undone here.
    ///   - used: the last sequence that earlier runs have used in each history (`JournalWrite.used`).
    ///   - servers: the names of the hosts that have the lists, if there are several.
    ///   - list: the list that the client works on, if known; it determines which server the client tries first.
    public init(
        client: ClientID, person: String, program: String, token: String? = nil, seed: UInt64,
        journal: JournalBuffer? = nil, persons: Set<AuthorID> = [], used: [UInt64: SequenceNumber] = [:],
        servers: [String] = [], list: String? = nil
    ) {
        self.servers = ServerRound(servers, list: list, maxTimeout: Self.greetingDeadline)
        let hello = UpMessage.Hello(client: client, person: person, program: program, token: token)
        common = Common(hello: hello, journal: journal, persons: persons, used: used)
        backoff = Backoff(seed: seed)
    }

    public var isReady: Bool { state == .ready }
    public var author: AuthorID? { common.author }
    /// Whether another program has used this client's id, such as one started from a copy of its files.
    public var isShared: Bool { common.isShared }

    /// Whether it is time for a new id: another program uses this one, and nothing is in flight. The outcome of an edit
    /// in flight can be learned only under the old id.
    public var wantsNewID: Bool { isShared && !hasInFlight }

    var hasInFlight: Bool {
        subscriptions.values.contains { $0.replica.inFlight != nil }
            || requests.values.contains { $0.ephemeral?.sequence != nil }
    }

    /// Whether the server owes an answer, or is being connected to.
    package var awaitsAnswer: Bool {
        switch state {
        case .connecting, .greeting: true
        case .ready: isPinging || !requests.isEmpty || hasInFlight
        case .stopped, .heldUp, .changingID, .waiting: false
        }
    }

    /// The latest time to call `timer(now:)`.
    public var deadline: UInt64? {
        [connectionDeadline, keepAgainAt, idDeadline].compactMap(\.self).min()
    }

    var idDeadline: UInt64? {
        guard wantsNewID, common.journal?.isKept == true, case .allowed(let time) = idChange else { return nil }
        return time
    }

    var connectionDeadline: UInt64? {
        switch state {
        case .waiting(let until): until
        case .stopped, .heldUp, .changingID, .connecting: nil
        case .greeting: lastHeard + (servers.answerTimeout ?? Self.greetingDeadline)
        case .ready: min(nextPing, lastHeard + idleDeadline)
        }
    }
}
