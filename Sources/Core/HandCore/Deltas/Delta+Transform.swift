/// Which of two concurrent deltas comes first in the list's one order of commits.
public enum Order: Sendable {
    case earlier
    case later
}

extension Delta {
    /// Returns what remains of this delta after `other`, made on the same list.
    ///
    ///             list
    ///       a    ╱    ╲    b
    ///           ╱      ╲
    ///     a applied    b applied
    ///           ╲      ╱
    ///       b′   ╲    ╱    a′
    ///            merge(a, b)
    ///
    /// With `a` the earlier and `b` the later, both ways around the diamond end in the same list, the *merge* (TP1).
    /// An old item is gone if either deletes it; otherwise it is where the later move puts it. Its content is changed
    /// field by field and its texts splice by splice, and the later delta wins. A gap contains `later.after +
    /// earlier.after + earlier.before + later.before`, without the moves that lost.
    ///
    /// O(n) in the components of both, O(n log n) if they move items.
    ///
    /// - Parameter order: whether this delta is the later or the earlier of the two.
    public func transformed(over other: Delta, as order: Order) -> Delta {
        if other.isIdentity || isIdentity { return self }
        var transformer = Transformer(self, over: other, as: order)
        return transformer.run()
    }
}

/// Computes one side of the diamond: walks the list that `over` (y) produces and emits what `delta` (x) does to it.
private struct Transformer {
    private let x: Delta
    private let y: Delta
    private let order: Order
    private let xFootprint: Footprint?
    private let yFootprint: Footprint?
    private var out: DeltaBuilder
    /// Runs of x's slots in the order in which the result picks them.
    private var picked: [(slot: Int, count: Int)] = []

    init(_ x: Delta, over y: Delta, as order: Order) {
        self.x = x
        self.y = y
        self.order = order
        out = DeltaBuilder(sharingItemsOf: x)
        // Without moves, both deltas act only at the position that the walk has reached, and no look-up is needed.
        let hasMoves = x.hasMoves || y.hasMoves
        xFootprint = hasMoves ? Footprint(x) : nil
        yFootprint = hasMoves ? Footprint(y) : nil
    }

    mutating func run() -> Delta {
        var xs = Walker(x)
        var ys = Walker(y)
        var old = 0
        while true {
            gap(&xs, &ys)
            if xs.isAtEnd && ys.isAtEnd { break }
            let count = min(xs.remaining, ys.remaining)
            if ys.kind == .keep || ys.kind == .edit {
                act(xs.run(at: old, count), yielding: ys.change)
            }
            xs.advance(count)
            ys.advance(count)
            old += count
        }
        return picked.isEmpty ? out.finish() : renumbered(out.finish())
    }

    /// Merges the gap in front of both walkers.
    private mutating func gap(_ xs: inout Walker, _ ys: inout Walker) {
        switch order {
        case .later:
            while let step = xs.content(.after) { place(step) }
            while let step = ys.content() { pass(step) }
            while let step = xs.content(.before) { place(step) }
        case .earlier:
            while let step = ys.content(.after) { pass(step) }
            while let step = xs.content() { place(step) }
            while let step = ys.content(.before) { pass(step) }
        }
    }

    /// Emits content of x, except for moves of items that y deleted or that y moves with priority.
    private mutating func place(_ step: Delta.Step) {
        guard step.kind == .drop, let xFootprint, let yFootprint else {
            return out.insertShared(from: step.start, step.count, step.side)
        }
        xFootprint.forEachOrigin(ofSlots: step.range) { origin in
            yFootprint.forEachRun(in: origin.old..<origin.old + origin.count) { run in
                if run.kind == .delete || (run.kind == .pick && order == .earlier) { return }
                let slot = origin.slot + run.old - origin.old
                let change = remainder(of: step.change, yielding: yFootprint.change(of: run, at: run.old))
                out.drop(slot, run.count, step.side, change)
            }
        }
    }

    /// Handles content of y, which is already in the list: x keeps the content, or treats the moved items in it as it
    /// would treat them anywhere else.
    private mutating func pass(_ step: Delta.Step) {
        guard step.kind == .drop, let xFootprint, let yFootprint else { return out.keep(step.count) }
        yFootprint.forEachOrigin(ofSlots: step.range) { origin in
            xFootprint.forEachRun(in: origin.old..<origin.old + origin.count) { run in
                if run.kind == .pick && order == .earlier {
                    stay(run, yielding: step.change)
                } else {
                    act(run, yielding: step.change)
                }
            }
        }
    }

    /// Emits what x does to old items that are here.
    private mutating func act(_ run: Footprint.Run, yielding yChange: Int) {
        switch run.kind {
        case .keep: out.keep(run.count)
        case .delete: out.delete(run.count)
        case .edit: out.edit(remainder(of: run.change, yielding: yChange) ?? Change())
        case .pick:
            picked.append((run.slot, run.count))
            out.pick(run.count)
        case .insert, .drop: preconditionFailure("content is not old items")
        }
    }

    /// Keeps items where y put them: x moved them too, but x is the earlier delta. Changes that x made along with the
    /// move still count.
    private mutating func stay(_ run: Footprint.Run, yielding yChange: Int) {
        guard let xFootprint, xFootprint.hasChanges(inSlots: run.slot, count: run.count) else {
            return out.keep(run.count)
        }
        for index in run.old..<run.old + run.count {
            out.edit(remainder(of: xFootprint.change(of: run, at: index), yielding: yChange) ?? Change())
        }
    }

    private func remainder(of xChange: Int, yielding yChange: Int) -> Change? {
        guard xChange >= 0 else { return nil }
        let change = x.changes[xChange]
        return yChange < 0 ? change : change.transformed(over: y.changes[yChange], as: order)
    }

    /// Returns the delta with its slots numbered in the order of picking.
    private func renumbered(_ delta: Delta) -> Delta {
        var new = 0
        var runs = picked.map { run -> (slot: Int, count: Int, new: Int) in
            defer { new += run.count }
            return (run.slot, run.count, new)
        }
        runs.sort { $0.slot < $1.slot }
        return delta.mappingSlots(runs)
    }
}

extension Delta {
    var hasMoves: Bool {
        compound?.steps.contains { $0.kind == .pick } ?? (single?.kind == .move)
    }

    /// Returns this delta with other slot numbers in its drops: `runs` maps runs of present slots, in order, to their
    /// new first numbers. O(drops · log runs).
    func mappingSlots(_ runs: [(slot: Int, count: Int, new: Int)]) -> Delta {
        var builder = DeltaBuilder(sharingItemsOf: self)
        for step in steps {
            guard step.kind == .drop else {
                builder.append(step, of: self)
                continue
            }
            let (slots, change) = (step.range, self.change(of: step))
            var slot = slots.lowerBound
            var next = runs.partitioningIndex(where: { $0.slot + $0.count > slot })
            while slot < slots.upperBound {
                let run = runs[next]
                let count = min(run.slot + run.count, slots.upperBound) - slot
                builder.drop(run.new + slot - run.slot, count, step.side, change)
                slot += count
                next += 1
            }
        }
        return builder.finish()
    }
}
