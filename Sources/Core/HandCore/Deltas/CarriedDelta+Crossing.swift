extension CarriedDelta {
    /// A commit and the part of a long delta that it touches, both reduced: the items that the commit keeps between two
    /// places that it touches are represented by one item that neither delta changes, a *milestone*.
    struct Crossing {
        /// The cost of finding and patching a place, as the number of components that could be examined in that time.
        static let overhead = 32

        private let commit: Delta
        private let zones: [Zone]
        private let cuts: [Cut]
        /// The touched part of the long delta, without the pieces between the zones. `small` is the commit, reduced in
        /// the same way.
        private let mine: (delta: Delta, contents: [Piece])
        private let small: Delta

        /// Fails if the commit touches items that the long delta moves: such an edit acts in two places at once.
        init?(of commit: Delta, through tree: SummaryTree<Piece>) {
            self.commit = commit
            zones = Zone.zones(of: commit)
            cuts = zones.map { Cut(out: $0.old, of: tree) }
            guard let mine = Self.small(cuts) else { return nil }
            self.mine = mine
            small = Self.small(commit, zones)
        }

        /// The number of components examined.
        var work: Int { Self.overhead + small.carryingCost + mine.delta.carryingCost }

        /// What remains of the commit after the long delta.
        var rest: Delta {
            Self.widened(small.transformed(over: mine.delta, as: .earlier), cuts, itemsOf: commit)
        }

        /// The intentions of either delta that the other overrides.
        var superseded: [Superseded] {
            Delta.superseded(earlier: small, later: mine.delta).map { Self.placed($0, zones) }
        }

        /// Transforms the tree over the commit.
        func leave(in tree: inout SummaryTree<Piece>) {
            let left = mine.delta.transformed(over: small, as: .later)
            let patches = Patch.patches(cuts, Self.sections(of: left, small, contents: mine.contents))
            // From the right, so that positions further left stay valid.
            for patch in patches.reversed() { tree.replace(patch.range, with: patch.pieces) }
        }
    }
}

// MARK: - Cutting out

extension CarriedDelta.Crossing {
    typealias Piece = CarriedDelta.Piece

    /// Neighbouring steps of a commit without a `keep` among them, and the old items that they touch.
    private struct Zone {
        var steps: Range<Int>
        var old: Range<Int>

        static func zones(of delta: Delta) -> [Zone] {
            var zones: [Zone] = []
            var old = 0
            var isWithin = false
            for (index, step) in delta.steps.enumerated() {
                if step.kind == .keep {
                    old += step.count
                    isWithin = false
                    continue
                }
                if !isWithin { zones.append(Zone(steps: index..<index, old: old..<old)) }
                isWithin = true
                if !step.isContent { old += step.count }
                let last = zones.count - 1
                zones[last] = Zone(
                    steps: zones[last].steps.lowerBound..<index + 1, old: zones[last].old.lowerBound..<old)
            }
            return zones
        }
    }

    /// The pieces on some old items and in the gaps at both ends, cut out of the tree.
    struct Cut {
        /// The touched pieces, including those that are touched only in part.
        let range: Range<Int>
        let pieces: [Piece]
        /// The untouched remainders of the first piece and the last.
        let head: Piece?
        let tail: Piece?
        let old: Range<Int>
        /// Where the cut starts and ends in the resulting list.
        let new: Range<Int>

        init(out old: Range<Int>, of tree: SummaryTree<Piece>) {
            var (lower, upper) = (0, 0)
            var (head, tail): (Piece?, Piece?) = (nil, nil)
            if old.lowerBound > 0 {
                let (index, before) = Self.piece(of: old.lowerBound - 1, in: tree)
                let piece = tree[index]
                // A `keep` is included even if it ends here: it may be joined with the next piece.
                let isCut = before + piece.count > old.lowerBound || piece.kind == .keep
                lower = isCut ? index : index + 1
                if isCut { head = piece.part(0, old.lowerBound - before) }
            }
            let (index, before) = Self.piece(of: old.upperBound, in: tree)
            let piece = tree[index]
            let isCut = before < old.upperBound || piece.kind == .keep
            upper = isCut ? index + 1 : index
            if isCut { tail = piece.part(old.upperBound - before, piece.count) }
            let start = tree.sum(before: lower)
            let newStart = start.new + (head?.new ?? 0)
            var position = start.old
            var pieces: [Piece] = []
            for piece in tree.elements(in: lower..<upper) {
                let first = max(old.lowerBound - position, 0)
                let end = min(old.upperBound - position, piece.count)
                if piece.isContent {
                    pieces.append(piece)
                } else if first < end {
                    pieces.append(piece.part(first, end))
                }
                position += piece.old
            }
            new = newStart..<newStart + pieces.reduce(0) { $0 + $1.new }
            range = lower..<upper
            (self.old, self.head, self.tail, self.pieces) = (old, head, tail, pieces)
        }

        private static func piece(of old: Int, in tree: SummaryTree<Piece>) -> (index: Int, before: Int) {
            guard let found = tree.first(exceeding: old, by: \.old) else {
                preconditionFailure("a delta reaches beyond the longest list")
            }
            return found
        }
    }

    /// The replacement for the pieces that were cut out.
    private struct Patch {
        var range: Range<Int>
        var pieces: [Piece] = []

        private mutating func append(_ piece: Piece?) {
            guard let piece, piece.count > 0 else { return }
            if piece.kind == .keep, pieces.last?.kind == .keep {
                pieces[pieces.count - 1].count += piece.count
            } else {
                pieces.append(piece)
            }
        }

        static func patches(_ cuts: [Cut], _ sections: [[Piece]]) -> [Patch] {
            var patches: [Patch] = []
            for (index, cut) in cuts.enumerated() {
                var patch = Patch(range: cut.range)
                if let last = patches.last, last.range.upperBound > cut.range.lowerBound {
                    // One piece is both the tail of the previous cut and the head of this one: one patch covers both
                    // cuts.
                    patch = patches.removeLast()
                    patch.range = patch.range.lowerBound..<cut.range.upperBound
                    patch.append(cuts[index - 1].tail?.part(0, cut.old.lowerBound - cuts[index - 1].old.upperBound))
                } else {
                    if index > 0 { patches[patches.count - 1].append(cuts[index - 1].tail) }
                    patch.append(cut.head)
                }
                for piece in sections[index] { patch.append(piece) }
                patches.append(patch)
            }
            if let tail = cuts.last?.tail { patches[patches.count - 1].append(tail) }
            return patches
        }
    }
}

// MARK: - Reducing, and expanding again

extension CarriedDelta.Crossing {
    /// Any change will do: a milestone is identified by its position. It is an edit only so that it is not joined with
    /// its neighbours.
    private static let milestone = Change(done: true)

    /// Joins the pieces that were cut out into one delta. Their content, moved or new, becomes insertions, numbered so
    /// far apart that they are not joined.
    private static func small(_ cuts: [Cut]) -> (delta: Delta, contents: [Piece])? {
        var builder = DeltaBuilder()
        var contents: [Piece] = []
        for (index, cut) in cuts.enumerated() {
            if index > 0 { builder.edit(milestone) }
            for piece in cut.pieces {
                switch piece.kind {
                case .keep: builder.keep(piece.count)
                case .edit: builder.edit(piece.change ?? Change())
                case .delete: builder.delete(piece.count)
                case .insert, .drop:
                    builder.insertShared(from: contents.count << 32, piece.count, piece.side)
                    contents.append(piece)
                case .pick: return nil
                }
            }
        }
        return (builder.finish(), contents)
    }

    private static func small(_ commit: Delta, _ zones: [Zone]) -> Delta {
        var builder = DeltaBuilder(sharingItemsOf: commit)
        for (index, zone) in zones.enumerated() {
            if index > 0 { builder.keep(1) }
            for step in commit.steps[zone.steps] { builder.append(step, of: commit) }
        }
        return builder.finish()
    }

    /// Expands the reduced remainder to the list with everything between the zones.
    private static func widened(_ rest: Delta, _ cuts: [Cut], itemsOf commit: Delta) -> Delta {
        var builder = DeltaBuilder(sharingItemsOf: commit)
        builder.keep(cuts[0].new.lowerBound)
        // Positions of the remaining milestones, and how many items each one represents.
        var milestones: [(position: Int, count: Int)] = []
        var position = 0
        for (cut, next) in zip(cuts, cuts.dropFirst()) {
            position += cut.new.count
            milestones.append((position, next.new.lowerBound - cut.new.upperBound))
            position += 1
        }
        var next = milestones[...]
        position = 0
        for step in rest.steps {
            guard step.kind == .keep else {
                builder.append(step, of: rest)
                if !step.isContent { position += step.count }
                continue
            }
            var count = step.count
            position += step.count
            while let milestone = next.first, milestone.position < position {
                count += milestone.count - 1
                next.removeFirst()
            }
            builder.keep(count)
        }
        return builder.finish()
    }

    private static func placed(_ loss: Superseded, _ zones: [Zone]) -> Superseded {
        var start = 0
        for zone in zones {
            if loss.index < start + zone.old.count {
                return Superseded(index: zone.old.lowerBound + loss.index - start, loss: loss.loss, loser: loss.loser)
            }
            start += zone.old.count + 1
        }
        preconditionFailure("nothing is lost at a milestone")
    }

    /// Splits the transformed small delta at the milestones.
    ///
    /// - Parameter commit: the small commit; the milestones are the only items that it keeps.
    private static func sections(of left: Delta, _ commit: Delta, contents: [Piece]) -> [[Piece]] {
        var milestones: [Int] = []
        var end = 0
        for step in commit.steps where step.kind != .delete && step.kind != .pick {
            if step.kind == .keep { milestones.append(end) }
            end += step.count
        }
        var sections: [[Piece]] = [[]]
        var position = 0
        func add(_ piece: Piece) { sections[sections.count - 1].append(piece) }
        for step in left.steps {
            if step.kind == .insert {
                var piece = contents[step.start >> 32]
                piece.side = step.side
                add(piece)
                continue
            }
            if step.kind == .edit, sections.count <= milestones.count, position == milestones[sections.count - 1] {
                sections.append([])
            } else {
                add(Piece(kind: step.kind, count: step.count, change: left.change(of: step)))
            }
            position += step.count
        }
        add(Piece(kind: .keep, count: end - position))
        return sections
    }
}
