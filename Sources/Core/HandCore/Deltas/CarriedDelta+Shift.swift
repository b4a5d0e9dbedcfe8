extension CarriedDelta {
    /// A commit that touches, at one place, nothing but what a long delta keeps, as most do: there the long delta keeps more or
    /// fewer items, and what is left of the commit is the commit, elsewhere.
    struct Shift {
        private let commit: Delta
        /// Where the commit starts, in the list before the long delta and in the one after it.
        private let start: (old: Int, new: Int)
        /// The piece that keeps what the commit touches.
        private let stretch: (index: Int, piece: Piece)
        /// How many components are looked at.
        let work: Int

        /// Nil if the commit touches more.
        init?(of commit: Delta, through tree: SummaryTree<Piece>) {
            let steps = commit.steps
            let lead = steps[0].kind == .keep ? 1 : 0
            let touched = steps[lead...]
            if touched.contains(where: { $0.kind == .keep }) { return nil }
            let old = (lead == 0 ? 0 : steps[0].count)..<commit.reach
            // What is put into the gaps at both ends is nothing to those who only edit.
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

        /// What is left of the commit.
        var rest: Delta {
            var steps = commit.steps
            if start.old > 0 { steps.removeFirst() }
            if start.new > 0 { steps.insert(Delta.Step(kind: .keep, count: start.new), at: 0) }
            let reach = commit.reach + start.new - start.old
            return Delta(
                steps: steps, items: Array(commit.items), changes: commit.changes, reach: reach, growth: commit.growth)
        }

        /// Changes the tree to what the commit leaves of it.
        func leave(in tree: inout SummaryTree<Piece>) {
            if commit.growth == 0 { return }
            var piece = stretch.piece
            piece.count += commit.growth
            tree.replace(at: stretch.index, with: piece)
        }
    }
}
