import HandCore
import HandSync
import HandWire

extension Scenario {
    /// What may happen to a client, at random. At most one edit waits behind the one in flight.
    static func random(_ seed: UInt64) -> Scenario {
        Scenario("random \(seed)") { scenario in
            var random = SplitMix64(seed: seed)
            var (known, decided) = (0, SequenceNumber(rawValue: 0))
            scenario.hand = Hand(
                (1...4).map { number in
                    let content = Content.task("one\(number) two\(number)", done: number == 2)
                    return Item(id: ItemID(rawValue: UInt64(number)), content: content)
                })
            scenario.follow()
            for _ in 0..<(8 + random.next(below: 16)) {
                let replica = scenario.client.replica ?? Replica()
                let awaits = (replica.inFlight?.sequence ?? 0) > decided
                switch random.next(below: 10) {
                case 0..<3 where replica.bufferedCount == 0: scenario.edit(scenario.anyEdit(of: replica.view, &random))
                case 3 where replica.bufferedCount == 0: scenario.undo()
                case 4 where replica.bufferedCount == 0: scenario.redo()
                case 5, 6:
                    let base = max(0, scenario.revision - random.next(below: 4))
                    scenario.commit(scenario.anyEdit(of: scenario.hand, &random), base: base)
                case 7 where awaits:
                    decided = replica.inFlight?.sequence ?? 0
                    scenario.decide(isSent: true, &random)
                case 8 where awaits && scenario.client.submission.map { $0.base < replica.revision } == true:
                    scenario.hear(.stale(list: 7, sequence: replica.inFlight?.sequence ?? 0, head: replica.revision))
                case 9: scenario.goAway(awaits, known, &decided, &random)
                default: break
                }
                known = scenario.revision
            }
        }
    }

    /// Commits the submission in flight, or refuses it, as a server does where an id would occur twice.
    private mutating func decide(isSent: Bool, _ random: inout SplitMix64) {
        let after = carriedSubmission.flatMap { try? hand.applying($0) }
        let isAllowed = after.map { Set($0.ids).count == $0.count } ?? false
        if isAllowed, random.next(below: 4) > 0 {
            accept(isSent: isSent)
        } else {
            refuse(.storeFull(limit: 1), isSent: isSent)
        }
    }

    /// The connection is lost for some commits, of which one may be the client's own.
    private mutating func goAway(
        _ awaits: Bool, _ known: Int, _ decided: inout SequenceNumber, _ random: inout SplitMix64
    ) {
        lose()
        let place = random.next(below: 4)
        for number in 0..<3 {
            if number == place, awaits, client.replica?.inFlight != nil {
                decide(isSent: false, &random)
                decided = client.submission?.sequence ?? 0
            } else if random.next(below: 2) == 0 {
                commit(anyEdit(of: hand, &random), isSent: false)
            }
        }
        connect()
        let isRefused = commits.last { $0.author == 1 }?.refusal != nil
        if random.next(below: 2) == 0 {
            snapshot(last: decided, isRefused: isRefused)
        } else {
            resume(after: known, last: decided)
        }
    }

    /// An insertion, a deletion, a move, a new wording, or something of each.
    private mutating func anyEdit(of hand: Hand, _ random: inout SplitMix64) -> Delta {
        // No word occurs twice, so that there is one best way to cut a text.
        func word() -> String { "w\(random.next(below: 1_000_000))" }
        guard !hand.isEmpty else { return .inserting(note(word()), at: 0, .after) }
        let index = random.next(below: hand.count)
        switch random.next(below: 8) {
        case 0: return .inserting(note(word() + " " + word()), at: random.next(below: hand.count + 1), .before)
        case 1: return .deleting(index..<index + 1)
        case 2: return .moving(index..<index + 1, to: random.next(below: hand.count + 1), .after)
        case 3...4 where hand[index].content.kind == .task:
            return .editing(at: index, Change(done: random.next(below: 2) == 0))
        default:
            let old = hand[index].content.text
            var all = old.split(separator: " ").map(String.init)
            let place = random.next(below: all.count + 1)
            switch random.next(below: 3) {
            case 0: all.insert(word(), at: place)
            case 1 where !all.isEmpty: all.remove(at: min(place, all.count - 1))
            default: if place < all.count { all[place] = word() }
            }
            return .editing(at: index, Change(text: old, to: all.joined(separator: " ")))
        }
    }
}
