import HandCore
import HandSimulation
import HandSync
import HandWire

/// Well-formed messages of a server, mostly almost right. The input chooses their fields.
enum SessionMessages {
    static func any(
        _ input: inout Input, _ machine: ClientMachine, _ name: String, _ lastRequest: RequestNumber
    ) -> DownMessage {
        let replica = machine.subscriptions[name]?.replica ?? Replica()
        let list = input.below(16) == 15 ? input.number() : machine.subscriptions[name]?.list ?? 1
        let sequence = input.below(8) == 7 ? input.number() : replica.sequence
        switch input.below(20) {
        case 0: return welcome(&input)
        case 1, 2: return subscribed(&input, replica, request(&input, lastRequest))
        case 3, 4:
            var chaos = Chaos(seed: input.seed())
            return .chunk(request: request(&input, lastRequest), items: Hand(chaos.items(input.below(8))))
        case 5, 6: return .rejected(list: list, sequence: sequence, rejection(&input))
        case 7: return .stale(list: list, sequence: sequence, head: near(&input, replica.revision))
        case 8: return .acknowledged(list: list, sequence: sequence, revision: near(&input, replica.revision))
        case 9: return .presence(list: list, [.init(author: input.number(), place: .here(person: "q", nil))])
        case 10: return .pong(input.number())
        case 11: return .done(request: request(&input, lastRequest))
        case 12:
            let code = ErrorCode.allCases[input.below(ErrorCode.allCases.count)]
            return .error(
                code: code, request: request(&input, lastRequest), list: list, retryAfter: input.number(),
                message: "m")
        case 13:
            return .state(
                request: request(&input, lastRequest), revision: near(&input, 0), count: input.below(4), digest: 0,
                rules: Rules())
        default: return .commit(list: list, commit(&input, replica))
        }
    }

    private static func request(_ input: inout Input, _ last: RequestNumber) -> RequestNumber {
        let choice = input.byte()
        let near = choice < 128 ? last.rawValue &+ UInt64(choice % 4) : UInt64(choice % 8)
        return choice < 250 ? RequestNumber(rawValue: near) : input.number()
    }

    private static func near(_ input: inout Input, _ revision: Int) -> Int {
        input.below(8) == 7 ? Int(min(input.number(), 1 << 53 - 1)) : max(0, revision + input.below(4) - 1)
    }

    private static func welcome(_ input: inout Input) -> DownMessage {
        .welcome(
            DownMessage.Welcome(
                version: ProtocolVersion.highest, author: input.number(),
                idleDeadline: input.number(), frameBytes: 1 << 16, program: "s"))
    }

    private static func rejection(_ input: inout Input) -> Rejection {
        (try? Rejection(code: UInt64(input.below(12)), first: input.number(), second: 0)) ?? .notStored
    }

    private static func subscribed(_ input: inout Input, _ replica: Replica, _ request: RequestNumber) -> DownMessage {
        let rules = Rules(maximumCount: input.below(8) == 7 ? 3 : Rules.unlimitedCount)
        let isSame = input.below(4) > 0
        let last =
            input.below(8) == 7
            ? input.number() : SequenceNumber(rawValue: replica.sequence.rawValue &- UInt64(input.below(2)))
        let digest = replica.confirmed.digest
        let start: DownMessage.Subscribed.Start =
            switch input.below(5) {
            case 0, 1: .resumed(head: near(&input, replica.revision), digest: input.below(3) == 0 ? 1 : digest)
            case 2, 3: .snapshot(revision: near(&input, replica.revision), count: input.below(6), digest: digest)
            default: .newest(near(&input, replica.revision))
            }
        return .subscribed(
            DownMessage.Subscribed(
                request: request, list: ListNumber(rawValue: UInt64(1 + input.below(2))),
                logID: isSame ? replica.logID : input.number(),
                rules: rules, lastSequence: last, start: start))
    }

    /// Returns somebody's commit or the client's own, which fits the list or does not.
    private static func commit(_ input: inout Input, _ replica: Replica) -> Commit {
        var chaos = Chaos(seed: input.seed())
        let isOwn = input.below(4) == 3
        var delta = chaos.delta(on: replica.confirmed, size: 1 + input.below(3))
        if isOwn, let mine = replica.inFlight, input.below(4) > 0 { delta = mine.delta }
        if input.below(16) == 15 { delta = Delta.deleting(0..<Int(min(input.number(), 1 << 31 - 1))) }
        let after = try? replica.confirmed.applying(delta)
        let revision = input.below(16) == 15 ? near(&input, replica.revision) : replica.revision + 1
        return Commit(
            revision: revision, author: isOwn ? replica.author ?? 1 : 2, sequence: isOwn ? replica.sequence : 1,
            base: max(0, revision - 1 - input.below(3)), time: 0, count: after?.count ?? 0,
            digest: input.below(16) == 15 ? 0 : after?.digest ?? 0, delta: delta)
    }
}
