import HandCore

/// A person who edits: draws a random edit of a given kind on the person's view of the list.
struct SimulatedPerson {
    private var chaos: Chaos

    init(random: SplitMix64) {
        chaos = Chaos(seed: 0)
        chaos.random = random
    }

    /// About how long lists stay: short enough that edits meet on the same items.
    private static let length = 20

    mutating func delta(_ kind: FaultSchedule.Kind, on view: Hand) -> Delta {
        let count = view.count
        if count == 0 { return insert(on: view) }
        if count > Self.length { return Delta.deleting(0..<count - Self.length / 2) }
        var index = chaos.random.next(below: count)
        switch kind {
        case .delete: return Delta.deleting(range(in: count))
        case .move: return Delta.moving(range(in: count), to: chaos.random.next(below: count + 1), side())
        case .change where !view.rules.hasDeck:
            // Half the time, everybody edits the same item, so that their words meet.
            if chaos.random.next() & 1 == 0 {
                index = view.firstIndex { [.task, .note].contains($0.content.kind) } ?? index
            }
            return Delta.editing(at: index, chaos.change(for: view[index].content))
        case .block where view.rules == Rules(): return chaos.delta(on: view, size: 4)
        case .exact: return Delta.deleting(index..<index + 1)
        default: return insert(on: view)
        }
    }

    private mutating func insert(on view: Hand) -> Delta {
        let items = (0..<1 + chaos.random.next(below: 2)).map { _ in
            let item = chaos.item()
            return view.rules.hasDeck ? Item(id: item.id, content: .card(.faceDown)) : item
        }
        return Delta.inserting(items, at: chaos.random.next(below: view.count + 1), side())
    }

    private mutating func range(in count: Int) -> Range<Int> {
        let start = chaos.random.next(below: count)
        return start..<min(count, start + 1 + chaos.random.next(below: 3))
    }

    private mutating func side() -> Side { chaos.random.next() & 1 == 0 ? .after : .before }
}
