extension UpMessage {
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
                try Subscribe(
                    request: try reader.number("request"), name: try reader.listName(),
                    logID: try reader.word("log id"), revision: try reader.revision("revision"),
                    wanted: try reader.byte("what it wants")))
        case 3: return .unsubscribe(list: try reader.number("list"))
        case 4:
            return .submit(try Submission(&reader))
        case 5:
            let list: ListNumber = try reader.number("list")
            return .presence(list: list, try reader.focus(try reader.byte("presence")))
        case 6: return .ping(try reader.varint("nonce"))
        default: return try readRequest(number, &reader)
        }
    }

    private static func readRequest(_ number: UInt8, _ reader: inout WireReader) throws(WireError) -> UpMessage {
        let unknown = WireError.unknownValue(field: "message type", found: UInt64(number))
        guard (7...15).contains(number) else { throw unknown }
        let request: RequestNumber = try reader.number("request")
        if number == 15 {
            let before = try reader.varint("deletion")
            return .deletedLists(request: request, before: before == 0 ? nil : before)
        }
        let name = try reader.listName()
        switch number {
        case 7: return .create(request: request, name: name, rules: try reader.rules())
        case 8: return .delete(request: request, name: name)
        case 9: return .lists(request: request, after: name)
        case 10:
            return .history(
                request: request, name: name, from: try reader.revision("first revision"),
                limit: try reader.count("number of commits"))
        case 11: return .fetch(request: request, name: name, revision: try reader.optionalRevision())
        case 12:
            let revision = try reader.optionalRevision()
            let start = try reader.count("first position")
            return .excerpt(
                ExcerptRequest(
                    request: request, name: name, revision: revision, from: start, try reader.selections()))
        case 13: return .rename(request: request, name: name, newName: try reader.listName("new name"))
        case 14:
            let deletion = try reader.varint("deletion")
            return .undelete(
                request: request, name: name, deletion: deletion == 0 ? nil : deletion,
                newName: try reader.listName("new name"))
        default: throw unknown
        }
    }

    private static func hello(_ reader: inout WireReader) throws(WireError) -> Hello {
        guard let start = try? reader.raw(4, "magic"), start == magic else { throw .notHand }
        let (lowest, highest) = (try reader.count("lowest version"), try reader.count("highest version"))
        // The rest of a hello of an unsupported version is unknown.
        guard ProtocolVersion.common(lowest, highest) != nil else {
            throw .noCommonVersion(lowest: lowest, highest: highest)
        }
        let capabilities = Capabilities(rawValue: try reader.varint("capabilities"))
        var hello = Hello(
            lowestVersion: lowest, highestVersion: highest, capabilities: capabilities,
            client: ClientID(high: try reader.word("client id"), low: try reader.word("client id")),
            person: try reader.string("person", limit: Limits.personBytes),
            program: try reader.string("program", limit: Limits.personBytes))
        let token = try reader.string("token", limit: Limits.tokenBytes)
        hello.token = token.isEmpty ? nil : token
        hello.idle = try reader.varint("idle deadline")
        return hello
    }
}

extension UpMessage.Subscribe {
    /// What the client wants, as one byte: 1 for the items, 2 for the people.
    var wanted: UInt8 { (wantsItems ? 1 : 0) | (wantsPeople ? 2 : 0) }

    fileprivate init(
        request: RequestNumber, name: String, logID: UInt64, revision: Int, wanted: UInt8
    ) throws(WireError) {
        guard wanted <= 3 else { throw .unknownValue(field: "what it wants", found: UInt64(wanted)) }
        self.init(
            request: request, name: name, logID: logID, revision: revision, wantsItems: wanted & 1 != 0,
            wantsPeople: wanted & 2 != 0)
    }
}
