import HandCore

extension DownMessage {
    /// Decodes the body of a frame.
    public init(_ bytes: UnsafeRawBufferPointer) throws(WireError) {
        var reader = WireReader(bytes)
        let number = try reader.byte("message type")
        self = try Self.read(number, &reader)
        try reader.expectEnd(of: "message \(number)")
    }

    private static func read(_ number: UInt8, _ reader: inout WireReader) throws(WireError) -> DownMessage {
        guard let kind = Kind(rawValue: number) else {
            throw .unknownValue(field: "message type", found: UInt64(number))
        }
        switch kind {
        case .welcome:
            return .welcome(
                Welcome(
                    version: try reader.count("version"),
                    capabilities: Capabilities(rawValue: try reader.varint("capabilities")),
                    author: try reader.number("author"), idleDeadline: try reader.varint("idle deadline"),
                    frameBytes: try reader.count("largest frame"),
                    program: try reader.string("program", limit: Limits.personBytes)))
        case .subscribed: return .subscribed(try subscribed(&reader))
        case .chunk:
            let request: RequestNumber = try reader.number("request")
            let items = try reader.list("items of a chunk", size: 10) { (reader) throws(WireError) in
                try reader.packedItem()
            }
            return .chunk(request: request, items: Hand(packed: items))
        case .commit: return .commit(list: try reader.number("list"), try reader.commit())
        case .rejected:
            return .rejected(
                list: try reader.number("list"), sequence: try reader.number("sequence"), try reader.rejection())
        case .stale:
            return .stale(
                list: try reader.number("list"), sequence: try reader.number("sequence"),
                head: try reader.revision("newest revision"))
        case .acknowledged:
            return .acknowledged(
                list: try reader.number("list"), sequence: try reader.number("sequence"),
                revision: try reader.revision("revision"))
        case .presence:
            let list: ListNumber = try reader.number("list")
            return .presence(list: list, try reader.list("presence", size: 2, presence))
        case .pong: return .pong(try reader.varint("nonce"))
        case .done: return .done(request: try reader.number("request"))
        case .lists:
            let request: RequestNumber = try reader.number("request")
            let hasMore = try reader.flag("more lists")
            return .lists(request: request, try reader.list("lists", size: 6, listEntry), hasMore: hasMore)
        case .history:
            let request: RequestNumber = try reader.number("request")
            let people = try reader.list("people", size: 2, person)
            let commits = try reader.list("commits", size: 15) { (reader) throws(WireError) in try reader.commit() }
            return .history(request: request, commits, people: people)
        case .state:
            return .state(
                request: try reader.number("request"), revision: try reader.revision("revision"),
                count: try reader.count("number of items"), digest: try reader.word("digest"),
                rules: try reader.rules())
        case .error:
            let number = try reader.varint("error code")
            guard let code = ErrorCode(rawValue: number) else {
                throw .unknownValue(field: "error code", found: number)
            }
            return .error(
                code: code, request: try reader.number("request"), list: try reader.number("list"),
                retryAfter: try reader.varint("retry after"), message: try reader.string("message"))
        case .excerpt: return .excerpt(request: try reader.number("request"), try reader.excerpt())
        case .deletedLists:
            let request: RequestNumber = try reader.number("request")
            let hasMore = try reader.flag("more lists")
            return .deletedLists(
                request: request, try reader.list("deleted lists", size: 10, deletedEntry), hasMore: hasMore)
        case .renamed:
            return .renamed(
                list: try reader.number("list"), name: try reader.string("list name", limit: Limits.nameBytes))
        case .granted:
            return .granted(
                Granted(
                    person: try reader.string("person", limit: Limits.personBytes), everywhere: try reader.role(),
                    lists: try reader.list("roles on lists", size: 2) { (reader) throws(WireError) in
                        Granted.ListRole(
                            name: try reader.string("list name", limit: Limits.nameBytes), role: try reader.role())
                    }))
        }
    }

    private static func subscribed(_ reader: inout WireReader) throws(WireError) -> Subscribed {
        let request: RequestNumber = try reader.number("request")
        let list: ListNumber = try reader.number("list")
        let logID = try reader.word("log id")
        let rules = try reader.rules()
        let lastSequence: SequenceNumber = try reader.number("last sequence")
        let isLastRefused = try reader.flag("whether the last was refused")
        return Subscribed(
            request: request, list: list, logID: logID, rules: rules, lastSequence: lastSequence,
            isLastRefused: isLastRefused, start: try start(&reader))
    }

    private static func start(_ reader: inout WireReader) throws(WireError) -> Subscribed.Start {
        switch try reader.byte("kind of start") {
        case 0: return .resumed(head: try reader.revision("newest revision"), digest: try reader.word("digest"))
        case 1:
            return .snapshot(
                revision: try reader.revision("revision"), count: try reader.count("number of items"),
                digest: try reader.word("digest"))
        case 2: return .newest(try reader.revision("newest revision"))
        case let kind: throw .unknownValue(field: "kind of start", found: UInt64(kind))
        }
    }

    private static func presence(_ reader: inout WireReader) throws(WireError) -> Presence {
        let author: AuthorID = try reader.number("author")
        let place = try reader.byte("presence")
        guard place <= 4 else { throw .unknownValue(field: "presence", found: UInt64(place)) }
        guard place > 0 else { return Presence(author: author, place: .gone) }
        let person = try reader.string("person", limit: Limits.personBytes)
        return Presence(author: author, place: .here(person: person, try reader.focus(place - 1)))
    }

    private static func listEntry(_ reader: inout WireReader) throws(WireError) -> ListEntry {
        ListEntry(
            name: try reader.string("list name", limit: Limits.nameBytes), count: try reader.count("number of items"),
            revision: try reader.revision("revision"), rules: try reader.rules())
    }

    private static func deletedEntry(_ reader: inout WireReader) throws(WireError) -> DeletedEntry {
        DeletedEntry(
            deletion: try reader.varint("deletion"), list: try listEntry(&reader),
            person: try reader.string("person", limit: Limits.personBytes), time: try reader.varint("time"),
            keptUntil: try reader.varint("kept until"))
    }

    private static func person(_ reader: inout WireReader) throws(WireError) -> Person {
        Person(
            author: try reader.number("author"), name: try reader.string("person", limit: Limits.personBytes))
    }
}
