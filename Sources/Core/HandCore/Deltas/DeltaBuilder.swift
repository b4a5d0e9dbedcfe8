/// Puts components together from left to right and keeps them in normal form.
///
/// What it is fed must be well formed; only the form is its concern. Amortized O(1) a component.
struct DeltaBuilder {
    private(set) var steps: ContiguousArray<Delta.Step> = []
    private var items: [Item] = []
    private var changes: [Change] = []
    private var picked = 0
    private var reach = 0
    private var growth = 0

    init() {}

    /// A builder whose insertions are all those of `delta`, in its order: their items are shared, not copied.
    init(sharingItemsOf delta: Delta) {
        items = delta.items
        steps.reserveCapacity(delta.steps.count + 2)
    }

    mutating func append(_ component: Delta.Component) {
        switch component {
        case .keep(let count): keep(count)
        case .edit(let change): edit(change)
        case .delete(let count): delete(count)
        case .pick(let count): pick(count)
        case .insert(let items, let side): insert(items, side)
        case .drop(let slots, let side, let change): drop(slots.lowerBound, slots.count, side, change)
        }
    }

    /// A step of a delta whose insertions the builder shares (`init(sharingItemsOf:)`).
    mutating func append(_ step: Delta.Step, of delta: Delta) {
        switch step.kind {
        case .keep: keep(step.count)
        case .edit: edit(delta.changes[step.change])
        case .delete: delete(step.count)
        case .pick: pick(step.count)
        case .insert: insertShared(from: step.start, step.count, step.side)
        case .drop: drop(step.start, step.count, step.side, step.change < 0 ? nil : delta.changes[step.change])
        }
    }

    // MARK: Old items

    mutating func keep(_ count: Int) { walk(.keep, count) }

    mutating func delete(_ count: Int) {
        walk(.delete, count)
        growth -= count
    }

    mutating func pick(_ count: Int) {
        walk(.pick, count, start: picked)
        picked += count
    }

    mutating func edit(_ change: Change) {
        if change.isEmpty { return keep(1) }
        steps.append(Delta.Step(kind: .edit, count: 1, change: changes.count))
        changes.append(change)
        reach += 1
    }

    private mutating func walk(_ kind: Delta.Step.Kind, _ count: Int, start: Int = 0) {
        guard count > 0 else { return }
        reach += count
        if let last = steps.last, last.kind == kind {
            steps[steps.count - 1].count += count
        } else {
            steps.append(Delta.Step(kind: kind, count: count, start: start))
        }
    }

    // MARK: Content of gaps

    mutating func insert(_ new: some Collection<Item>, _ side: Side) {
        guard !new.isEmpty else { return }
        items.append(contentsOf: new)
        insertShared(from: items.count - new.count, new.count, side)
    }

    /// An insertion of items that the builder holds already (`init(sharingItemsOf:)`).
    mutating func insertShared(from start: Int, _ count: Int, _ side: Side) {
        guard count > 0 else { return }
        growth += count
        content(Delta.Step(kind: .insert, side: side, count: count, start: start))
    }

    mutating func drop(_ firstSlot: Int, _ count: Int, _ side: Side, _ change: Change? = nil) {
        guard count > 0 else { return }
        var step = Delta.Step(kind: .drop, side: side, count: count, start: firstSlot)
        if let change, !change.isEmpty {
            step.change = changes.count
            changes.append(change)
        }
        content(step)
    }

    /// Adds a step to the gap. What stands left of `after` content becomes `after` content itself.
    private mutating func content(_ step: Delta.Step) {
        if step.side == .after, let last = steps.last, last.isContent, last.side == .before {
            var first = steps.count
            while first > 0, steps[first - 1].isContent, steps[first - 1].side == .before { first -= 1 }
            let converted = steps[first...]
            steps.removeSubrange(first...)
            for var step in converted {
                step.side = .after
                join(step)
            }
        }
        join(step)
    }

    private mutating func join(_ step: Delta.Step) {
        if let last = steps.last, last.kind == step.kind, last.side == step.side, last.start + last.count == step.start,
            last.change < 0, step.change < 0
        {
            steps[steps.count - 1].count += step.count
        } else {
            steps.append(step)
        }
    }

    // MARK: The result

    /// The delta, without a `keep` at its end.
    mutating func finish() -> Delta {
        if let last = steps.last, last.kind == .keep {
            reach -= last.count
            steps.removeLast()
        }
        return Delta(steps: steps, items: items, changes: changes, reach: reach, growth: growth)
    }
}
