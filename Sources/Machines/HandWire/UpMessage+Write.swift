import HandCore

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
        writer.byte(kind.rawValue)
        if let request { writer.number(request) }
        switch self {
        case .hello(let hello): Self.write(hello, to: &writer)
        case .subscribe(let subscribe):
            writer.listName(subscribe.name)
            writer.word(subscribe.logID)
            writer.varint(subscribe.revision)
            writer.byte(subscribe.wanted)
        case .unsubscribe(let list): writer.number(list)
        case .submit(let submission):
            writer.number(submission.list)
            writer.varint(submission.base)
            writer.number(submission.sequence)
            writer.varint(submission.making)
            writer.delta(submission.delta)
        case .presence(let list, let focus):
            writer.number(list)
            writer.byte(focus.code)
            if let item = focus?.item { writer.word(item.rawValue) }
        case .ping(let nonce): writer.varint(nonce)
        case .create(_, let name, let rules):
            writer.listName(name)
            writer.rules(rules)
        case .delete(_, let name), .lists(_, let name): writer.listName(name)
        case .history(_, let name, let from, let limit):
            writer.listName(name)
            writer.varint(from)
            writer.varint(limit)
        case .fetch(_, let name, let revision):
            writer.listName(name)
            writer.optionalRevision(revision)
        case .excerpt(let asked):
            writer.listName(asked.name)
            writer.optionalRevision(asked.revision)
            writer.varint(asked.start)
            writer.selections(asked.selections)
        case .rename(_, let name, let newName):
            writer.listName(name)
            writer.listName(newName)
        case .undelete(_, let name, let deletion, let newName):
            writer.listName(name)
            writer.varint(deletion ?? 0)
            writer.listName(newName)
        case .deletedLists(_, let before): writer.varint(before ?? 0)
        }
    }

    private static func write(_ hello: Hello, to writer: inout WireWriter) {
        writer.raw(magic)
        writer.varint(hello.lowestVersion)
        writer.varint(hello.highestVersion)
        writer.varint(hello.capabilities.rawValue)
        writer.word(hello.client.high)
        writer.word(hello.client.low)
        writer.string(hello.person)
        writer.string(hello.program)
        writer.string(hello.token ?? "")
        writer.varint(hello.idle)
    }
}
