import HandCore
import HandWire

/// Rare behavior of one connection, chosen by a seed: single bytes, several frames at once, pauses, `acknowledged`
/// before its commit, warnings, disconnections with and without a reason. `Protocol.md` allows all of this behavior.
/// Snapshots that are damaged on the way and messages that nobody knows are not allowed, but happen.
///
/// Sans-IO: frames of the server and of the client go in; pieces of the server's frames, and single frames of the
/// client, come out.
package struct AwkwardWire {
    /// A frame from the client, or bytes that are not a frame.
    package struct Received {
        package let bytes: [UInt8]
        /// The number of the list that the frame edits, or the name of the list that the frame requests. Others edit
        /// the list `rounds` times first.
        package let list: ListNumber?
        package let wanted: String?
        package var rounds: Int
        /// Whether the frame may overtake a submission that the server takes its time to read.
        package let isPing: Bool
    }

    /// The next event on the way to the client.
    package enum Piece {
        case bytes([UInt8], pause: UInt64)
        /// The server has sent a reason, and closes the connection.
        case end
        /// The connection is lost.
        case cut
        /// The server has sent bytes that nobody understands, and waits for the client to close.
        case open
    }

    private struct Edit: Hashable {
        let list: ListNumber
        let sequence: SequenceNumber
    }

    private var random: SplitMix64
    private var reader = FrameReader(limit: Int(Int32.max))
    private var author: AuthorID?
    /// Edits of the client that are neither committed nor refused.
    private var edits: Set<Edit> = []
    /// The requests to which `subscribed` was sent.
    private var requests: Set<RequestNumber> = []
    /// The number of no message.
    private static let unknown: UInt8 = 99
    /// What a damaged snapshot has in its digest, and no list has.
    package static let damage: UInt64 = 1 << 63
    private var waiting: [UInt8] = []
    /// The number of bytes that are sent one by one.
    private var single = 0
    /// How long to wait before the next piece.
    private var hold: UInt64 = 0
    private var end: Piece?
    /// Whether the client was welcomed in a version that it did not offer.
    private var hasWrongVersion = false

    /// Whether a snapshot may arrive damaged, or an unknown message be sent.
    private var mayDamage: Bool

    package init(seed: UInt64, mayDamage: Bool) {
        random = SplitMix64(seed: seed)
        self.mayDamage = mayDamage
    }

    /// Whether nothing waits for the client.
    package var isEmpty: Bool { waiting.isEmpty && end == nil }

    private mutating func chance(_ one: Int, in all: Int) -> Bool { random.next(below: all) < one }

    // MARK: From the client

    package mutating func received(_ bytes: UnsafeRawBufferPointer) -> [Received] {
        var frames: [[UInt8]] = []
        do {
            try reader.read(bytes) { (body) throws(WireError) -> Bool in
                frames.append([UInt8](body))
                return true
            }
        } catch {
            // Let the server respond to invalid bytes.
            reader = FrameReader(limit: Int(Int32.max))
            return [Received(bytes: [UInt8](bytes), list: nil, wanted: nil, rounds: 0, isPing: false)]
        }
        return frames.map { received($0) }
    }

    private mutating func received(_ body: [UInt8]) -> Received {
        var (list, wanted, rounds, isPing): (ListNumber?, String?, Int, Bool) = (nil, nil, 0, false)
        switch try? body.withUnsafeBytes({ try UpMessage($0) }) {
        case .submit(let submission):
            edits.insert(Edit(list: submission.list, sequence: submission.sequence))
            list = submission.list
            // Sometimes there are so many rounds that the submission's base is too old.
            rounds = chance(1, in: 8) ? 20 : random.next(below: 3)
        case .subscribe(let subscribe):
            wanted = subscribe.name
            // Sometimes there are so many rounds that the client must start from a snapshot.
            rounds = chance(1, in: 3) ? 12 : 0
        case .ping: isPing = true
        default: break
        }
        return Received(bytes: Frame.around(body), list: list, wanted: wanted, rounds: rounds, isPing: isPing)
    }

    // MARK: To the client

    /// Accepts complete frames.
    ///
    /// - Parameter id: the connection's number for the judge.
    package mutating func send(_ bytes: UnsafeRawBufferPointer, on id: Int, of server: Awkwardness) {
        var whole = FrameReader(limit: bytes.count)
        for message in whole.messages(in: bytes) where end == nil {
            if let provocation = server.provoked {
                provoke(provocation, message, server.judge.isIdle(id))
            } else {
                send(message, on: id, of: server)
            }
        }
    }

    /// Sends what should make the client stop.
    private mutating func provoke(_ provocation: Provocation, _ message: DownMessage, _ isIdle: Bool) {
        waiting += message.frame
        switch (provocation, message) {
        case (.unknown, .welcome): sendUnknown()
        case (.version, .welcome(var welcome)):
            hasWrongVersion = true
            welcome.version += 1
            waiting = DownMessage.welcome(welcome).frame
            end = .open
        // Whether a client goes on that was welcomed so shows only after a while.
        case (.version, _) where hasWrongVersion: break
        case (.unknown, _), (.version, _): end = .cut
        case (.replaced, _): if isIdle { refuse(.replaced, after: 0) }
        }
    }

    private mutating func send(_ message: DownMessage, on id: Int, of server: Awkwardness) {
        switch message {
        case .welcome(let welcome):
            author = welcome.author
            if server.judge.refuses(id) { return refuse(.tooManyConnections, after: 0) }
            if chance(1, in: 12) { return refuse(.tooManyConnections, after: wait()) }
        case .commit(let list, let commit) where commit.author == author:
            guard edits.remove(Edit(list: list, sequence: commit.sequence)) != nil else { break }
            if server.judge.wantsLarge(id) {
                waiting += Self.slowedDown(bytes: server.largeFrame) + message.frame
                return
            }
            if chance(1, in: 4) { return lose(message, server) }
            if chance(1, in: 3) {
                waiting +=
                    DownMessage.acknowledged(list: list, sequence: commit.sequence, revision: commit.revision).frame
            }
        case .rejected(let list, let sequence, _): edits.remove(Edit(list: list, sequence: sequence))
        case .subscribed(let subscribed):
            if chance(1, in: 12) { return lose(message, server) }
            let isFirst = requests.insert(subscribed.request).inserted
            if case .snapshot(let revision, let count, let digest) = subscribed.start, count > 0, isFirst, mayDamage,
                chance(1, in: 3)
            {
                mayDamage = false
                var damaged = subscribed
                damaged.start = .snapshot(revision: revision, count: count, digest: digest ^ Self.damage)
                waiting += DownMessage.subscribed(damaged).frame
                return
            }
        case .stale: if chance(1, in: 4) { return lose(message, server) }
        // Another program with this id would still be there after a while.
        case .error(.replaced, _, _, _, _): hold = 1_500
        default: break
        }
        waiting += message.frame
        if chance(1, in: 40), author != nil { waiting += Self.slowedDown() }
    }

    /// - Parameter bytes: the least size of the body.
    private static func slowedDown(bytes: Int = 0) -> [UInt8] {
        let text = "you send more than this server accepts; it reads more slowly"
        // To repeat a string of one character 16 million times takes a second.
        let blanks = Array(repeating: UInt8(ascii: " "), count: max(0, bytes - text.utf8.count - 16))
        let message = String(decoding: text.utf8 + blanks, as: UTF8.self)
        return DownMessage.error(code: .slowedDown, request: 0, retryAfter: 10, message: message).frame
    }

    private mutating func sendUnknown() {
        waiting += Frame.around([Self.unknown, 1, 2, 3])
        end = .open
    }

    /// Ends the connection before, in the middle of, or after a message that matters.
    private mutating func lose(_ message: DownMessage, _ server: Awkwardness) {
        let frame = message.frame
        if mayDamage, chance(1, in: 4) {
            mayDamage = false
            waiting += frame
            sendUnknown()
        } else if chance(1, in: 2) {
            waiting += frame.prefix(random.next(below: frame.count + 1))
            end = .cut
        } else {
            if chance(1, in: 2) { waiting += frame }
            let codes: [ErrorCode] = [.shuttingDown, .internalError, .idleTimeout, .replaced]
            let code = codes[random.next(below: codes.count)]
            refuse(code == .replaced && !server.mayReplace() ? .shuttingDown : code, after: wait())
        }
    }

    /// A wait that is longer than clients wait by themselves after a first failure.
    private mutating func wait() -> UInt64 { 400 + UInt64(random.next(below: 200)) }

    private mutating func refuse(_ code: ErrorCode, after milliseconds: UInt64) {
        let text = "this server is awkward on purpose"
        waiting += DownMessage.error(code: code, request: 0, retryAfter: milliseconds, message: text).frame
        end = .end
    }

    package mutating func next() -> Piece? {
        if hold > 0 { return .bytes([], pause: exchange(&hold, with: 0)) }
        guard !waiting.isEmpty else { return end.take() }
        if single == 0, chance(1, in: 6) { single = 1 + random.next(below: 40) }
        let count: Int
        if single > 0 {
            single -= 1
            count = 1
        } else {
            count = chance(1, in: 3) ? 1 + random.next(below: waiting.count) : waiting.count
        }
        defer { waiting.removeFirst(count) }
        let pause: UInt64 = chance(1, in: 100) ? 30 : chance(1, in: 6) ? 1 : 0
        return .bytes(Array(waiting.prefix(count)), pause: single > 0 ? 0 : pause)
    }
}
