import HandCore

/// The secret by which a server recognizes a client: 128 random bits.
public struct ClientID: Hashable, Sendable {
    public let high: UInt64
    public let low: UInt64

    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    public static func random(using generator: inout some RandomNumberGenerator) -> ClientID {
        ClientID(high: generator.next(), low: generator.next())
    }
}

/// The versions of the protocol that this program supports.
public enum ProtocolVersion {
    public static let lowest = 5
    public static let highest = 5

    /// Returns the version to use with a peer that supports `low` to `high`, or nil if there is none in common.
    public static func common(_ low: Int, _ high: Int) -> Int? {
        let version = min(high, highest)
        return version >= max(low, lowest) ? version : nil
    }
}

/// Optional features beyond the version's core. There are none yet; a peer ignores those that it does not know.
public struct Capabilities: OptionSet, Equatable, Sendable {
    public let rawValue: UInt64

    public init(rawValue: UInt64) { self.rawValue = rawValue }

}

/// All messages from a client to a server.
///
/// The rare messages are stored indirectly, so that copying and freeing the frequent ones is quick.
public enum UpMessage: Equatable, Sendable {
    indirect case hello(Hello)
    indirect case subscribe(Subscribe)
    case unsubscribe(list: ListNumber)
    case submit(Submission)
    /// What this person attends to in a list; nil if it is no item.
    case presence(list: ListNumber, Focus?)
    case ping(UInt64)
    indirect case create(request: RequestNumber, name: String, rules: Rules)
    indirect case delete(request: RequestNumber, name: String)
    /// A page of lists whose names come after `after`.
    indirect case lists(request: RequestNumber, after: String)
    /// Commits of a list from a revision on, at most `limit`.
    indirect case history(request: RequestNumber, name: String, from: Int, limit: Int)
    /// The list at a revision; nil for the newest one.
    indirect case fetch(request: RequestNumber, name: String, revision: Int?)
    /// Some items of the list at a revision, or at the newest one.
    indirect case excerpt(ExcerptRequest)
    /// Renames a list.
    indirect case rename(request: RequestNumber, name: String, newName: String)
    /// Restores a deleted list under its former name or another one. If `deletion` is nil, restores the last deleted
    /// list whose former name is `name`.
    indirect case undelete(request: RequestNumber, name: String, deletion: UInt64?, newName: String)
    /// A page of deleted lists, the newest first: only deletions before `before`, or all if `before` is nil.
    indirect case deletedLists(request: RequestNumber, before: UInt64?)

    public struct Hello: Equatable, Sendable {
        public var lowestVersion: Int
        public var highestVersion: Int
        public var capabilities: Capabilities
        public var client: ClientID
        /// The person's name, for others to see.
        public var person: String
        /// The program and its version, for logs.
        public var program: String
        /// The secret that authenticates the user, if there is one.
        public var token: String?
        /// How many milliseconds the client may be silent, if that is longer than the server usually allows.
        public var idle: UInt64

        public init(
            lowestVersion: Int = ProtocolVersion.lowest, highestVersion: Int = ProtocolVersion.highest,
            capabilities: Capabilities = [], client: ClientID, person: String, program: String,
            token: String? = nil, idle: UInt64 = 0
        ) {
            self.lowestVersion = lowestVersion
            self.highestVersion = highestVersion
            self.capabilities = capabilities
            self.token = token
            self.idle = idle
            self.client = client
            self.person = person
            self.program = program
        }
    }

    public struct Subscribe: Equatable, Sendable {
        public var request: RequestNumber
        public var name: String
        /// The history that `revision` belongs to; 0 for a client that has no copy yet.
        public var logID: UInt64
        public var revision: Int
        /// Whether the client wants the list's items if it cannot resume. Without them, the subscription begins at the
        /// newest revision.
        public var wantsItems: Bool
        /// Whether the client wants to know who is there, and is there itself.
        public var wantsPeople: Bool

        public init(
            request: RequestNumber, name: String, logID: UInt64, revision: Int, wantsItems: Bool = true,
            wantsPeople: Bool = true
        ) {
            self.request = request
            self.name = name
            self.logID = logID
            self.revision = revision
            self.wantsItems = wantsItems
            self.wantsPeople = wantsPeople
        }
    }
}

extension UpMessage {
    public struct ExcerptRequest: Equatable, Sendable {
        public var request: RequestNumber
        public var name: String
        /// The revision, or nil for the newest one.
        public var revision: Int?
        /// The position of the first item to return, used to continue behind an excerpt that was cut.
        public var start: Int
        public var selections: [Excerpt.Selection]

        public init(
            request: RequestNumber, name: String, revision: Int? = nil, from start: Int = 0,
            _ selections: [Excerpt.Selection]
        ) {
            self.request = request
            self.name = name
            self.revision = revision
            self.start = start
            self.selections = selections
        }
    }
}

extension UpMessage {
    /// The messages by their numbers on the wire. Numbers are never reused.
    enum Kind: UInt8 {
        case hello = 1
        case subscribe, unsubscribe, submit, presence, ping
        case create, delete, lists, history, fetch, excerpt, rename, undelete, deletedLists
    }

    var kind: Kind {
        switch self {
        case .hello: .hello
        case .subscribe: .subscribe
        case .unsubscribe: .unsubscribe
        case .submit: .submit
        case .presence: .presence
        case .ping: .ping
        case .create: .create
        case .delete: .delete
        case .lists: .lists
        case .history: .history
        case .fetch: .fetch
        case .excerpt: .excerpt
        case .rename: .rename
        case .undelete: .undelete
        case .deletedLists: .deletedLists
        }
    }

    /// The message's name in `Protocol.md`.
    public var name: String { "\(kind)" }

    /// The request that an answer names; nil for messages without one.
    package var request: RequestNumber? {
        switch self {
        case .subscribe(let subscribe): subscribe.request
        case .excerpt(let asked): asked.request
        case .create(let request, _, _), .delete(let request, _), .lists(let request, _),
            .history(let request, _, _, _), .fetch(let request, _, _), .rename(let request, _, _),
            .undelete(let request, _, _, _), .deletedLists(let request, _):
            request
        case .hello, .unsubscribe, .submit, .presence, .ping: nil
        }
    }
}
