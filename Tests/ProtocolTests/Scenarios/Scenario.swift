import HandCore
import HandFormats
import HandVectors
import HandWire

/// What happens to a client that follows one list, as a vector in the making: a server of that list, as far as a
/// scenario needs one, and the frames that it sends.
struct Scenario {
    let name: String
    private(set) var steps: [JSONValue] = []
    private(set) var client = Vectors.Follower()
    /// The list on the server.
    var hand = Hand()
    var revision: Int { commits.count }
    private(set) var commits: [Commit] = []
    var logID: UInt64 = 0x2_0000_0005
    var list: ListNumber = 7
    private var lastItem: UInt64 = 100

    init(_ name: String, _ texts: [String] = [], _ body: (inout Scenario) throws -> Void) rethrows {
        self.name = name
        hand = Hand(texts.enumerated().map { Item(id: ItemID(rawValue: UInt64($0 + 1)), content: .note($1)) })
        try body(&self)
    }

    /// The vector, without its answer.
    var question: JSONValue { ["law": "machine", "name": .string(name), "steps": .array(steps)] }

    private mutating func happens(_ step: JSONValue) {
        steps.append(step)
        do { _ = try client.answer(to: JSONField(step)) } catch { preconditionFailure("\(name): \(error)") }
    }

    // MARK: The client

    mutating func connect(as author: AuthorID = 1) {
        happens(["connected": true])
        hear(
            .welcome(
                .init(
                    version: ProtocolVersion.highest, capabilities: [], author: author, idleDeadline: 45_000,
                    frameBytes: 8 << 20, program: "")))
    }

    mutating func lose() { happens(["lost": true]) }
    mutating func undo() { happens(["undo": true]) }
    mutating func redo() { happens(["redo": true]) }

    mutating func edit(_ delta: Delta, isExact: Bool = false) {
        let step: [JSONValue.Member] = [.init("edit", JSON.delta(delta))] + (isExact ? [.init("exact", true)] : [])
        happens(.object(step))
    }

    /// A new note, whose id is the next number.
    mutating func note(_ text: String) -> [Item] {
        lastItem += 1
        return [Item(id: ItemID(rawValue: lastItem), content: .note(text))]
    }

    /// The client inserts a note.
    mutating func insert(_ text: String, at gap: Int, _ side: Side = .after) {
        edit(.inserting(note(text), at: gap, side))
    }

    // MARK: The server

    mutating func hear(_ message: DownMessage) { hear(message.frame, Vectors.members(of: message)) }

    mutating func hear(_ frame: [UInt8], _ meaning: [JSONValue.Member] = []) {
        happens(.object([.init("frame", .string(Hex.text(frame)))] + meaning))
    }

    mutating func answer(
        _ start: DownMessage.Subscribed.Start, last: SequenceNumber = 0, isRefused: Bool = false,
        request: RequestNumber? = nil
    ) {
        hear(
            .subscribed(
                .init(
                    request: request ?? client.request, list: list, logID: logID, rules: hand.rules, lastSequence: last,
                    isLastRefused: isRefused, start: start)))
    }

    /// Answers with a snapshot in one chunk.
    mutating func snapshot(last: SequenceNumber = 0, isRefused: Bool = false) {
        beginSnapshot(last: last, isRefused: isRefused)
        if !hand.isEmpty { chunk(Array(hand)) }
    }

    mutating func beginSnapshot(last: SequenceNumber = 0, isRefused: Bool = false, request: RequestNumber? = nil) {
        answer(
            .snapshot(revision: revision, count: hand.count, digest: hand.digest), last: last, isRefused: isRefused,
            request: request)
    }

    mutating func chunk(_ items: some Collection<Item>) { hear(.chunk(request: client.request, items: Hand(items))) }

    /// Answers that the commits after a revision follow, and sends them.
    mutating func resume(after known: Int, last: SequenceNumber = 0) {
        answer(.resumed(head: revision, digest: hand.digest), last: last)
        for commit in commits[known...] { hear(.commit(list: list, commit)) }
    }

    /// Commits an edit, and sends it unless the client is away.
    mutating func commit(
        _ delta: Delta, author: AuthorID = 2, sequence: SequenceNumber? = nil, base: Int? = nil,
        refusal: Rejection? = nil,
        isSent: Bool = true
    ) {
        do { try hand.apply(delta) } catch { preconditionFailure("\(name): \(error)") }
        commits.append(
            Commit(
                revision: revision + 1, author: author,
                sequence: sequence ?? SequenceNumber(rawValue: UInt64(revision + 1)),
                base: refusal == nil ? base ?? revision : revision, time: 0, count: hand.count, digest: hand.digest,
                delta: delta, refusal: refusal))
        if isSent, let commit = commits.last { hear(.commit(list: list, commit)) }
    }

    /// Somebody else inserts a note.
    mutating func others(_ text: String, at gap: Int, _ side: Side = .after, base: Int? = nil, isSent: Bool = true) {
        commit(.inserting(note(text), at: gap, side), base: base, isSent: isSent)
    }

    /// The client's last submission, carried over the commits since its base.
    var carriedSubmission: Delta? {
        client.submission.map { submission in
            commits[submission.base...].reduce(submission.delta) { $0.transformed(over: $1.delta, as: .later) }
        }
    }

    /// Commits the client's last submission.
    mutating func accept(isSent: Bool = true) {
        guard let submission = client.submission, let delta = carriedSubmission else {
            preconditionFailure("\(name): nothing was submitted")
        }
        commit(
            delta, author: 1, sequence: submission.sequence, base: submission.base - submission.lag, isSent: isSent)
    }

    mutating func refuse(_ reason: Rejection, isSent: Bool = true) {
        commit(.identity, author: 1, sequence: client.submission?.sequence, refusal: reason, isSent: isSent)
    }

    /// Sends a commit that is not the list's next one.
    mutating func wrongCommit(_ change: (inout Commit) -> Void) {
        let delta = Delta.inserting(note("wrong"), at: 0, .after)
        var commit = Commit(
            revision: revision + 1, author: 2, sequence: 1, base: revision, time: 0, count: hand.count + 1,
            digest: ((try? hand.applying(delta)) ?? hand).digest, delta: delta)
        change(&commit)
        hear(.commit(list: list, commit))
    }

    /// The client follows the list.
    mutating func follow() {
        connect()
        snapshot()
    }
}
