import HandCore
import HandSimulation
import HandSync
import HandWire

/// A client's session, and a server that says anything: an input is a program of what befalls them.
struct SessionProgram {
    private var session = ClientSession(
        client: ClientID(high: 1, low: 2), person: "p", program: "fuzzed", seed: 7)
    private var input: Input
    private var now: UInt64 = 1_000
    /// Each view as it follows from the deltas that were reported.
    private var followed: [String: Hand] = [:]
    private var lastRequest: UInt64 = 0

    private static let names = ["a", "b"]

    static func run(_ bytes: [UInt8]) throws {
        var program = SessionProgram(input: Input(bytes))
        try program.greet()
        for _ in 0..<500 where !program.input.isAtEnd { try program.step() }
    }

    private init(input: Input) {
        self.input = input
    }

    /// Most of what there is to find lies behind a welcome.
    private mutating func greet() throws {
        if input.byte() > 240 { return }
        open("a")
        try perform { session, effect in session.start(effect) }
        try perform { session, effect in session.connected(now: 1_000, effect) }
        try hear(
            .welcome(
                DownMessage.Welcome(
                    version: 1, capabilities: .presence, author: 1, idleDeadline: 45_000, frameBytes: 1 << 20,
                    program: "s")))
        try hear(
            .subscribed(
                DownMessage.Subscribed(
                    request: 1, list: 1, logID: 1, rules: Rules(), lastSequence: 0,
                    start: .snapshot(revision: 0, count: 0, digest: 0))))
    }

    // MARK: Events

    private mutating func step() throws {
        let name = Self.names[input.below(8) / 7]
        switch input.below(24) {
        case 0: try perform { session, effect in session.start(effect) }
        case 1: try perform { [now] session, effect in session.connected(now: now, effect) }
        case 2: try perform { [now] session, effect in session.disconnected(reason: "x", now: now, effect) }
        case 3: try bytes(input.bytes(input.below(80)))
        case 4: open(name)
        case 5:
            followed[name] = nil
            try perform { session, effect in session.close(name, effect) }
        case 6, 7, 8, 9: try edit(name)
        case 10: try perform { session, effect in _ = try? session.undo(name, effect) }
        case 11: try perform { session, effect in _ = try? session.redo(name, effect) }
        case 12: try letTimePass()
        case 13: try ask()
        case 14:
            let item = input.flag() ? ItemID(rawValue: input.number()) : nil
            try perform { session, effect in session.setPresence(name, item: item, effect) }
        default: try hear(SessionMessages.any(&input, session, name, lastRequest))
        }
    }

    private mutating func open(_ name: String) {
        guard session.subscriptions[name] == nil else { return }
        followed[name] = Hand()
        session.open(name, isJournaled: true) { _ in }
    }

    private mutating func edit(_ name: String) throws {
        guard let view = session.subscriptions[name]?.replica.view, view.count < 500 else { return }
        var chaos = Chaos(seed: input.seed())
        let delta = chaos.delta(on: view, size: 1 + input.below(4))
        let isExact = input.below(8) == 7
        try perform { session, effect in try? session.edit(name, delta, isExact: isExact, effect) }
    }

    private mutating func letTimePass() throws {
        let steps: [UInt64] = [1, 100, 15_000, 45_000, 60_000]
        now += steps[input.below(steps.count)]
        try perform { [now] session, effect in session.timer(now: now, effect) }
    }

    private mutating func ask() throws {
        var asked: UInt64?
        try perform { session, effect in
            asked = session.ask({ .fetch(request: $0, name: "a", revision: nil) }, effect)
        }
        lastRequest = asked ?? lastRequest
    }

    private mutating func hear(_ message: DownMessage) throws {
        try bytes(message.frame)
    }

    private mutating func bytes(_ bytes: [UInt8]) throws {
        try perform { [now] session, effect in
            bytes.withUnsafeBytes { session.received($0, now: now, effect) }
        }
    }

    // MARK: Laws

    private mutating func perform(
        _ body: (inout ClientSession, (ClientSession.Effect) -> Void) -> Void
    ) throws {
        var effects: [ClientSession.Effect] = []
        body(&session) { effects.append($0) }
        for effect in effects {
            if case .update(let list, let update) = effect {
                do { followed[list] = try followed[list]?.applying(update.delta) } catch {
                    throw Fault(description: "a delta of the view does not fit: \(error)")
                }
            }
            if case .refused(let list, _, _) = effect { followed[list] = nil }
        }
        for (name, subscription) in session.subscriptions {
            try ReplicaLaws.check(subscription.replica)
            if let view = followed[name], view != subscription.replica.view {
                throw Fault(description: "the deltas that were reported do not lead to the view")
            }
        }
    }
}
