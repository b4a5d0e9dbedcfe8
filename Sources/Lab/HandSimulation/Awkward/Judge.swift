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
    /// The items of unknown kinds.
    var unknownItems: [ItemID: Content] = [:]
    private var count = 0

    package init() {}

    // MARK: Events

    /// - Returns: the number of the connection.
    package mutating func connected(now: UInt64) -> Int {
        count += 1
        talks[count] = Talk(began: now, lastHeard: now)
        return count
    }

    package mutating func received(_ bytes: UnsafeRawBufferPointer, on id: Int, now: UInt64) {
        let bodies = talks[id]?.up.bodies(in: bytes) ?? []
        if !bodies.isEmpty { noteRead(on: id, now) }
        for body in bodies { judge(body, on: id, now) }
    }

    package mutating func sent(_ bytes: UnsafeRawBufferPointer, on id: Int, now: UInt64) {
        for body in talks[id]?.down.bodies(in: bytes) ?? [] {
            guard let message = try? body.withUnsafeBytes({ try DownMessage($0) }) else {
                note("<", "unknown", body, id, now)
                learnUnknown(on: id, now)
                continue
            }
            note("<", Self.name(message), body, id, now)
            if body.count > 1 << 16 { talks[id]?.isLarge = true }
            learn(message, on: id, now)
        }
    }

    /// - Parameter isLeft: whether the client closed the connection.
    package mutating func ended(_ id: Int, isLeft: Bool, now: UInt64) {
        if !judgeStrange(id, now) {
            judgeSilence(id, now)
            judgePresence(id)
            if isLeft { noteLeft(id, now) }
        }
        talks[id] = nil
    }

    /// Time in which the judge did not run, on a busy machine, does not count: frames were waiting to be read.
    package mutating func stood(for milliseconds: UInt64, now: UInt64) {
        for id in talks.keys {
            talks[id]?.lastHeard += milliseconds
            talks[id]?.strange?.since.at += milliseconds
            if let deadline = talks[id]?.idleDeadline, milliseconds > deadline / 3 { talks[id]?.stoodAt = now }
        }
    }

    // MARK: Occasions

    /// How long the next submission of a connection must wait for the client to show that it pings. After refusals, the
    /// connection lasts a while, so that the client's waits begin anew.
    package mutating func quiet(on id: Int) -> UInt64? {
        guard let talk = talks[id], let deadline = talk.idleDeadline, let client = talk.client else { return nil }
        guard let pings = clients[client]?.busyPings, pings.gaps.count < 3, pings.areLate(deadline * 3 / 5) else {
            return talk.wasRefused ? 1_200 : nil
        }
        // Late pings take longer to see.
        clients[client]?.busyPings.holds += 1
        return deadline * (pings.holds == 0 ? 1 : 2) + 500
    }

    /// Whether to refuse a connection that the server has just welcomed: the client's second one and the next four, to
    /// see how long it waits. If the waits were so short that this is unlikely, a longer series follows later.
    package mutating func refuses(_ id: Int) -> Bool {
        guard let name = talks[id]?.client, var client = clients[name] else { return false }
        defer { clients[name] = client }
        if client.refusals.left == 0 {
            let isNext = client.refusals.count == 0 ? client.helloCount == 2 : client.refusals.isSuspicious
            guard isNext, client.leave?.isRefusal != true else { return false }
            client.refusals.left = client.refusals.count == 0 ? 5 : 8
            client.refusals.count += 1
            client.refusals.waits = []
            client.refusals.isSuspicious = false
        }
        client.refusals.left -= 1
        return true
    }

    /// Whether to send a large frame before the commit that comes next: once, and again after a client has closed the
    /// connection then.
    package mutating func wantsLarge(_ id: Int) -> Bool {
        guard let client = talks[id]?.client, let sent = clients[client]?.largeFrames else { return false }
        guard sent == 0 || sent < 4 && clients[client]?.refused[.largeFrames] == sent else { return false }
        clients[client]?.largeFrames += 1
        return true
    }

    /// Whether the client of a connection has certainly no edit in flight: it would have sent that edit again.
    package func isIdle(_ id: Int) -> Bool {
        guard let talk = talks[id], let client = talk.client else { return false }
        return clients[client]?.hasOpenEdits == false && talk.follows.values.contains { $0.since.hasSpoken }
    }

    /// How long no client must be there until all have left, in milliseconds: one that was refused may wait long.
    package var maxAbsence: UInt64 { clients.values.contains { $0.leave?.isRefusal == true } ? 15_000 : 5_000 }

    /// Whether an edit of a client was decided.
    package private(set) var hasDecided = false

    // MARK: Findings

    mutating func exercise(_ requirement: Requirement) { verdict.exercise(requirement) }

    mutating func noteDecision() { hasDecided = true }

    mutating func find(_ requirement: Requirement, _ text: String, on id: Int) {
        verdict.add(requirement, text, talks[id]?.frames ?? [])
    }

    private static func name(_ message: DownMessage) -> String {
        if case .error(let code, _, _, _, _) = message { return "error \(code)" }
        return String("\(message)".prefix { $0 != "(" })
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
    package mutating func bodies(in bytes: UnsafeRawBufferPointer) -> [[UInt8]] {
        var bodies: [[UInt8]] = []
        try? read(bytes) { (body) throws(WireError) -> Bool in
            bodies.append([UInt8](body))
            return true
        }
        return bodies
    }

    /// Returns the messages that these bytes complete, without those that cannot be read.
    mutating func messages(in bytes: UnsafeRawBufferPointer) -> [DownMessage] {
        bodies(in: bytes).compactMap { body in try? body.withUnsafeBytes { try DownMessage($0) } }
    }
}
