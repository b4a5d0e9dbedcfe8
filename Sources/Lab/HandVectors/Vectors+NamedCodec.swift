import HandCore
import HandFormats
import HandWire

// Named questions about bytes: edge cases, one frame for every message, and malformed bytes.

extension Vectors {
    static var namedCodec: [Question] {
        values + upFrames.map { frame("up: \($0)", $1, "up") } + downFrames.map { frame("down: \($0)", $1, "down") }
            + badBytes + badFrames
    }

    private static var values: [Question] {
        let highest = Item(id: ItemID(rawValue: .max), content: .unknown(Content.Kind(rawValue: UInt32(Int32.max)), []))
        let commit = Commit(
            revision: (1 << 53) - 1, author: .max, sequence: .max, base: 0, time: .max, count: Rules.unlimitedCount,
            digest: .max, delta: .identity)
        let edit = Delta.editing(
            at: 127,
            Change(
                text: TextChange(from: "a b", to: "a c"), done: true, url: TextChange(from: "", to: "u"),
                card: .faceDown, bytes: [0]))
        let splices = Change(
            text: TextChange(from: "Crème, 1 l, 買牛奶", to: "Crème fraîche, 2 l, 買豆奶"),
            url: TextChange(from: "https://例え.jp/a", to: "https://例え.jp/é"))
        return bothWays("the highest numbers of an item", "item", JSON.item(highest))
            + bothWays("the highest numbers of a commit", "commit", JSON.commit(commit))
            + bothWays("the identity", "delta", JSON.delta(.identity))
            + bothWays("a change of all fields", "delta", JSON.delta(edit))
            + bothWays("a text changed in several places", "delta", JSON.delta(.editing(at: 0, splices)))
            + bothWays("the longest list", "delta", JSON.delta(Delta.deleting(0..<Rules.unlimitedCount)))
            + bothWays("the standard rules", "rules", JSON.rules(Rules()))
            + bothWays("five cards", "rules", JSON.rules(.fiveCards))
            + bothWays("no kind at all", "rules", JSON.rules(Rules(allowedKinds: [])))
    }

    // MARK: Frames

    private static func frame(_ name: String, _ bytes: [UInt8], _ direction: String) -> Question {
        Question(
            name, .init("type", "frame"), .init("direction", .string(direction)), .init("hex", .string(Hex.text(bytes)))
        )
    }

    private static var upFrames: [(String, [UInt8])] {
        let hello = UpMessage.Hello(
            capabilities: .presence, client: ClientID(high: 1, low: 2), person: "Ada", program: "vectors/1")
        let delta = Delta.inserting(tasks(1), at: 0, .before)
        let messages: [(String, UpMessage)] = [
            ("hello", .hello(hello)),
            ("subscribe", .subscribe(.init(request: 1, name: "groceries", logID: 7, revision: 300))),
            ("unsubscribe", .unsubscribe(list: 1)),
            ("submit", .submit(Submission(list: 1, base: 300, sequence: 9, delta: delta))),
            (
                "submit on exactly its base",
                .submit(Submission(list: 1, base: 0, sequence: 1, isExact: true, delta: delta))
            ),
            (
                "submit what was carried over 7 revisions",
                .submit(Submission(list: 1, base: 300, sequence: 9, lag: 7, delta: delta))
            ),
            ("presence on an item", .presence(list: 1, Focus(ItemID(rawValue: 5)))),
            ("presence editing an item", .presence(list: 1, Focus(ItemID(rawValue: 5), isEditing: true))),
            ("presence on none", .presence(list: 1, nil)),
            ("ping", .ping(.max)),
            ("create", .create(request: 2, name: "poker", rules: .fiveCards)),
            ("delete", .delete(request: 3, name: "poker")),
            ("lists", .lists(request: 4, after: "")),
            ("history", .history(request: 5, name: "groceries", from: 1, limit: 100)),
            ("fetch at a revision", .fetch(request: 6, name: "groceries", revision: 0)),
            ("fetch of now", .fetch(request: 7, name: "groceries", revision: nil)),
            (
                "excerpt",
                .excerpt(
                    .init(
                        request: 8, name: "groceries", revision: 301, from: 1,
                        [.positions(start: 0, count: 3), .ids(ItemID(rawValue: 5)...ItemID(rawValue: 7))]))
            ),
            ("rename", .rename(request: 8, name: "groceries", newName: "shopping")),
            ("undelete the newest", .undelete(request: 9, name: "poker", deletion: nil, newName: "poker")),
            ("undelete under another name", .undelete(request: 10, name: "poker", deletion: 2, newName: "poker-1")),
            ("deleted lists from the newest on", .deletedLists(request: 11, before: nil)),
            ("deleted lists before one", .deletedLists(request: 12, before: 300)),
        ]
        return messages.map { ($0.0, $0.1.frame) }
    }

    private static var downFrames: [(String, [UInt8])] {
        let commit = Commit(
            revision: 301, author: 4, sequence: 9, base: 300, time: 1_767_225_600_000, count: 1, digest: 8,
            delta: Delta.inserting(tasks(1), at: 0, .before))
        let refusal = Commit(
            revision: 302, author: 4, sequence: 10, base: 301, time: 1_767_225_600_000, count: 1, digest: 8,
            delta: .identity, refusal: .violation(.listFull(maximum: 1)))
        func subscribed(_ start: DownMessage.Subscribed.Start, isLastRefused: Bool = false) -> DownMessage {
            .subscribed(
                .init(
                    request: 1, list: 1, logID: 7, rules: Rules(), lastSequence: 9, isLastRefused: isLastRefused,
                    start: start))
        }
        let messages: [(String, DownMessage)] = [
            (
                "welcome",
                .welcome(
                    .init(
                        version: ProtocolVersion.highest, capabilities: .presence, author: 4, idleDeadline: 45_000,
                        frameBytes: 8 << 20,
                        program: "vectors/1"))
            ),
            (
                "welcome with a role",
                .welcome(
                    .init(
                        version: ProtocolVersion.highest, capabilities: .presence, author: 4, idleDeadline: 45_000,
                        frameBytes: 8 << 20, program: "vectors/1", role: .append))
            ),
            ("subscribed, resumed", subscribed(.resumed(head: 301))),
            ("subscribed, resumed with a digest", subscribed(.resumed(head: 301, digest: 8))),
            ("subscribed, with a snapshot", subscribed(.snapshot(revision: 301, count: 1, digest: 8))),
            (
                "subscribed, the last was refused",
                subscribed(.snapshot(revision: 301, count: 1, digest: 8), isLastRefused: true)
            ),
            ("chunk", .chunk(request: 1, items: Hand(tasks(2)))),
            ("commit", .commit(list: 1, commit)),
            ("commit, a refusal", .commit(list: 1, refusal)),
            ("rejected", .rejected(list: 1, sequence: 9, .violation(.listFull(maximum: 5)))),
            ("stale", .stale(list: 1, sequence: 9, head: 301)),
            ("acknowledged", .acknowledged(list: 1, sequence: 9, revision: 301)),
            (
                "presence",
                .presence(
                    list: 1,
                    [
                        .init(author: 4, place: .here(person: "Ada", Focus(ItemID(rawValue: 5)))),
                        .init(author: 5, place: .here(person: "Bob", nil)), .init(author: 6, place: .gone),
                        .init(author: 7, place: .here(person: "Eve", Focus(ItemID(rawValue: 5), isEditing: true))),
                    ])
            ),
            ("pong", .pong(.max)),
            ("done", .done(request: 2)),
            (
                "lists",
                .lists(request: 4, [.init(name: "poker", count: 5, revision: 12, rules: .fiveCards)], hasMore: true)
            ),
            (
                "deleted lists",
                .deletedLists(
                    request: 11,
                    [
                        .init(
                            deletion: 2, list: .init(name: "poker", count: 5, revision: 12, rules: .fiveCards),
                            person: "Ada", time: 1_767_225_600_000, keptUntil: 1_767_830_400_000)
                    ], hasMore: false)
            ),
            ("renamed", .renamed(list: 7, name: "shopping")),
            ("history", .history(request: 5, [commit, refusal], people: [.init(author: 4, name: "Ada")])),
            ("state", .state(request: 6, revision: 301, count: 1, digest: 8, rules: Rules())),
            (
                "excerpt",
                .excerpt(
                    request: 8,
                    Excerpt(
                        logID: 7, revision: 301, count: 2, rules: .fiveCards,
                        entries: [.init(position: 1, item: tasks(1)[0])], isCut: true))
            ),
            ("error", .error(code: .noSuchList, request: 1, retryAfter: 0, message: "no list of that name")),
        ]
        return messages.map { ($0.0, $0.1.frame) }
    }

    private static var badFrames: [Question] {
        let ping = UpMessage.ping(5).frame
        let frames: [(String, [UInt8])] = [
            ("no frame", []), ("half a frame", Array(ping.dropLast())), ("two frames", ping + ping),
            ("no message", [0]), ("a length that is not the shortest", [0x82, 0x00, 6, 5]),
            ("a length over the limit", [0xFF, 0xFF, 0xFF, 0x7F]), ("a message that does not exist", [1, 99]),
            ("bytes behind the fields", [3, 6, 5, 0]), ("fields that the frame is too short for", [1, 6]),
            ("a hello of something else", [5, 1] + Array("GET ".utf8)),
            ("a place that is none", [11, 5, 1, 3] + [UInt8](repeating: 0, count: 8)),
        ]
        return frames.map { frame("error: \($0)", $1, "up") }
    }

    // MARK: Malformed values

    private static var badBytes: [Question] {
        let item: [UInt8] = [1, 0, 0, 0, 0, 0, 0, 0, 3, 2, 0, 0x61]
        let deltas: [(String, [UInt8])] = [
            ("nothing", []), ("fewer components than said", [2, 10]), ("bytes behind the last component", [1, 10, 0]),
            ("a number that is not the shortest", [1, 0x8A, 0x00]),
            ("a number of more than 64 bits", [1] + [UInt8](repeating: 0xFF, count: 9) + [2]),
            ("a count over the limit", [1, 0x82, 0x80, 0x80, 0x80, 0x40]),
            ("keeps at the end", [1, 8]), ("two deletions that are one", [2, 10, 10]), ("an empty deletion", [1, 2]),
            ("an empty insertion", [1, 4]), ("before in front of after", [2, 13] + item + [12] + item),
            ("a change of no field", [1, 1]), ("a change of a field that does not exist", [1, 0x81, 2]),
            ("done is neither 0 nor 1", [1, 17, 2]), ("an inserted text that is not UTF-8", [1, 9, 1, 0, 0, 1, 0xFF]),
            ("a removed text that is not UTF-8", [1, 9, 1, 0, 1, 0xFF, 0]), ("no splices", [1, 9, 0]),
            ("a splice that changes nothing", [1, 9, 1, 0, 1, 0x61, 1, 0x61]),
            ("an empty splice", [1, 9, 1, 0, 0, 0]),
            ("splices that touch", [1, 9, 2, 0, 1, 0x61, 0, 0, 0, 1, 0x62]),
            ("fewer splices than said", [1, 9, 2, 0, 0, 1, 0x61]),
            ("more splices than bytes", [1, 9, 0xFF, 0xFF, 0xFF, 0xFF, 0x07, 0, 0, 1, 0x61]),
            ("a splice that removes more than the message has", [1, 9, 1, 0, 9, 0x61]),
            ("a splice behind the end of any text", [1, 9, 1, 0x80, 0x80, 0x80, 0x80, 0x08, 0, 1, 0x61]),
            ("a text that is set", [1, 9, 1, 0x61]),
            ("splices of an address that touch", [1, 33, 2, 0, 1, 0x61, 0, 0, 0, 1, 0x62]),

            ("a pick without a drop", [1, 11]), ("a drop without a pick", [1, 14, 0]),
            ("a slot dropped twice", [3, 11, 14, 0, 14, 0]), ("a block with a change", [2, 19, 22, 1, 2, 1]),
            ("more items than bytes", [1, 0xFC, 0xFF, 0xFF, 0xFF, 0x0F]),
        ]
        let items: [(String, [UInt8])] = [
            ("a body longer than the item", Array(item.dropLast())), ("kind 0", replacing(8, in: item, by: 0)),
            ("a task that is neither done nor not", replacing(10, in: item, by: 2)),
            ("text that is not UTF-8", replacing(11, in: item, by: 0xC3)),
            ("card 53", [1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 53]),
            ("a card of two bytes", [1, 0, 0, 0, 0, 0, 0, 0, 1, 2, 1, 1]),
            ("a link's text longer than its body", [1, 0, 0, 0, 0, 0, 0, 0, 4, 1, 9]),
        ]
        let rules: [(String, [UInt8])] = [
            ("a flag that does not exist", [5, 5, 4]), ("fewer kinds than said", [5, 5, 2, 2, 1]),
            ("more items than any list has", [0x80, 0x80, 0x80, 0x80, 0x08, 5, 0]),
        ]
        return bad("delta", deltas) + bad("item", items) + bad("rules", rules) + truncatedCommit
            + [
                Question("error: half a byte", .init("type", "item"), .init("hex", "0")),
                Question("error: no hexadecimal digits", .init("type", "item"), .init("hex", "xy")),
                Question("error: no such type", .init("type", "hand"), .init("hex", "")),
            ]
    }

    /// A commit cut off at each of its bytes.
    private static var truncatedCommit: [Question] {
        var writer = WireWriter()
        writer.commit(
            Commit(
                revision: 2, author: 1, sequence: 1, base: 1, time: 1000, count: 0, digest: 0,
                delta: Delta.deleting(0..<1)))
        let bytes = writer.bytes
        return bad("commit", bytes.indices.map { ("ends after \($0) of \(bytes.count) bytes", Array(bytes[..<$0])) })
    }

    private static func replacing(_ index: Int, in bytes: [UInt8], by byte: UInt8) -> [UInt8] {
        var bytes = bytes
        bytes[index] = byte
        return bytes
    }

    private static func bad(_ type: String, _ samples: [(String, [UInt8])]) -> [Question] {
        samples.map { name, bytes in
            Question("error: \(name)", .init("type", .string(type)), .init("hex", .string(Hex.text(bytes))))
        }
    }
}
