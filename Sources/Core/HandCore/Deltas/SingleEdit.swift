/// A delta of one edit at most, as a few numbers: one run of items inserted, or one item deleted, moved or edited; or nothing, as
/// is left where two delete the same item.
///
/// Nearly all commits are such, and a server transforms each submission over every commit since its base; over these it
/// takes a few nanoseconds and allocates nothing. It is the same function as `Delta.transformed(over:as: .later)`.
public struct SingleEdit: Equatable, Sendable {
    public enum Kind: UInt8, Sendable {
        case insert, delete, move, edit, nothing
    }

    public let kind: Kind
    /// Which neighbour inserted or moved items hold on to.
    public let side: Side
    /// `insert`: number of items; otherwise 1.
    public let count: Int32
    /// `delete`, `move`, `edit`: position of the item.
    public var index: Int32
    /// `insert`, `move`: the gap, counted in the old list.
    public var gap: Int32

    /// The single edit that `delta` is; nil if it is more than that.
    public init?(_ delta: Delta) {
        if delta.isIdentity {
            self.init(.nothing, index: 0)
            return
        }
        let steps = delta.steps
        let skipped = steps.first?.kind == .keep ? 1 : 0
        let position = skipped == 1 ? steps[0].count : 0
        guard steps.count > skipped, delta.reach < 1 << 30 else { return nil }
        let step = steps[skipped]
        let isLast = steps.count == skipped + 1
        switch step.kind {
        case .insert where isLast && step.count < 1 << 30:
            self.init(.insert, step.side, count: step.count, index: 0, gap: position)
        case .delete where isLast && step.count == 1: self.init(.delete, index: position)
        case .edit where isLast: self.init(.edit, index: position)
        case .pick where step.count == 1:
            guard let last = Self.lone(.drop, in: steps, from: skipped + 1) else { return nil }
            self.init(.move, last.step.side, index: position, gap: position + 1 + last.kept)
        case .drop where step.count == 1 && step.change < 0:
            guard let last = Self.lone(.pick, in: steps, from: skipped + 1) else { return nil }
            self.init(.move, step.side, index: position + last.kept, gap: position)
        default: return nil
        }
    }

    /// The last step if it is of that kind, moves one item unchanged, and at most a `keep` stands before it.
    private static func lone(
        _ kind: Delta.Step.Kind, in steps: ContiguousArray<Delta.Step>, from first: Int
    ) -> (step: Delta.Step, kept: Int)? {
        guard first < steps.count else { return nil }
        let hasKeep = steps[first].kind == .keep
        let position = hasKeep ? first + 1 : first
        guard position == steps.count - 1 else { return nil }
        let step = steps[position]
        guard step.kind == kind, step.count == 1, step.change < 0 else { return nil }
        return (step, hasKeep ? steps[first].count : 0)
    }

    private init(_ kind: Kind, _ side: Side = .after, count: Int = 1, index: Int, gap: Int = 0) {
        self.kind = kind
        self.side = side
        self.count = Int32(count)
        self.index = Int32(index)
        self.gap = Int32(gap)
    }
}

// MARK: - Transform

extension SingleEdit {
    /// What is left to do of this edit once `other`, the earlier one of the two, has been done; nil if nothing is.
    @inlinable
    public func transformed(over other: SingleEdit) -> SingleEdit? {
        var result = self
        if kind != .insert, kind != .nothing {
            guard let index = other.map(index: index) else { return nil }
            result.index = index
        }
        if kind == .insert || kind == .move { result.gap = other.map(gap: gap, side) }
        return result
    }

    /// Where the item at `index` stands after this edit; nil if it is deleted.
    @inlinable
    func map(index old: Int32) -> Int32? {
        switch kind {
        case .insert: return old >= gap ? old + count : old
        case .delete: return old == index ? nil : old - (index < old ? 1 : 0)
        case .edit, .nothing: return old
        case .move:
            if old == index { return gap - (index < gap ? 1 : 0) }
            return old - (index < old ? 1 : 0) + (gap <= old ? 1 : 0)
        }
    }

    /// Where a gap lies after this edit, for later content on that side of it.
    @inlinable
    func map(gap old: Int32, _ oldSide: Side) -> Int32 {
        switch kind {
        case .insert: return gap < old || (gap == old && oldSide == .before) ? old + count : old
        case .delete: return old - (index < old ? 1 : 0)
        case .edit, .nothing: return old
        case .move:
            let passes = gap < old || (gap == old && oldSide == .before)
            return old - (index < old ? 1 : 0) + (passes ? 1 : 0)
        }
    }
}

extension Delta {
    /// This delta, a single edit, at the place that `edit` says: items and change stay.
    ///
    /// - Precondition: `edit` came from this delta by `SingleEdit(_:)` and `transformed(over:)`.
    public func placed(at edit: SingleEdit) -> Delta {
        switch edit.kind {
        case .insert: Operation.insert(items, at: Int(edit.gap), edit.side).delta
        case .delete: Operation.delete(Int(edit.index)..<Int(edit.index) + 1).delta
        case .edit: Operation.edit(at: Int(edit.index), changes[0]).delta
        case .move:
            Operation.move(Int(edit.index)..<Int(edit.index) + 1, to: Int(edit.gap), edit.side).delta
        case .nothing: .identity
        }
    }
}
