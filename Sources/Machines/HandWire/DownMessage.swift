import HandCore

/// All messages from a server to a client. Numbers are never reused.
public enum DownMessage: Equatable, Sendable {
    case welcome(Welcome)
    case subscribed(Subscribed)
    /// Some items of a snapshot or a fetched state, in order.
    case chunk(request: RequestNumber, items: Hand)
    case commit(list: ListNumber, Commit)
    case rejected(list: ListNumber, sequence: SequenceNumber, Rejection)
    /// The base of a submission is too old for the server to transform it: catch up to `head` and submit again.
    case stale(list: ListNumber, sequence: SequenceNumber, head: Int)
    /// The submission was already committed, at `revision` (0 if the submission is too old to determine its revision).
    case acknowledged(list: ListNumber, sequence: SequenceNumber, revision: Int)
    case presence(list: ListNumber, [Presence])
    case pong(UInt64)
    /// A request was carried out.
    case done(request: RequestNumber)
    case lists(request: RequestNumber, [ListEntry], hasMore: Bool)
    /// Commits in order, with the names of their authors.
    case history(request: RequestNumber, [Commit], people: [Person])
    /// A fetched list: `count` items follow in chunks.
    case state(request: RequestNumber, revision: Int, count: Int, digest: UInt64, rules: Rules)
    case excerpt(request: RequestNumber, Excerpt)
    case deletedLists(request: RequestNumber, [DeletedEntry], hasMore: Bool)
    /// The new name of a subscribed list, or its current name if the client used another one.
    case renamed(list: ListNumber, name: String)
    /// Who the client's user is here, and what they may do; sent again when either changes.
    case granted(Granted)
    /// A request failed, or something about a list (0 for none), or the connection ends.
    case error(code: ErrorCode, request: RequestNumber, list: ListNumber = 0, retryAfter: UInt64, message: String)

    public struct Welcome: Equatable, Sendable {
        public var version: Int
        public var capabilities: Capabilities
        /// This client's public number.
        public var author: AuthorID
        /// The milliseconds of silence after which the server considers this client gone.
        public var idleDeadline: UInt64
        /// The size of the largest frame that the server accepts, in bytes.
        public var frameBytes: Int
        public var program: String

        public init(
            version: Int, capabilities: Capabilities = [], author: AuthorID, idleDeadline: UInt64, frameBytes: Int,
            program: String
        ) {
            self.version = version
            self.capabilities = capabilities
            self.author = author
            self.idleDeadline = idleDeadline
            self.frameBytes = frameBytes
            self.program = program
        }
    }

    /// Who a user is to the server, and what they may do.
    public struct Granted: Equatable, Sendable {
        /// The name that others see.
        public var person: String
        /// The role on every list.
        public var everywhere: Role
        /// Higher roles on single lists.
        public var lists: [ListRole]

        /// Marks a name that nobody vouches for. The mark is at the front, because long names are cut off at the end.
        package static let guestMark = "(guest) "

        public struct ListRole: Equatable, Sendable {
            public var name: String
            public var role: Role

            public init(name: String, role: Role) { (self.name, self.role) = (name, role) }
        }

        public init(person: String, everywhere: Role, lists: [ListRole]) {
            (self.person, self.everywhere, self.lists) = (person, everywhere, lists)
        }

        /// The role on the list of that name.
        public func role(on list: String) -> Role {
            max(everywhere, lists.first { $0.name == list }?.role ?? .none)
        }
    }

    public struct Subscribed: Equatable, Sendable {
        public var request: RequestNumber
        /// The number that identifies the list on this connection.
        public var list: ListNumber
        public var logID: UInt64
        public var rules: Rules
        /// The last sequence number of this client in the list's history.
        public var lastSequence: SequenceNumber
        /// Whether the submission with that sequence number was refused.
        public var isLastRefused: Bool
        public var start: Start

        /// How the client gets up to date.
        public enum Start: Equatable, Sendable {
            /// The commits after the client's revision follow; the list's newest commit is `head`, and the list then
            /// has that digest.
            case resumed(head: Int, digest: UInt64)
            /// The list at `revision` follows in chunks with `count` items in total; then the commits after it.
            case snapshot(revision: Int, count: Int, digest: UInt64)
            /// The client wants no items. The list has that revision; the commits after it follow.
            case newest(Int)
        }

        public init(
            request: RequestNumber, list: ListNumber, logID: UInt64, rules: Rules, lastSequence: SequenceNumber,
            isLastRefused: Bool = false,
            start: Start
        ) {
            self.request = request
            self.list = list
            self.logID = logID
            self.rules = rules
            self.lastSequence = lastSequence
            self.isLastRefused = isLastRefused
            self.start = start
        }
    }

    /// Where one connected client is.
    public struct Presence: Equatable, Sendable {
        public var author: AuthorID
        public var place: Place

        public enum Place: Equatable, Sendable {
            case gone
            case here(person: String, Focus?)

            /// What the person attends to, if that is known.
            public var focus: Focus? {
                if case .here(_, let focus) = self { focus } else { nil }
            }
        }

        public init(author: AuthorID, place: Place) {
            self.author = author
            self.place = place
        }
    }

    public struct ListEntry: Equatable, Sendable {
        public var name: String
        public var count: Int
        public var revision: Int
        public var rules: Rules

        public init(name: String, count: Int, revision: Int, rules: Rules) {
            self.name = name
            self.count = count
            self.revision = revision
            self.rules = rules
        }
    }

    /// A list that was deleted and can be restored.
    public struct DeletedEntry: Equatable, Sendable {
        /// The number of the deletion, used to undo it.
        public var deletion: UInt64
        /// The list as it was, with its former name.
        public var list: ListEntry
        /// Who deleted the list.
        public var person: String
        /// When the list was deleted, and until when it is kept, in milliseconds since 1970.
        public var time: UInt64
        public var keptUntil: UInt64

        public init(deletion: UInt64, list: ListEntry, person: String, time: UInt64, keptUntil: UInt64) {
            self.deletion = deletion
            self.list = list
            self.person = person
            self.time = time
            self.keptUntil = keptUntil
        }
    }

    public struct Person: Equatable, Sendable {
        public var author: AuthorID
        public var name: String

        public init(author: AuthorID, name: String) {
            self.author = author
            self.name = name
        }
    }
}

extension DownMessage {
    /// The messages by their numbers on the wire. Numbers are never reused. A commit's fields up to the digest can be
    /// decoded without decoding the delta.
    package enum Kind: UInt8 {
        case welcome = 1
        case subscribed, chunk, commit, rejected, stale, acknowledged, presence, pong
        case done, lists, history, state, error, excerpt, deletedLists, renamed, granted
    }
}
