/// A delta of at most one edit, as a few numbers: one run of items inserted, one item deleted, moved or edited, or
/// nothing, which remains when two people delete the same item.
///
/// Nearly all commits are single edits, and a server transforms each submission over every commit since its base.
/// Transforming one single edit over another takes a few nanoseconds and allocates nothing. The result is that of
/// `Delta.transformed(over:as: .later)`, which is still needed where both edits reword the same item.
package struct SingleEdit: Equatable, Sendable {
    package enum Shape: UInt8, Sendable {
        case insert, delete, move, nothing
        /// Sets fields of an item.
        case set
        /// Changes texts of an item, and perhaps sets fields.
        case reword
    }

    package let kind: Shape
    /// Which neighbour inserted or moved items are attached to.
    package let side: Side
    /// `insert`: number of items; otherwise 1.
    package let count: Int32
    /// `delete`, `move`, `set`, `reword`: position of the item.
    package var index: Int32
    /// `insert`, `move`: the gap, counted in the old list.
    package var gap: Int32

    package static let nothing = SingleEdit(.nothing, index: 0)

    /// Converts `delta`; fails if it is more than a single edit.
    package init?(_ delta: Delta) {
        guard let edit = delta.single ?? delta.compound?.singleEdit else { return nil }
        self = edit
    }

    init?(_ steps: ContiguousArray<Delta.Step>, reach: Int, changes: [Change] = []) {
        if steps.isEmpty {
            self = .nothing
            return
        }
        let skipped = steps[0].kind == .keep ? 1 : 0
        let position = skipped == 1 ? steps[0].count : 0
        guard steps.count > skipped, steps.count <= skipped + 3, reach < 1 << 30 else { return nil }
        let step = steps[skipped]
        let isLast = steps.count == skipped + 1
        switch step.kind {
        case .insert where isLast && step.count < 1 << 30:
            self.init(.insert, step.side, count: step.count, index: 0, gap: position)
        case .delete where isLast && step.count == 1: self.init(.delete, index: position)
        case .edit where isLast:
            let isSet = changes[step.change].fields.isDisjoint(with: [.text, .url])
            self.init(isSet ? .set : .reword, index: position)
        case .pick where step.count == 1:
            guard let last = Self.lone(.drop, in: steps, from: skipped + 1) else { return nil }
            self.init(.move, last.step.side, index: position, gap: position + 1 + last.kept)
        case .drop where step.count == 1 && step.start == 0 && step.change < 0:
            guard let last = Self.lone(.pick, in: steps, from: skipped + 1) else { return nil }
            self.init(.move, step.side, index: position + last.kept, gap: position)
        default: return nil
        }
    }

    /// Returns the last step if it is of that kind and moves one item unchanged, from or to the first slot, and at most
    /// a `keep` precedes it.
    private static func lone(
        _ kind: Delta.Step.Kind, in steps: ContiguousArray<Delta.Step>, from first: Int
    ) -> (step: Delta.Step, kept: Int)? {
        guard first < steps.count else { return nil }
        let hasKeep = steps[first].kind == .keep
        let position = hasKeep ? first + 1 : first
        guard position == steps.count - 1 else { return nil }
        let step = steps[position]
        guard step.kind == kind, step.count == 1, step.start == 0, step.change < 0 else { return nil }
        return (step, hasKeep ? steps[first].count : 0)
    }

    private init(_ kind: Shape, _ side: Side = .after, count: Int = 1, index: Int, gap: Int = 0) {
        self.kind = kind
        self.side = side
        self.count = Int32(count)
        self.index = Int32(index)
        self.gap = Int32(gap)
    }

    /// The last position that can be written as a single edit.
    private static let farthest = 1 << 30 - 1

    static func inserting(at gap: Int, _ side: Side) -> SingleEdit? {
        gap <= farthest ? SingleEdit(.insert, side, index: 0, gap: gap) : nil
    }

    static func deleting(at index: Int) -> SingleEdit? {
        index < farthest ? SingleEdit(.delete, index: index) : nil
    }
}

// MARK: - Nothing, or one item inserted, deleted or moved, as a delta

extension SingleEdit {
    /// `move`: whether the gap stands left of the item, so that the drop comes before the pick.
    private var isUpwards: Bool { gap <= index }

    /// The components of the delta.
    var steps: ContiguousArray<Delta.Step> {
        var steps: ContiguousArray<Delta.Step> = []
        func keep(_ count: Int32) {
            if count > 0 { steps.append(Delta.Step(kind: .keep, count: Int(count))) }
        }
        steps.reserveCapacity(stepCount)
        switch kind {
        case .nothing: break
        case .insert:
            keep(gap)
            steps.append(Delta.Step(kind: .insert, side: side, count: 1))
        case .delete:
            keep(index)
            steps.append(Delta.Step(kind: .delete, count: 1))
        case .move:
            let (pick, drop) = (Delta.Step(kind: .pick, count: 1), Delta.Step(kind: .drop, side: side, count: 1))
            keep(min(index, gap))
            steps.append(isUpwards ? drop : pick)
            keep(isUpwards ? index - gap : gap - index - 1)
            steps.append(isUpwards ? pick : drop)
        case .set, .reword: preconditionFailure("a change is no single edit by itself")
        }
        return steps
    }

    /// The number of components of the delta.
    package var stepCount: Int {
        switch kind {
        case .nothing: 0
        case .insert: gap > 0 ? 2 : 1
        case .delete, .set, .reword: index > 0 ? 2 : 1
        case .move: 2 + (min(index, gap) > 0 ? 1 : 0) + ((isUpwards ? index - gap : gap - index - 1) > 0 ? 1 : 0)
        }
    }

    /// `Delta.reach`.
    var reach: Int {
        switch kind {
        case .nothing: 0
        case .insert: Int(gap)
        case .delete, .set, .reword: Int(index) + 1
        case .move: Int(max(index + 1, gap))
        }
    }

    /// `Delta.growth`.
    var growth: Int {
        switch kind {
        case .insert: Int(count)
        case .delete: -1
        case .move, .nothing, .set, .reword: 0
        }
    }

    /// The move that takes a moved item back.
    var movingBack: SingleEdit {
        var back = SingleEdit(.move, .after, index: 0)
        back.index = isUpwards ? gap : gap - 1
        back.gap = isUpwards ? index + 1 : index
        return back
    }
}

// MARK: - Transform

extension SingleEdit {
    /// What a single edit does to positions, in the form that is fastest to apply to a position: at most one item
    /// leaves, and some arrive in one gap.
    package struct PositionShift: Equatable, Sendable {
        /// The position of the item that leaves, or beyond every list if none does.
        @usableFromInline let removed: Int32
        /// The gap in which items arrive, counted in the old list, or a gap beyond every list if nothing arrives.
        @usableFromInline let gap: Int32
        @usableFromInline let count: Int32
        /// The new position of the item that leaves, or a negative number if it is deleted. If none leaves, the
        /// position of the item whose texts change.
        @usableFromInline let arrival: Int32

        /// Beyond every position.
        private static let none = Int32.max

        package init(_ edit: SingleEdit) {
            let removes = edit.kind == .delete || edit.kind == .move
            let inserts = edit.kind == .insert || edit.kind == .move
            removed = removes ? edit.index : Self.none
            gap = inserts ? edit.gap : Self.none
            count = inserts ? edit.count : 0
            arrival =
                switch edit.kind {
                case .move: edit.gap - (edit.index < edit.gap ? 1 : 0)
                case .reword: edit.index
                case .insert, .delete, .set, .nothing: -1
                }
        }

        /// Whether the edit changes the texts of the item at `index`.
        @inlinable
        func rewords(_ index: Int32) -> Bool { arrival == index && removed == .max }

        /// Returns the new position of the item at `old`, or a negative number if it is deleted.
        @inlinable
        func map(index old: Int32) -> Int32 {
            if old == removed { return arrival }
            return old - (removed < old ? 1 : 0) + (gap <= old ? count : 0)
        }

        /// Returns the new position of a gap, for later content that is attached to one neighbour of the gap.
        ///
        /// - Parameter before: 1 if this neighbour is the item behind the gap, otherwise 0.
        @inlinable
        func map(gap old: Int32, before: Int32) -> Int32 {
            old - (removed < old ? 1 : 0) + (gap < old + before ? count : 0)
        }
    }

    /// Transforms this edit over others, one after the other.
    ///
    /// - Returns: the remaining edit, or nil if nothing remains, and how many others were passed. Stops before an edit
    ///   that rewords the same item as this edit.
    /// - Complexity: about two nanoseconds for each of the others.
    @inlinable
    package func transformed(
        over others: Slice<UnsafeBufferPointer<PositionShift>>
    ) -> (edit: SingleEdit?, passed: Int) {
        var (index, gap) = (index, gap)
        var passed = others.count
        let before: Int32 = side == .before ? 1 : 0
        switch kind {
        case .nothing: break
        case .insert: for other in others { gap = other.map(gap: gap, before: before) }
        case .delete, .set:
            for other in others {
                index = other.map(index: index)
                if index < 0 { return (nil, passed) }
            }
        case .reword:
            for (number, other) in others.enumerated() {
                if other.rewords(index) {
                    passed = number
                    break
                }
                index = other.map(index: index)
                if index < 0 { return (nil, passed) }
            }
        case .move:
            for other in others {
                index = other.map(index: index)
                if index < 0 { return (nil, passed) }
                gap = other.map(gap: gap, before: before)
            }
        }
        var result = self
        result.index = index
        result.gap = gap
        return (result, passed)
    }
}

extension Delta.Compound {
    fileprivate var singleEdit: SingleEdit? { SingleEdit(steps, reach: reach, changes: changes) }
}

extension Delta {
    /// Returns this delta, a single edit, at the place that `edit` gives; items and change stay the same.
    ///
    /// - Precondition: `edit` came from this delta by `SingleEdit(_:)` and `transformed(over:)`.
    package func placed(at edit: SingleEdit) -> Delta {
        guard let compound, let step = compound.steps.last else { return Delta(single: edit, singleItem) }
        let position = Int(edit.kind == .insert ? edit.gap : edit.index)
        var placed: ContiguousArray<Step> = []
        placed.reserveCapacity(2)
        if position > 0 { placed.append(Step(kind: .keep, count: position)) }
        placed.append(step)
        let reach = step.isContent ? position : position + 1
        return Delta(
            steps: placed, items: compound.items, changes: compound.changes, reach: reach, growth: compound.growth)
    }
}
