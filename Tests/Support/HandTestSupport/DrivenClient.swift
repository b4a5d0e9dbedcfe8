import HandCore
import HandSync
import HandWire

/// A client's machine whose server is the test, with all its effects.
package struct DrivenClient {
    package private(set) var machine: ClientMachine
    /// The effects of the machine, in order.
    package var effects: [ClientMachine.Effect] = []
    /// The messages that it sent to the server.
    package var said: [UpMessage] = []
    /// The journal writes that wait, if the test decides when they are kept; otherwise they are kept at once.
    package var unkept: [[JournalWrite]] = []
    private let keepsAtOnce: Bool

    package init(keepsAtOnce: Bool = true, servers: [String] = []) {
        machine = ClientMachine(
            client: ClientID(high: 0, low: 1), person: "", program: "", seed: 1, journal: JournalBuffer(),
            servers: servers)
        self.keepsAtOnce = keepsAtOnce
    }

    @discardableResult
    package mutating func perform<Value>(_ body: (inout ClientMachine) throws -> Value) rethrows -> Value {
        let value = try body(&machine)
        while let effect = machine.nextEffect() {
            effects.append(effect)
            switch effect {
            case .send(let frame): said += Self.messages(in: frame)
            case .keep(let writes) where keepsAtOnce: machine.kept(writes.count, now: 0)
            case .keep(let writes): unkept.append(writes)
            default: break
            }
        }
        return value
    }

    package static func messages(in frame: [UInt8]) -> [UpMessage] {
        var (messages, reader): ([UpMessage], FrameReader) = ([], FrameReader(limit: frame.count))
        try? frame.withUnsafeBytes { bytes in
            try reader.read(bytes) { (body) throws(WireError) -> Bool in
                messages.append(try UpMessage(body))
                return true
            }
        }
        return messages
    }

    // MARK: The server

    package mutating func hear(_ message: DownMessage, now: UInt64 = 0) {
        let frame = message.frame
        perform { machine in frame.withUnsafeBytes { machine.received($0, now: now) } }
    }

    /// Starts the client and admits it.
    package mutating func connect(version: Int = ProtocolVersion.highest, now: UInt64 = 0) {
        perform { $0.start() }
        perform { $0.connected(now: now) }
        welcome(version: version, now: now)
    }

    package mutating func welcome(
        version: Int = ProtocolVersion.highest, idleDeadline: UInt64 = 45_000, now: UInt64 = 0
    ) {
        let welcome = DownMessage.Welcome(
            version: version, author: 1, idleDeadline: idleDeadline, frameBytes: 1 << 20,
            program: "")
        hear(.welcome(welcome), now: now)
    }

    /// Answers a subscription. If it resumes at the replica's revision, the digest is the replica's, unless one is given.
    package mutating func enter(
        _ request: RequestNumber, list: ListNumber = 1, logID: UInt64 = 5, lastSequence: SequenceNumber = 0,
        _ start: DownMessage.Subscribed.Start, now: UInt64 = 0
    ) {
        let start = start.withDigest(of: machine.subscriptions.values.first { $0.request == request }?.replica)
        let subscribed = DownMessage.Subscribed(
            request: request, list: list, logID: logID, rules: Rules(), lastSequence: lastSequence, start: start)
        hear(.subscribed(subscribed), now: now)
    }

    /// Answers a subscription with a snapshot.
    package mutating func begin(
        _ request: RequestNumber, list: ListNumber = 1, logID: UInt64 = 5, _ hand: Hand = Hand(), revision: Int = 0,
        lastSequence: SequenceNumber = 0
    ) {
        let start = DownMessage.Subscribed.Start.snapshot(revision: revision, count: hand.count, digest: hand.digest)
        enter(request, list: list, logID: logID, lastSequence: lastSequence, start)
        if !hand.isEmpty { hear(.chunk(request: request, items: hand)) }
    }

    // MARK: Results

    package var submissions: [Submission] { said.compactMap { if case .submit(let one) = $0 { one } else { nil } } }
    package var updates: [Replica.Update] {
        effects.compactMap { if case .list(_, .changed(_, let one)) = $0 { one } else { nil } }
    }
    package var notices: [Replica.Notice] { updates.flatMap(\.notices) }

    package var answers: [RequestNumber: ClientMachine.Answer] {
        var answers: [RequestNumber: ClientMachine.Answer] = [:]
        for case .answer(let request, let answer) in effects { answers[request] = answer }
        return answers
    }
}

extension DownMessage.Subscribed.Start {
    /// A digest that no list has.
    private static let anyDigest = UInt64.max

    /// The client resumes. The digest at `head` is right.
    package static func resumed(at head: Int) -> Self { .resumed(head: head, digest: anyDigest) }

    /// The newest revision, if the client resumes.
    package var resumedHead: Int? { if case .resumed(let head, _) = self { head } else { nil } }

    fileprivate func withDigest(of replica: Replica?) -> Self {
        guard case .resumed(let head, Self.anyDigest) = self else { return self }
        return .resumed(head: head, digest: replica?.confirmed.digest ?? 0)
    }
}
