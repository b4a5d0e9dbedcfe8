import HandCore
import HandWire

/// What may happen to one connection and seldom does, chosen by a seed: bytes one by one, several frames at once, pauses,
/// `acknowledged` before its commit, warnings, ends with and without a reason. All of it is within `Protocol.md`.
///
/// Sans-IO: frames of the server and of the client go in, pieces of the former and the latter one by one come out.
package struct AwkwardWire {
    /// A frame of the client, or bytes that are none.
    package struct Received {
        package let bytes: [UInt8]
        /// The list that it is to edit, or asks for by name; others edit that first, so many times over.
        let list: UInt64?
        package let wanted: String?
        package var rounds: Int
    }

    /// What comes next on the way to the client.
    package enum Piece {
        case bytes([UInt8], pause: UInt64)
        /// The server has said why, and ends the connection.
        case end
        /// The connection is lost.
        case cut
    }

    private struct Edit: Hashable {
        let list: UInt64
        let sequence: UInt64
    }

    private var random: SplitMix64
    private var reader = FrameReader(limit: Int(Int32.max))
    private var author: UInt64?
    /// Edits of the client that are neither committed nor refused.
    private var edits: Set<Edit> = []
    private var waiting: [UInt8] = []
    /// Bytes that go out one by one.
    private var single = 0
    private var end: Piece?

    package init(seed: UInt64) {
        random = SplitMix64(seed: seed)
    }

    /// Whether bytes wait for the client.
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
            // What it says to that is the server's business.
            reader = FrameReader(limit: Int(Int32.max))
            return [Received(bytes: [UInt8](bytes), list: nil, wanted: nil, rounds: 0)]
        }
        return frames.map { received($0) }
    }

    private mutating func received(_ body: [UInt8]) -> Received {
        var (list, wanted, rounds): (UInt64?, String?, Int) = (nil, nil, 0)
        switch try? body.withUnsafeBytes({ try UpMessage($0) }) {
        case .submit(let submission):
            edits.insert(Edit(list: submission.list, sequence: submission.sequence))
            list = submission.list
            // Now and then so many that its base is too old.
            rounds = chance(1, in: 8) ? 20 : random.next(below: 3)
        case .subscribe(let subscribe):
            wanted = subscribe.name
            // Now and then so many that it has to start from a snapshot.
            rounds = chance(1, in: 3) ? 12 : 0
        default: break
        }
        return Received(bytes: Frame.around(body), list: list, wanted: wanted, rounds: rounds)
    }

    // MARK: To the client

    /// Takes whole frames.
    ///
    /// - Parameter mayReplace: is asked before the client is told that it has connected again.
    package mutating func send(_ bytes: UnsafeRawBufferPointer, mayReplace: () -> Bool) {
        var frames: [[UInt8]] = []
        var whole = FrameReader(limit: bytes.count)
        try? whole.read(bytes) { (body) throws(WireError) -> Bool in
            frames.append([UInt8](body))
            return true
        }
        for body in frames where end == nil {
            guard let message = try? body.withUnsafeBytes({ try DownMessage($0) }) else { continue }
            send(message, mayReplace)
        }
    }

    private mutating func send(_ message: DownMessage, _ mayReplace: () -> Bool) {
        switch message {
        case .welcome(let welcome):
            author = welcome.author
            if chance(1, in: 12) { return refuse(.tooManyConnections, after: 40) }
        case .commit(let list, let commit) where commit.author == author:
            guard edits.remove(Edit(list: list, sequence: commit.sequence)) != nil else { break }
            if chance(1, in: 4) { return lose(message, mayReplace) }
            if chance(1, in: 3) {
                waiting +=
                    DownMessage.acknowledged(list: list, sequence: commit.sequence, revision: commit.revision).frame
            }
        case .rejected(let list, let sequence, _): edits.remove(Edit(list: list, sequence: sequence))
        case .subscribed: if chance(1, in: 12) { return lose(message, mayReplace) }
        case .stale: if chance(1, in: 4) { return lose(message, mayReplace) }
        default: break
        }
        waiting += message.frame
        if chance(1, in: 40), author != nil {
            let text = "more comes from you than this server takes; it is read more slowly"
            waiting += DownMessage.error(code: .slowedDown, request: 0, retryAfter: 10, message: text).frame
        }
    }

    /// The connection ends before, in the middle of, or behind a message that matters.
    private mutating func lose(_ message: DownMessage, _ mayReplace: () -> Bool) {
        let frame = message.frame
        if chance(1, in: 2) {
            waiting += frame.prefix(random.next(below: frame.count + 1))
            end = .cut
        } else {
            if chance(1, in: 2) { waiting += frame }
            let codes: [ErrorCode] = [.shuttingDown, .internalError, .idleTimeout, .replaced]
            let code = codes[random.next(below: codes.count)]
            refuse(code == .replaced && !mayReplace() ? .shuttingDown : code, after: UInt64(random.next(below: 60)))
        }
    }

    private mutating func refuse(_ code: ErrorCode, after milliseconds: UInt64) {
        let text = "this server is awkward on purpose"
        waiting += DownMessage.error(code: code, request: 0, retryAfter: milliseconds, message: text).frame
        end = .end
    }

    /// The next piece; nil if there is none.
    package mutating func next() -> Piece? {
        guard !waiting.isEmpty else {
            defer { end = nil }
            return end
        }
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
