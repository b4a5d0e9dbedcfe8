/// Builds a delta from components, left to right, and keeps it in normal form.
///
/// The components must be well formed; the builder only normalizes them. Amortized O(1) per component.
package struct DeltaBuilder {
    private(set) var steps: ContiguousArray<Delta.Step> = []
    package private(set) var items: [PackedItem] = []
    private var changes: [Change] = []
    private var picked = 0
    private var reach = 0
    private var growth = 0
    /// Whether the components were in normal form, so that none had to be joined, dropped or converted.
    package private(set) var isFedNormalForm = true

    /// The initial capacity for steps, enough for most deltas.
    private static let usualSteps = 4

    package init() {
        steps.reserveCapacity(Self.usualSteps)
    }

    /// Creates a builder for a delta that has exactly the insertions of `delta`, in the same order: the inserted items
    /// are shared, not copied.
    init(sharingItemsOf delta: Delta) {
        items = Array(delta.items)
        steps.reserveCapacity(delta.steps.count + 2)
    }

    mutating func append(_ component: Delta.Component) {
        switch component {
        case .keep(let count): keep(count)
        case .edit(let change): edit(change)
        case .delete(let count): delete(count)
        case .pick(let count): pick(count)
        case .insert(let items, let side): insert(items.map(PackedItem.init), side)
        case .drop(let slots, let side, let change): drop(slots.lowerBound, slots.count, side, change)
        }
    }

    /// Appends a step of a delta whose insertions the builder shares (`init(sharingItemsOf:)`).
    mutating func append(_ step: Delta.Step, of delta: Delta) {
        switch step.kind {
        case .keep: keep(step.count)
        case .edit: edit(delta.changes[step.change])
        case .delete: delete(step.count)
        case .pick: pick(step.count)
        case .insert: insertShared(from: step.start, step.count, step.side)
        case .drop: drop(step.start, step.count, step.side, delta.change(of: step))
        }
    }

    /// Notes that the components were not in normal form.
    private mutating func noteRepair() {
        isFedNormalForm = false
    }

    // MARK: Old items

    package mutating func keep(_ count: Int) { walk(.keep, count) }

    package mutating func delete(_ count: Int) {
        walk(.delete, count)
        growth -= count
    }

    package mutating func pick(_ count: Int) {
        walk(.pick, count, start: picked)
        picked += count
    }

    package mutating func edit(_ change: Change) {
        if change.isEmpty {
            noteRepair()
            return keep(1)
        }
        steps.append(Delta.Step(kind: .edit, count: 1, change: changes.count))
        changes.append(change)
        reach += 1
    }

    private mutating func walk(_ kind: Delta.Step.Kind, _ count: Int, start: Int = 0) {
        guard count > 0 else { return noteRepair() }
        reach += count
        if let last = steps.last, last.kind == kind {
            steps[steps.count - 1].count += count
            noteRepair()
        } else {
            steps.append(Delta.Step(kind: kind, count: count, start: start))
        }
    }

    // MARK: Content of gaps

    mutating func insert(_ new: some Collection<PackedItem>, _ side: Side) {
        guard !new.isEmpty else { return noteRepair() }
        items.append(contentsOf: new)
        insertShared(from: items.count - new.count, new.count, side)
    }

    /// Inserts `count` items by calling `next` exactly `count` times.
    package mutating func insert<Failure: Error>(
        _ count: Int, _ side: Side, _ next: () throws(Failure) -> PackedItem
    ) throws(Failure) {
        // Only for the first items: reserving the exact capacity for each insertion would copy all items each time.
        if items.isEmpty { items.reserveCapacity(count) }
        for _ in 0..<count { items.append(try next()) }
        insertShared(from: items.count - count, count, side)
    }

    /// Inserts items that the builder already has (`init(sharingItemsOf:)`).
    mutating func insertShared(from start: Int, _ count: Int, _ side: Side) {
        guard count > 0 else { return noteRepair() }
        growth += count
        content(Delta.Step(kind: .insert, side: side, count: count, start: start))
    }

    package mutating func drop(_ firstSlot: Int, _ count: Int, _ side: Side, _ change: Change? = nil) {
        guard count > 0 else { return noteRepair() }
        var step = Delta.Step(kind: .drop, side: side, count: count, start: firstSlot)
        if let change {
            if change.isEmpty {
                noteRepair()
            } else {
                step.change = changes.count
                changes.append(change)
            }
        }
        content(step)
    }

    /// Adds a step to the gap. Content left of `after` content becomes `after` content itself.
    private mutating func content(_ step: Delta.Step) {
        if step.side == .after, let last = steps.last, last.isContent, last.side == .before {
            var first = steps.count
            while first > 0, steps[first - 1].isContent, steps[first - 1].side == .before { first -= 1 }
            let converted = steps[first...]
            noteRepair()
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
            noteRepair()
            steps[steps.count - 1].count += step.count
        } else {
            steps.append(step)
        }
    }

    // MARK: The result

    /// Returns the delta, without a `keep` at its end.
    mutating func finish() -> Delta {
        if let last = steps.last, last.kind == .keep {
            reach -= last.count
            steps.removeLast()
            noteRepair()
        }
        return Delta(steps: steps, items: items, changes: changes, reach: reach, growth: growth)
    }

    /// Returns the delta of components from an untrusted source.
    ///
    /// - Throws: `Delta.Malformed` if the drops do not name each picked slot exactly once.
    package mutating func finishChecked() throws(Delta.Malformed) -> Delta {
        let delta = finish()
        guard delta.slotsMatch else { throw .slotsDoNotMatch(picked: picked) }
        return delta
    }
}
