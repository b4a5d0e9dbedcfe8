extension CarriedDelta {
    /// A commit that touches only one place, where the long delta only keeps items. Most commits are like this. The
    /// long delta then keeps more or fewer items there, and the commit stays the same except for its position.
    struct Shift {
        private let commit: Delta
        /// Where the commit starts, in the list before the long delta and in the one after it.
        private let start: (old: Int, new: Int)
        /// The piece that keeps the items that the commit touches.
        private let stretch: (index: Int, piece: Piece)
        /// The number of components examined.
        let work: Int

        /// Fails if the commit touches several places, or a place where the long delta does more than keep items.
        init?(of commit: Delta, through tree: SummaryTree<Piece>) {
            let steps = commit.steps
            let lead = steps[0].kind == .keep ? 1 : 0
            let touched = steps[lead...]
            if touched.contains(where: { $0.kind == .keep }) { return nil }
            let old = (lead == 0 ? 0 : steps[0].count)..<commit.reach
            // Content in the gaps at both ends does not matter to a commit that only edits.
            let isEdit = touched.allSatisfy { $0.kind == .edit }
            let (first, last) = isEdit ? (old.lowerBound, old.upperBound - 1) : (old.lowerBound - 1, old.upperBound)
            guard let (lower, before) = first < 0 ? (0, 0) : tree.first(exceeding: first, by: \.old) else { return nil }
            var (index, position) = (lower, before)
            var stretch: (index: Int, piece: Piece)?
            while position <= last {
                let piece = tree[index]
                guard piece.kind == .keep || piece.kind == .edit else { return nil }
                let end = position + piece.count
                if piece.kind == .keep, position <= old.lowerBound, old.upperBound <= end { stretch = (index, piece) }
                (index, position) = (index + 1, end)
            }
            guard let stretch, stretch.piece.count + commit.growth > 0 else { return nil }
            self.commit = commit
            self.stretch = stretch
            start = (old.lowerBound, tree.sum(before: lower).new + old.lowerBound - before)
            work = Crossing.overhead + touched.count + index - lower
        }

        /// What remains of the commit after the long delta.
        var rest: Delta {
            var steps = commit.steps
            if start.old > 0 { steps.removeFirst() }
            if start.new > 0 { steps.insert(Delta.Step(kind: .keep, count: start.new), at: 0) }
            let reach = commit.reach + start.new - start.old
            return Delta(
                steps: steps, items: Array(commit.items), changes: commit.changes, reach: reach, growth: commit.growth)
        }

        /// Transforms the tree over the commit.
        func leave(in tree: inout SummaryTree<Piece>) {
            if commit.growth == 0 { return }
            var piece = stretch.piece
            piece.count += commit.growth
            tree.replace(at: stretch.index, with: piece)
        }
    }
}
