import HandCore
import HandSimulation
import HandSync
import HandWire

/// A client's machine, and a server that sends anything. An input is a program of events for them.
struct SessionProgram {
    private var machine = ClientMachine(
        client: ClientID(high: 1, low: 2), person: "p", program: "fuzzed", seed: 7)
    private var input: Input
    private var now: UInt64 = 1_000
    /// Each view as it follows from the reported deltas.
    private var followed: [String: Hand] = [:]
    private var lastRequest: RequestNumber = 0

    private static let names = ["a", "b"]

    static func run(_ bytes: [UInt8]) throws {
        var program = SessionProgram(input: Input(bytes))
        try program.greet()
        for _ in 0..<500 where !program.input.isAtEnd { try program.step() }
    }

    private init(input: Input) {
        self.input = input
    }

    /// Most of the states can only be reached after a welcome.
    private mutating func greet() throws {
        if input.byte() > 240 { return }
        open("a")
        try perform { $0.start() }
        try perform { $0.connected(now: 1_000) }
        try hear(
            .welcome(
                DownMessage.Welcome(
                    version: ProtocolVersion.highest, author: 1, idleDeadline: 45_000,
                    frameBytes: 1 << 20,
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
        case 0: try perform { $0.start() }
        case 1: try perform { [now] in $0.connected(now: now) }
        case 2: try perform { [now] in $0.disconnected(reason: "x", now: now) }
        case 3: try bytes(input.bytes(input.below(80)))
        case 4: open(name)
        case 5:
            followed[name] = nil
            try perform { $0.close(name) }
        case 6, 7, 8, 9: try edit(name)
        case 10: try perform { _ = try? $0.take(.undo, name) }
        case 11: try perform { _ = try? $0.take(.redo, name) }
        case 12: try letTimePass()
        case 13: try ask()
        case 14:
            let focus = input.flag() ? Focus(number: input.number()) : nil
            try perform { $0.setPresence(name, focus) }
        default: try hear(SessionMessages.any(&input, machine, name, lastRequest))
        }
    }

    private mutating func open(_ name: String) {
        guard machine.subscriptions[name] == nil else { return }
        followed[name] = Hand()
        machine.open(name, isJournaled: true)
    }

    private mutating func edit(_ name: String) throws {
        guard let view = machine.subscriptions[name]?.replica.view, view.count < 500 else { return }
        var chaos = Chaos(seed: input.seed())
        let delta = chaos.delta(on: view, size: 1 + input.below(4))
        let isExact = input.below(8) == 7
        try perform { try? $0.edit(name, delta, isExact: isExact) }
    }

    private mutating func letTimePass() throws {
        let steps: [UInt64] = [1, 100, 15_000, 45_000, 60_000]
        now += steps[input.below(steps.count)]
        try perform { [now] in $0.timer(now: now) }
    }

    private mutating func ask() throws {
        var asked: RequestNumber?
        try perform { machine in
            asked = machine.ask({ .fetch(request: $0, name: "a", revision: nil) })
        }
        lastRequest = asked ?? lastRequest
    }

    private mutating func hear(_ message: DownMessage) throws {
        try bytes(message.frame)
    }

    private mutating func bytes(_ bytes: [UInt8]) throws {
        try perform { [now] machine in
            bytes.withUnsafeBytes { machine.received($0, now: now) }
        }
    }

    // MARK: Laws

    private mutating func perform(
        _ body: (inout ClientMachine) -> Void
    ) throws {
        body(&machine)
        while let effect = machine.nextEffect() {
            if case .list(let list, .changed(_, let update)) = effect {
                do { followed[list] = try followed[list]?.applying(update.delta) } catch {
                    throw Fault(description: "a delta of the view does not fit: \(error)")
                }
            }
            if case .list(let list, .refused) = effect { followed[list] = nil }
        }
        for (name, subscription) in machine.subscriptions {
            try ReplicaLaws.check(subscription.replica)
            if let view = followed[name], view != subscription.replica.view {
                throw Fault(description: "the deltas that were reported do not lead to the view")
            }
        }
    }
}
