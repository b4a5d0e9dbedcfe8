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

    /// Why no server can read the message, such as a number that is too large; nil if every server can.
    package var problem: String? {
        frame.withUnsafeBytes { bytes in
            var frames = Frames(bytes)
            do {
                if let body = try frames.next(limit: bytes.count) { _ = try UpMessage(body) }
                return nil
            } catch {
                return "\(error)"
            }
        }
    }

    private static func read(_ number: UInt8, _ reader: inout WireReader) throws(WireError) -> UpMessage {
        guard let kind = Kind(rawValue: number) else {
            throw .unknownValue(field: "message type", found: UInt64(number))
        }
        switch kind {
        case .hello: return .hello(try hello(&reader))
        case .unsubscribe: return .unsubscribe(list: try reader.number("list"))
        case .submit: return .submit(try Submission(&reader))
        case .presence:
            let list: ListNumber = try reader.number("list")
            return .presence(list: list, try reader.focus(try reader.byte("presence")))
        case .ping: return .ping(try reader.varint("nonce"))
        case .subscribe, .create, .delete, .lists, .history, .fetch, .excerpt, .rename, .undelete, .deletedLists:
            return try readRequest(kind, &reader)
        }
    }

    private static func readRequest(_ kind: Kind, _ reader: inout WireReader) throws(WireError) -> UpMessage {
        let request: RequestNumber = try reader.number("request")
        let name = kind == .deletedLists ? "" : try reader.listName()
        switch kind {
        case .subscribe:
            return .subscribe(
                try Subscribe(
                    request: request, name: name, logID: try reader.word("log id"),
                    revision: try reader.revision("revision"), wanted: try reader.byte("what it wants")))
        case .create: return .create(request: request, name: name, rules: try reader.rules())
        case .delete: return .delete(request: request, name: name)
        case .lists: return .lists(request: request, after: name)
        case .history:
            return .history(
                request: request, name: name, from: try reader.revision("first revision"),
                limit: try reader.count("number of commits"))
        case .fetch: return .fetch(request: request, name: name, revision: try reader.optionalRevision())
        case .excerpt:
            let revision = try reader.optionalRevision()
            let start = try reader.count("first position")
            return .excerpt(
                ExcerptRequest(request: request, name: name, revision: revision, from: start, try reader.selections()))
        case .rename: return .rename(request: request, name: name, newName: try reader.listName("new name"))
        case .undelete:
            let deletion = try reader.varint("deletion")
            return .undelete(
                request: request, name: name, deletion: deletion == 0 ? nil : deletion,
                newName: try reader.listName("new name"))
        case .deletedLists:
            let before = try reader.varint("deletion")
            return .deletedLists(request: request, before: before == 0 ? nil : before)
        case .hello, .unsubscribe, .submit, .presence, .ping: preconditionFailure("\(kind) is no request")
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
