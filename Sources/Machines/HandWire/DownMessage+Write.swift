import HandCore

extension DownMessage {
    /// The whole frame.
    public var frame: [UInt8] {
        var writer = WireWriter()
        write(to: &writer)
        return writer.frame
    }

    /// Writes the body of a commit's frame, and returns the size in bytes of the delta at its end.
    package static func write(_ commit: Commit, in list: ListNumber, to writer: inout WireWriter) -> Int {
        writer.kind(.commit)
        writer.number(list)
        return writer.body(of: commit)
    }

    /// Returns the frame of a chunk with the items of `hand` from `start` on, about `bytes` bytes of them, and their
    /// number.
    package static func chunk(
        request: RequestNumber, of hand: Hand, from start: Int, about bytes: Int
    ) -> (frame: [UInt8], count: Int) {
        var items = WireWriter(reserving: bytes + 1024)
        var count = 0
        hand.forEachPackedItem(from: start) { item in
            items.item(item)
            count += 1
            return items.count < bytes
        }
        var chunk = WireWriter(reserving: items.count + 32)
        chunk.chunkHead(request: request, count: count)
        items.withBytes { chunk.raw($0) }
        return (chunk.frame, count)
    }

    private func write(to writer: inout WireWriter) {
        switch self {
        case .welcome(let welcome):
            writer.kind(.welcome)
            writer.varint(welcome.version)
            writer.varint(welcome.capabilities.rawValue)
            writer.number(welcome.author)
            writer.varint(welcome.idleDeadline)
            writer.varint(welcome.frameBytes)
            writer.string(welcome.program)
        case .subscribed(let subscribed): write(subscribed, to: &writer)
        case .chunk(let request, let items):
            writer.chunkHead(request: request, count: items.count)
            for item in items.packedItems { writer.item(item) }
        case .commit(let list, let commit): _ = Self.write(commit, in: list, to: &writer)
        case .rejected(let list, let sequence, let reason):
            writer.kind(.rejected)
            writer.number(list)
            writer.number(sequence)
            writer.rejection(reason)
        case .stale(let list, let sequence, let head):
            writer.kind(.stale)
            writer.number(list)
            writer.number(sequence)
            writer.varint(head)
        case .acknowledged(let list, let sequence, let revision):
            writer.kind(.acknowledged)
            writer.number(list)
            writer.number(sequence)
            writer.varint(revision)
        case .presence(let list, let entries): write(entries, of: list, to: &writer)
        case .pong(let nonce):
            writer.kind(.pong)
            writer.varint(nonce)
        case .done(let request):
            writer.kind(.done)
            writer.number(request)
        case .lists(let request, let entries, let hasMore):
            writer.kind(.lists)
            writer.number(request)
            writer.flag(hasMore)
            writer.varint(entries.count)
            for entry in entries { Self.write(entry, to: &writer) }
        case .history(let request, let commits, let people):
            writer.kind(.history)
            writer.number(request)
            writer.varint(people.count)
            for person in people {
                writer.number(person.author)
                writer.string(person.name)
            }
            writer.varint(commits.count)
            for commit in commits { writer.commit(commit) }
        case .state(let request, let revision, let count, let digest, let rules):
            writer.kind(.state)
            writer.number(request)
            writer.varint(revision)
            writer.varint(count)
            writer.word(digest)
            writer.rules(rules)
        case .error(let code, let request, let list, let retryAfter, let message):
            writer.kind(.error)
            writer.varint(code.rawValue)
            writer.number(request)
            writer.number(list)
            writer.varint(retryAfter)
            writer.string(message)
        case .excerpt(let request, let excerpt):
            writer.kind(.excerpt)
            writer.number(request)
            writer.excerpt(excerpt)
        case .deletedLists(let request, let entries, let hasMore):
            writer.kind(.deletedLists)
            writer.number(request)
            writer.flag(hasMore)
            writer.varint(entries.count)
            for entry in entries {
                writer.varint(entry.deletion)
                Self.write(entry.list, to: &writer)
                writer.string(entry.person)
                writer.varint(entry.time)
                writer.varint(entry.keptUntil)
            }
        case .renamed(let list, let name):
            writer.kind(.renamed)
            writer.number(list)
            writer.string(name)
        case .granted(let granted):
            writer.kind(.granted)
            writer.string(granted.person)
            writer.byte(granted.everywhere.number)
            writer.varint(granted.lists.count)
            for list in granted.lists {
                writer.string(list.name)
                writer.byte(list.role.number)
            }
        }
    }

    private static func write(_ entry: ListEntry, to writer: inout WireWriter) {
        writer.string(entry.name)
        writer.varint(entry.count)
        writer.varint(entry.revision)
        writer.rules(entry.rules)
    }

    private func write(_ subscribed: Subscribed, to writer: inout WireWriter) {
        writer.kind(.subscribed)
        writer.number(subscribed.request)
        writer.number(subscribed.list)
        writer.word(subscribed.logID)
        writer.rules(subscribed.rules)
        writer.number(subscribed.lastSequence)
        writer.flag(subscribed.isLastRefused)
        switch subscribed.start {
        case .resumed(let head, let digest):
            writer.byte(0)
            writer.varint(head)
            writer.word(digest)
        case .snapshot(let revision, let count, let digest):
            writer.byte(1)
            writer.varint(revision)
            writer.varint(count)
            writer.word(digest)
        case .newest(let revision):
            writer.byte(2)
            writer.varint(revision)
        }
    }

    private func write(_ entries: [Presence], of list: ListNumber, to writer: inout WireWriter) {
        writer.kind(.presence)
        writer.number(list)
        writer.varint(entries.count)
        for entry in entries {
            writer.number(entry.author)
            switch entry.place {
            case .gone: writer.byte(0)
            case .here(let person, let focus):
                writer.byte(1 + focus.code)
                writer.string(person)
                if let item = focus?.item { writer.word(item.rawValue) }
            }
        }
    }
}

extension WireWriter {
    fileprivate mutating func kind(_ kind: DownMessage.Kind) { byte(kind.rawValue) }
}
