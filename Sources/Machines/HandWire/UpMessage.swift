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
    public static let lowest = 4
    /// 3: texts are changed by splices; before that, they were set.
    /// 4: a sequence number is used once, even if the submission is refused; a refusal may be a commit.
    public static let highest = 4

    /// Returns the version to use with a peer that supports `low` to `high`, or nil if there is none in common.
    public static func common(_ low: Int, _ high: Int) -> Int? {
        let version = min(high, highest)
        return version >= max(low, lowest) ? version : nil
    }
}

/// Optional features beyond the version's core.
public struct Capabilities: OptionSet, Equatable, Sendable {
    public let rawValue: UInt64

    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// Presence frames are sent and understood.
    public static let presence = Capabilities(rawValue: 1)
    /// The hello ends with a token.
    public static let token = Capabilities(rawValue: 2)
    /// The answer to a subscribe contains the list's digest even if the client resumes.
    public static let digest = Capabilities(rawValue: 4)
}

/// All messages from a client to a server. Numbers are never reused.
public enum UpMessage: Equatable, Sendable {
    case hello(Hello)
    case subscribe(Subscribe)
    case unsubscribe(list: UInt64)
    case submit(Submission)
    /// The item that this person has selected or edits, or nil.
    case presence(list: UInt64, Focus?)
    case ping(UInt64)
    case create(request: UInt64, name: String, rules: Rules)
    case delete(request: UInt64, name: String)
    /// A page of lists whose names come after `after`.
    case lists(request: UInt64, after: String)
    /// Commits of a list from a revision on, at most `limit`.
    case history(request: UInt64, name: String, from: Int, limit: Int)
    /// The list at a revision; nil for the newest one.
    case fetch(request: UInt64, name: String, revision: Int?)
    /// Some items of the list at a revision, or at the newest one.
    case excerpt(ExcerptRequest)
    /// Renames a list.
    case rename(request: UInt64, name: String, newName: String)
    /// Restores a deleted list, given by the deletion or as the newest of that name, under that name or another.
    case undelete(request: UInt64, name: String, deletion: UInt64?, newName: String)
    /// A page of deleted lists, the newest first: of deletions before `before`, or from the newest on.
    case deletedLists(request: UInt64, before: UInt64?)

    public struct Hello: Equatable, Sendable {
        public var lowestVersion: Int
        public var highestVersion: Int
        public var capabilities: Capabilities
        public var client: ClientID
        /// The person's name, for others to see.
        public var person: String
        /// The program and its version, for logs.
        public var program: String
        /// The secret that authenticates the user, if there is one; `capabilities` then contains `.token`.
        public let token: String?

        public init(
            lowestVersion: Int = ProtocolVersion.lowest, highestVersion: Int = ProtocolVersion.highest,
            capabilities: Capabilities, client: ClientID, person: String, program: String, token: String? = nil
        ) {
            self.lowestVersion = lowestVersion
            self.highestVersion = highestVersion
            self.capabilities = token == nil ? capabilities.subtracting(.token) : capabilities.union(.token)
            self.token = token
            self.client = client
            self.person = person
            self.program = program
        }
    }

    public struct Subscribe: Equatable, Sendable {
        public var request: UInt64
        public var name: String
        /// The history that `revision` belongs to; 0 for a client that has no copy yet.
        public var logID: UInt64
        public var revision: Int

        public init(request: UInt64, name: String, logID: UInt64, revision: Int) {
            self.request = request
            self.name = name
            self.logID = logID
            self.revision = revision
        }
    }
}

extension UpMessage {
    public struct ExcerptRequest: Equatable, Sendable {
        public var request: UInt64
        public var name: String
        /// The revision, or nil for the newest one.
        public var revision: Int?
        /// The position of the first item to return, used to continue behind an excerpt that was cut.
        public var start: Int
        public var selections: [Excerpt.Selection]

        public init(
            request: UInt64, name: String, revision: Int? = nil, from start: Int = 0, _ selections: [Excerpt.Selection]
        ) {
            self.request = request
            self.name = name
            self.revision = revision
            self.start = start
            self.selections = selections
        }
    }
}

/// An edit that a client asks to have committed.
public struct Submission: Equatable, Sendable {
    public var list: UInt64
    /// The revision that the delta was made on.
    public var base: Int
    public var sequence: UInt64
    /// Whether the server must reject it if the list is no longer at `base`.
    public var isExact: Bool
    /// How many revisions before `base` the author made it, if it was transformed to `base` since; 0 for an exact one.
    public var lag: Int
    public var delta: Delta

    public init(list: UInt64, base: Int, sequence: UInt64, isExact: Bool = false, lag: Int = 0, delta: Delta) {
        self.list = list
        self.base = base
        self.sequence = sequence
        self.isExact = isExact
        self.lag = isExact ? 0 : lag
        self.delta = delta
    }
}

extension Submission {
    /// `isExact` and `lag` as one number: 0 if made on its base, 1 if exact, n + 1 if made n revisions before its base.
    fileprivate var making: Int { isExact ? 1 : lag == 0 ? 0 : lag + 1 }

    fileprivate init(_ reader: inout WireReader) throws(WireError) {
        list = try reader.varint("list")
        base = try reader.revision("base")
        sequence = try reader.varint("sequence")
        let making = try reader.revision("how it was made")
        isExact = making == 1
        lag = making < 2 ? 0 : making - 1
        guard lag <= base else { throw .unknownValue(field: "how it was made", found: UInt64(making)) }
        delta = try reader.delta()
    }
}

extension UpMessage {
    /// The message's name in `Protocol.md`.
    public var name: String {
        switch self {
        case .hello: "hello"
        case .subscribe: "subscribe"
        case .unsubscribe: "unsubscribe"
        case .submit: "submit"
        case .presence: "presence"
        case .ping: "ping"
        case .create: "create"
        case .delete: "delete"
        case .lists: "lists"
        case .history: "history"
        case .fetch: "fetch"
        case .excerpt: "excerpt"
        case .rename: "rename"
        case .undelete: "undelete"
        case .deletedLists: "deletedLists"
        }
    }
}

// MARK: - Bytes

extension UpMessage {
    /// The first bytes of every connection.
    static let magic = Array("HAND".utf8)

    /// The whole frame.
    public var frame: [UInt8] {
        var writer = WireWriter()
        write(to: &writer)
        return writer.frame
    }

    private func write(to writer: inout WireWriter) {
        switch self {
        case .hello(let hello):
            writer.byte(1)
            writer.raw(Self.magic)
            writer.varint(hello.lowestVersion)
            writer.varint(hello.highestVersion)
            writer.varint(hello.capabilities.rawValue)
            writer.word(hello.client.high)
            writer.word(hello.client.low)
            writer.string(hello.person)
            writer.string(hello.program)
            if let token = hello.token { writer.string(token) }
        case .subscribe(let subscribe):
            writer.byte(2)
            writer.varint(subscribe.request)
            writer.string(subscribe.name)
            writer.word(subscribe.logID)
            writer.varint(subscribe.revision)
        case .unsubscribe(let list):
            writer.byte(3)
            writer.varint(list)
        case .submit(let submission):
            writer.byte(4)
            writer.varint(submission.list)
            writer.varint(submission.base)
            writer.varint(submission.sequence)
            writer.varint(submission.making)
            writer.delta(submission.delta)
        case .presence(let list, let focus):
            writer.byte(5)
            writer.varint(list)
            writer.byte(focus.code)
            if let focus { writer.word(focus.item.rawValue) }
        case .ping(let nonce):
            writer.byte(6)
            writer.varint(nonce)
        default: writeRequest(to: &writer)
        }
    }

    private func writeRequest(to writer: inout WireWriter) {
        switch self {
        case .create(let request, let name, let rules):
            writer.byte(7)
            writer.varint(request)
            writer.string(name)
            writer.rules(rules)
        case .delete(let request, let name):
            writer.byte(8)
            writer.varint(request)
            writer.string(name)
        case .lists(let request, let after):
            writer.byte(9)
            writer.varint(request)
            writer.string(after)
        case .history(let request, let name, let from, let limit):
            writer.byte(10)
            writer.varint(request)
            writer.string(name)
            writer.varint(from)
            writer.varint(limit)
        case .fetch(let request, let name, let revision):
            writer.byte(11)
            writer.varint(request)
            writer.string(name)
            writer.byte(revision == nil ? 0 : 1)
            if let revision { writer.varint(revision) }
        case .excerpt(let asked):
            writer.byte(12)
            writer.varint(asked.request)
            writer.string(asked.name)
            writer.byte(asked.revision == nil ? 0 : 1)
            if let revision = asked.revision { writer.varint(revision) }
            writer.varint(asked.start)
            writer.selections(asked.selections)
        case .rename(let request, let name, let newName):
            writer.byte(13)
            writer.varint(request)
            writer.string(name)
            writer.string(newName)
        case .undelete(let request, let name, let deletion, let newName):
            writer.byte(14)
            writer.varint(request)
            writer.string(name)
            writer.varint(deletion ?? 0)
            writer.string(newName)
        case .deletedLists(let request, let before):
            writer.byte(15)
            writer.varint(request)
            writer.varint(before ?? 0)
        // Listed explicitly, so that the compiler requires a new message to be handled here or above.
        case .hello, .subscribe, .unsubscribe, .submit, .presence, .ping: break
        }
    }

    /// Decodes the body of a frame.
    public init(_ bytes: UnsafeRawBufferPointer) throws(WireError) {
        var reader = WireReader(bytes)
        let number = try reader.byte("message type")
        self = try Self.read(number, &reader)
        // A later version may add fields to its hello; this version ignores them.
        if case .hello(let hello) = self, hello.highestVersion > ProtocolVersion.highest { return }
        try reader.expectEnd(of: "message \(number)")
    }

    private static func read(_ number: UInt8, _ reader: inout WireReader) throws(WireError) -> UpMessage {
        switch number {
        case 1: return .hello(try hello(&reader))
        case 2:
            return .subscribe(
                Subscribe(
                    request: try reader.varint("request"), name: try reader.string("list name"),
                    logID: try reader.word("log id"), revision: try reader.revision("revision")))
        case 3: return .unsubscribe(list: try reader.varint("list"))
        case 4:
            return .submit(try Submission(&reader))
        case 5:
            let list = try reader.varint("list")
            return .presence(list: list, try reader.focus(try reader.byte("presence")))
        case 6: return .ping(try reader.varint("nonce"))
        default: return try readRequest(number, &reader)
        }
    }

    private static func readRequest(_ number: UInt8, _ reader: inout WireReader) throws(WireError) -> UpMessage {
        guard (7...15).contains(number) else { throw .unknownValue(field: "message type", found: UInt64(number)) }
        let request = try reader.varint("request")
        if number == 15 {
            let before = try reader.varint("deletion")
            return .deletedLists(request: request, before: before == 0 ? nil : before)
        }
        let name = try reader.string("list name")
        switch number {
        case 7: return .create(request: request, name: name, rules: try reader.rules())
        case 8: return .delete(request: request, name: name)
        case 9: return .lists(request: request, after: name)
        case 10:
            return .history(
                request: request, name: name, from: try reader.revision("first revision"),
                limit: try reader.count("number of commits"))
        case 11: return .fetch(request: request, name: name, revision: try optionalRevision(&reader))
        case 12:
            let revision = try optionalRevision(&reader)
            let start = try reader.count("first position")
            return .excerpt(
                ExcerptRequest(
                    request: request, name: name, revision: revision, from: start, try reader.selections()))
        case 13: return .rename(request: request, name: name, newName: try reader.string("new name"))
        default:
            let deletion = try reader.varint("deletion")
            return .undelete(
                request: request, name: name, deletion: deletion == 0 ? nil : deletion,
                newName: try reader.string("new name"))
        }
    }

    private static func optionalRevision(_ reader: inout WireReader) throws(WireError) -> Int? {
        try reader.flag("at a revision") ? try reader.revision("revision") : nil
    }

    private static func hello(_ reader: inout WireReader) throws(WireError) -> Hello {
        guard let start = try? reader.raw(4, "magic"), start == magic else { throw .notHand }
        let (lowest, highest) = (try reader.count("lowest version"), try reader.count("highest version"))
        // The rest of a hello of an unsupported version is unknown.
        guard ProtocolVersion.common(lowest, highest) != nil else {
            throw .noCommonVersion(lowest: lowest, highest: highest)
        }
        let capabilities = Capabilities(rawValue: try reader.varint("capabilities"))
        return Hello(
            lowestVersion: lowest, highestVersion: highest, capabilities: capabilities,
            client: ClientID(high: try reader.word("client id"), low: try reader.word("client id")),
            person: try reader.string("person", limit: Limits.personBytes),
            program: try reader.string("program", limit: Limits.personBytes),
            token: capabilities.contains(.token) ? try reader.string("token", limit: Limits.tokenBytes) : nil)
    }
}
