/// A delta that is transformed over others' commits one by one: always the result of `transformed(over:as: .later)`.
///
/// A long delta is stored as a tree of pieces, so a commit costs time in proportion to the part of the delta that it
/// touches, not to the whole delta. Each stretch that a commit does not touch is replaced by one item that neither
/// delta changes, and the general functions do the rest, so both forms give the same result by construction. A carried
/// delta is a value: copying is O(1).
package struct CarriedDelta: Sendable {
    private enum Form: Sendable {
        /// Short: the general functions process all of it.
        case plain(Delta)
        /// Long. The pieces' slots and items are numbered as in `origin`.
        case tree(SummaryTree<Piece>, origin: Delta)
    }

    /// A delta with at least this many components is kept as a tree.
    package static let treeThreshold = 48

    private var form: Form
    private let treeThreshold: Int

    package init(_ delta: Delta, treeThreshold: Int = Self.treeThreshold) {
        self.treeThreshold = treeThreshold
        form = Self.form(of: delta, treeThreshold)
    }

    private static func form(of delta: Delta, _ treeThreshold: Int) -> Form {
        delta.componentCount < treeThreshold
            ? .plain(delta) : .tree(SummaryTree(Piece.pieces(of: delta)), origin: delta)
    }

    /// The delta, transformed over all commits so far. O(n) for a long delta.
    package var delta: Delta {
        switch form {
        case .plain(let delta): delta
        case .tree(let pieces, let origin): Piece.delta(of: pieces, origin: origin)
        }
    }

    /// The remaining single edit, or nil if more than a single edit remains.
    package var singleEdit: SingleEdit? {
        if case .plain(let delta) = form { SingleEdit(delta) } else { nil }
    }

    package var isIdentity: Bool {
        if case .plain(let delta) = form { delta.isIdentity } else { false }
    }

    package struct Passed: Sendable {
        /// What remains of the commit after this delta.
        package let rest: Delta
        /// The intentions of either delta that the other overrides.
        package let superseded: [Superseded]
        /// The number of components examined.
        package let work: Int
    }

    /// Transforms this delta over an earlier commit made on the same list, and the commit over this delta.
    ///
    /// - Complexity: O(c log n), where c counts the components of the commit and the components of this delta that the
    ///   commit touches; O(n) if the commit touches items that this delta moves.
    package mutating func pass(_ commit: Delta) -> Passed {
        if commit.isIdentity { return Passed(rest: commit, superseded: [], work: 0) }
        switch meet(commit) {
        case .nothing(let shift): return Passed(rest: shift.rest, superseded: [], work: shift.work)
        case .part(let crossing):
            return Passed(rest: crossing.rest, superseded: crossing.superseded, work: crossing.work)
        case .whole(let whole):
            return Passed(
                rest: commit.transformed(over: whole, as: .earlier),
                superseded: Delta.superseded(earlier: commit, later: whole),
                work: commit.carryingCost + whole.carryingCost)
        }
    }

    /// Transforms this delta over a commit without computing the rest of the commit, which takes half the time.
    ///
    /// - Returns: the number of components examined.
    package mutating func follow(_ commit: Delta) -> Int {
        if commit.isIdentity { return 0 }
        switch meet(commit) {
        case .nothing(let shift): return shift.work
        case .part(let crossing): return crossing.work
        case .whole(let whole): return commit.carryingCost + whole.carryingCost
        }
    }

    /// The part of this delta that a commit touches: nothing, a part, or the whole delta as it was before the commit.
    private enum Meeting {
        case nothing(Shift)
        case whole(Delta)
        case part(Crossing)
    }

    private mutating func meet(_ commit: Delta) -> Meeting {
        if case .tree(var pieces, let origin) = form {
            // Release the tree, so that it is uniquely referenced and can be changed in place.
            form = .plain(.identity)
            if let shift = Shift(of: commit, through: pieces) {
                shift.leave(in: &pieces)
                form = .tree(pieces, origin: origin)
                return .nothing(shift)
            }
            let crossing = Crossing(of: commit, through: pieces)
            crossing?.leave(in: &pieces)
            form = .tree(pieces, origin: origin)
            if let crossing { return .part(crossing) }
        }
        let whole = delta
        form = Self.form(of: whole.transformed(over: commit, as: .later), treeThreshold)
        return .whole(whole)
    }
}

extension CarriedDelta: Equatable {
    package static func == (left: CarriedDelta, right: CarriedDelta) -> Bool { left.delta == right.delta }
}

// MARK: - Pieces

extension CarriedDelta {
    /// A step that can be split, and that contains its change.
    struct Piece: Summarized {
        let kind: Delta.Step.Kind
        var side: Side = .after
        var count: Int
        /// `insert`: index of the first item; `pick`, `drop`: the first slot.
        var start = 0
        /// The change, shared by all copies of the piece: pieces are copied at each step down the tree.
        private let held: Held?

        init(kind: Delta.Step.Kind, side: Side = .after, count: Int, start: Int = 0, change: Change? = nil) {
            (self.kind, self.side, self.count, self.start) = (kind, side, count, start)
            held = change.map(Held.init)
        }

        private final class Held: Sendable {
            let change: Change

            init(_ change: Change) { self.change = change }
        }

        var change: Change? { held?.change }
        var isContent: Bool { kind == .insert || kind == .drop }
        /// The number of items that the piece consumes from the old list.
        var old: Int { isContent ? 0 : count }
        /// The number of items that the piece leaves in the new list.
        var new: Int { kind == .delete || kind == .pick ? 0 : count }

        /// Returns the part from its item `first` up to, but not including, its item `end`.
        func part(_ first: Int, _ end: Int) -> Piece {
            var part = self
            part.count = end - first
            if kind == .pick { part.start += first }
            return part
        }

        /// The length of the `keep` that a delta implies at its end: longer than any list.
        private static let endless = 1 << 40

        static func pieces(of delta: Delta) -> [Piece] {
            delta.steps.map { step in
                let change = delta.change(of: step)
                return Piece(kind: step.kind, side: step.side, count: step.count, start: step.start, change: change)
            } + [Piece(kind: .keep, count: endless)]
        }

        static func delta(of pieces: SummaryTree<Piece>, origin: Delta) -> Delta {
            var builder = DeltaBuilder(sharingItemsOf: origin)
            var picked: [(slot: Int, count: Int, new: Int)] = []
            var slots = 0
            for piece in pieces {
                switch piece.kind {
                case .keep: builder.keep(piece.count)
                case .edit: builder.edit(piece.change ?? Change())
                case .delete: builder.delete(piece.count)
                case .insert: builder.insertShared(from: piece.start, piece.count, piece.side)
                case .drop: builder.drop(piece.start, piece.count, piece.side, piece.change)
                case .pick:
                    picked.append((piece.start, piece.count, slots))
                    slots += piece.count
                    builder.pick(piece.count)
                }
            }
            picked.sort { $0.slot < $1.slot }
            return picked.isEmpty ? builder.finish() : builder.finish().mappingSlots(picked)
        }

        // MARK: Summaries

        var summary: Extent { Extent(count: 1, old: old, new: new) }
    }

    /// How many items some pieces consume from the old list, and leave in the new one.
    struct Extent: Summary {
        let count: Int
        let old: Int
        let new: Int

        static let zero = Extent(count: 0, old: 0, new: 0)

        static func + (left: Extent, right: Extent) -> Extent {
            Extent(count: left.count + right.count, old: left.old + right.old, new: left.new + right.new)
        }

        func replacing(
            _ from: Extent, by to: Extent, before: some RandomAccessCollection<Extent>,
            behind: some RandomAccessCollection<Extent>
        ) -> Extent {
            Extent(count: count - from.count + to.count, old: old - from.old + to.old, new: new - from.new + to.new)
        }
    }
}
