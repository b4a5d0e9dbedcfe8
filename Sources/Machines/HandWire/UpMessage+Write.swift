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
            writer.string(hello.token ?? "")
            writer.varint(hello.idle)
        case .subscribe(let subscribe):
            writer.byte(2)
            writer.number(subscribe.request)
            writer.listName(subscribe.name)
            writer.word(subscribe.logID)
            writer.varint(subscribe.revision)
            writer.byte(subscribe.wanted)
        case .unsubscribe(let list):
            writer.byte(3)
            writer.number(list)
        case .submit(let submission):
            writer.byte(4)
            writer.number(submission.list)
            writer.varint(submission.base)
            writer.number(submission.sequence)
            writer.varint(submission.making)
            writer.delta(submission.delta)
        case .presence(let list, let focus):
            writer.byte(5)
            writer.number(list)
            writer.byte(focus.code)
            if let item = focus?.item { writer.word(item.rawValue) }
        case .ping(let nonce):
            writer.byte(6)
            writer.varint(nonce)
        case .create, .delete, .lists, .history, .fetch, .excerpt, .rename, .undelete, .deletedLists:
            writeRequest(to: &writer)
        }
    }

    private func writeRequest(to writer: inout WireWriter) {
        switch self {
        case .create(let request, let name, let rules):
            writer.byte(7)
            writer.number(request)
            writer.listName(name)
            writer.rules(rules)
        case .delete(let request, let name):
            writer.byte(8)
            writer.number(request)
            writer.listName(name)
        case .lists(let request, let after):
            writer.byte(9)
            writer.number(request)
            writer.listName(after)
        case .history(let request, let name, let from, let limit):
            writer.byte(10)
            writer.number(request)
            writer.listName(name)
            writer.varint(from)
            writer.varint(limit)
        case .fetch(let request, let name, let revision):
            writer.byte(11)
            writer.number(request)
            writer.listName(name)
            writer.optionalRevision(revision)
        case .excerpt(let asked):
            writer.byte(12)
            writer.number(asked.request)
            writer.listName(asked.name)
            writer.optionalRevision(asked.revision)
            writer.varint(asked.start)
            writer.selections(asked.selections)
        case .rename(let request, let name, let newName):
            writer.byte(13)
            writer.number(request)
            writer.listName(name)
            writer.listName(newName)
        case .undelete(let request, let name, let deletion, let newName):
            writer.byte(14)
            writer.number(request)
            writer.listName(name)
            writer.varint(deletion ?? 0)
            writer.listName(newName)
        case .deletedLists(let request, let before):
            writer.byte(15)
            writer.number(request)
            writer.varint(before ?? 0)
        // `write(to:)` writes these messages. Both switches name every message: a new message does not compile until it
        // is written.
        case .hello, .subscribe, .unsubscribe, .submit, .presence, .ping: break
        }
    }
}
