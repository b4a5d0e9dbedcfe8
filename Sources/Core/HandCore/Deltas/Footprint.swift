/// What a delta does to the old items, indexed by their positions, moves included.
///
/// Building a footprint is O(components); a look-up is O(log components).
struct Footprint {
    /// Consecutive old items to which the same thing happens.
    struct Run {
        let kind: Delta.Step.Kind
        /// Position of the first old item.
        let old: Int
        let count: Int
        /// `pick`: the slot of the first item.
        let slot: Int
        /// `edit`: index in the delta's changes, or −1.
        let change: Int
    }

    /// Runs of edited, deleted and picked items, by position; all other items are kept.
    private(set) var runs: [Run] = []
    /// The picked runs, by position and therefore by slot.
    private(set) var picks: [Run] = []
    /// Changes that go with a move: (slot, index in the delta's changes), by slot.
    private var slotChanges: [(slot: Int, change: Int)] = []

    init(_ delta: Delta) {
        for span in delta.spans {
            let step = span.step
            switch step.kind {
            case .keep, .insert: break
            case .edit, .delete, .pick:
                let run = Run(kind: step.kind, old: span.old, count: step.count, slot: step.start, change: step.change)
                runs.append(run)
                if step.kind == .pick { picks.append(run) }
            case .drop: if step.change >= 0 { slotChanges.append((step.start, step.change)) }
            }
        }
        slotChanges.sort { $0.slot < $1.slot }
    }

    /// Returns the change that a run makes to its item at `index`, as an index in the delta's changes; −1 for none.
    func change(of run: Run, at index: Int) -> Int {
        guard run.kind == .pick else { return run.change }
        return change(ofSlot: run.slot + index - run.old)
    }

    private func change(ofSlot slot: Int) -> Int {
        let found = slotChanges.partitioningIndex(where: { $0.slot >= slot })
        return found < slotChanges.count && slotChanges[found].slot == slot ? slotChanges[found].change : -1
    }

    /// Whether some item in these slots changes as it moves; if so, the caller has to look at each item.
    func hasChanges(inSlots slot: Int, count: Int) -> Bool {
        let found = slotChanges.partitioningIndex(where: { $0.slot >= slot })
        return found < slotChanges.count && slotChanges[found].slot < slot + count
    }

    /// Calls `body` with runs, clipped to `range`, that together cover the old items in it, including kept ones.
    @inline(__always)
    func forEachRun(in range: Range<Int>, _ body: (Run) -> Void) {
        var position = range.lowerBound
        var next = runs.partitioningIndex(where: { $0.old + $0.count > position })
        while position < range.upperBound {
            let run = next < runs.count ? runs[next] : nil
            if let run, run.old <= position {
                let end = min(run.old + run.count, range.upperBound)
                body(
                    Run(
                        kind: run.kind, old: position, count: end - position, slot: run.slot + position - run.old,
                        change: run.change))
                position = end
                next += 1
            } else {
                let end = min(run?.old ?? range.upperBound, range.upperBound)
                body(Run(kind: .keep, old: position, count: end - position, slot: 0, change: -1))
                position = end
            }
        }
    }

    /// Calls `body` with runs of old items, clipped to `range`, that together fill the slots in it.
    @inline(__always)
    func forEachOrigin(ofSlots range: Range<Int>, _ body: (Run) -> Void) {
        var slot = range.lowerBound
        var next = picks.partitioningIndex(where: { $0.slot + $0.count > slot })
        while slot < range.upperBound {
            let run = picks[next]
            let skipped = slot - run.slot
            let count = min(run.count - skipped, range.upperBound - slot)
            body(Run(kind: .pick, old: run.old + skipped, count: count, slot: slot, change: -1))
            slot += count
            next += 1
        }
    }
}

/// Where a delta moves the items that it picks. Apart from the footprint, because merging does not need it.
///
/// Building it is O(components log components); a look-up is O(log components).
struct Destinations {
    /// Where picked items are dropped: (first slot, gap), by slot.
    private var drops: [(slot: Int, gap: Int)] = []
    /// The deleted and picked runs, each with the number of such items before it.
    private var gone: [(old: Int, count: Int, before: Int)] = []

    init(_ delta: Delta) {
        for span in delta.spans {
            switch span.step.kind {
            case .keep, .insert, .edit: break
            case .delete, .pick:
                let before = gone.last.map { $0.before + $0.count } ?? 0
                gone.append((span.old, span.step.count, before))
            case .drop: drops.append((span.step.start, span.old))
            }
        }
        drops.sort { $0.slot < $1.slot }
    }

    /// Returns the gap of the old list into which a picked run moves its item at `index`.
    func gap(of run: Footprint.Run, at index: Int) -> Int {
        let slot = run.slot + index - run.old
        return drops[drops.partitioningIndex(where: { $0.slot > slot }) - 1].gap
    }

    /// Whether a picked run moves its item at `index` to where the item is: no item that stays is in between.
    func staysInPlace(_ run: Footprint.Run, at index: Int) -> Bool {
        staying(before: gap(of: run, at: index)) == staying(before: index)
    }

    /// The number of items before a place of the old list that are neither deleted nor picked.
    private func staying(before place: Int) -> Int {
        let next = gone.partitioningIndex { $0.old >= place }
        guard next > 0 else { return place }
        let last = gone[next - 1]
        return place - last.before - min(place - last.old, last.count)
    }
}
