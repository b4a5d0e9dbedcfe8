import HandCore
import HandWire

/// Sees all frames between clients and a server, and notes which requirements of `Protocol.md` the clients break.
///
/// A frame from the server counts from the moment at which it is passed on, and a frame from a client when it arrives.
/// So the judge knows at least as much as the client did. Where it may know more, because frames cross, no rule is
/// broken.
package struct Judge {
    package internal(set) var verdict = Verdict()
    var talks: [Int: Talk] = [:]
    var clients: [ClientID: Client] = [:]
    /// The lists by number and revision, as clients have received them.
    var hands: [ListNumber: [Int: Hand]] = [:]
    /// Which client inserted an item.
    var makers: [ItemID: ClientID] = [:]
    private var count = 0

    package init() {}

    /// One connection.
    struct Talk {
        let began: UInt64
        var up = FrameReader(limit: Int(Int32.max))
        var down = FrameReader(limit: Int(Int32.max))
        var client: ClientID?
        var author: AuthorID?
        var idleDeadline: UInt64?
        var lastHeard: UInt64
        /// Whether the server has said why it closes. What the client sent before it read this is not judged.
        var isClosing = false
        /// When the server sent bytes that nobody understands.
        var strangeSince: UInt64?
        var asked: [RequestNumber: UpMessage.Subscribe] = [:]
        var follows: [ListNumber: Follow] = [:]
        /// Lists that the server has stopped sending.
        var gone: Set<ListNumber> = []
        var hasPresence: Set<ListNumber> = []
        var frames: [String] = []
    }

    /// A subscription of a connection.
    struct Follow {
        let request: RequestNumber
        let asked: UpMessage.Subscribe
        let began: UInt64
        let lastSequence: SequenceNumber
        /// The revision that a base must have reached.
        var floor: Int
        var revision: Int
        /// A snapshot that is arriving, and whether it answers the request.
        var incoming: (hand: Hand, count: Int, digest: UInt64)?
        var isFirst = true
        var isDamaged = false
        /// Whether the client has subscribed again.
        var isOver = false
        var sent: Set<SequenceNumber> = []
        var open: SequenceNumber?
    }

    /// What a client has done on all its connections.
    struct Client {
        /// When it may connect again.
        var earliest: UInt64?
        var histories: [ListNumber: History] = [:]
        var hasPinged = false
        /// The lists in which its person is on an item.
        var isOnItem: Set<ListNumber> = []
        var lastID: UInt64?
    }

    struct History {
        var edits: [SequenceNumber: Edit] = [:]
        var greatest: SequenceNumber = 0
        /// The newest of its own commits that it has received.
        var ownRevision = 0
    }

    struct Edit {
        enum Fate { case open, committed, refused }
        let ids: Set<ItemID>
        let seen: Int
        var fate = Fate.open
    }

    // MARK: Events

    /// - Returns: the number of the connection.
    package mutating func connected(now: UInt64) -> Int {
        count += 1
        talks[count] = Talk(began: now, lastHeard: now)
        return count
    }

    package mutating func received(_ bytes: UnsafeRawBufferPointer, on id: Int, now: UInt64) {
        for body in talks[id]?.up.bodies(in: bytes) ?? [] { judge(body, on: id, now) }
    }

    package mutating func sent(_ bytes: UnsafeRawBufferPointer, on id: Int, now: UInt64) {
        for body in talks[id]?.down.bodies(in: bytes) ?? [] {
            guard let message = try? body.withUnsafeBytes({ try DownMessage($0) }) else {
                note("<", "unknown", body, id, now)
                talks[id]?.strangeSince = now
                exercise(.closesOnUnknown)
                continue
            }
            note("<", String("\(message)".prefix { $0 != "(" }), body, id, now)
            learn(message, on: id, now)
        }
    }

    package mutating func ended(_ id: Int, now: UInt64) {
        if !judgeUnknown(id, now) {
            judgeSilence(id, now)
            judgePresence(id, now)
        }
        talks[id] = nil
    }

    /// Time in which the judge did not run, on a busy machine, does not count: frames were waiting to be read.
    package mutating func stood(for milliseconds: UInt64) {
        for id in talks.keys {
            talks[id]?.lastHeard += milliseconds
            if let since = talks[id]?.strangeSince { talks[id]?.strangeSince = since + milliseconds }
        }
    }

    /// How long the next submission of a connection must wait for the client to show that it pings; nil if that is
    /// known.
    package func quiet(on id: Int) -> UInt64? {
        guard let talk = talks[id], let deadline = talk.idleDeadline, let client = talk.client,
            clients[client]?.hasPinged == false
        else { return nil }
        return deadline + 500
    }

    // MARK: Findings

    mutating func exercise(_ requirement: Requirement) { verdict.exercise(requirement) }

    mutating func find(_ requirement: Requirement, _ text: String, on id: Int) {
        verdict.add(requirement, text, talks[id]?.frames ?? [])
    }

    /// Keeps the last frames of a connection in hex, with their times since it began, without those that come all the
    /// time.
    mutating func note(_ way: String, _ name: String, _ body: [UInt8], _ id: Int, _ now: UInt64) {
        if way == "<", name == "presence" || name == "chunk" { return }
        let bytes = Frame.around(body)
        let hex = bytes.prefix(40).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let time = now - (talks[id]?.began ?? now)
        talks[id]?.frames.append("\(time) ms \(way) \(hex)\(bytes.count > 40 ? "…" : "") \(name)")
        if let count = talks[id]?.frames.count, count > 8 { talks[id]?.frames.removeFirst() }
    }
}

extension FrameReader {
    /// Returns the bodies of the frames that these bytes complete, up to the first that cannot be read.
    fileprivate mutating func bodies(in bytes: UnsafeRawBufferPointer) -> [[UInt8]] {
        var bodies: [[UInt8]] = []
        try? read(bytes) { (body) throws(WireError) -> Bool in
            bodies.append([UInt8](body))
            return true
        }
        return bodies
    }
}
