/// Composes successive deltas into one. It stores the effect of the composition so far on the old list as a tree of
/// pieces, so adding one edit costs O(log n) and adding n of them O(n log n).
///
/// A value: copying is O(1). The pieces are in the order of the *new* list. A piece of width 0 marks the former place
/// of deleted or moved items, so that content inserted next to it later finds its place in the old list.
package struct Composer: Sendable {
    /// More items than any list has: the length of the implied `keep` at the end.
    private static let endless = 1 << 40

    private var pieces: SummaryTree<Piece>
    private var items: [PackedItem] = []
    private var changes: [Change] = []
    /// The number of added deltas that were not identities.
    package private(set) var count = 0

    /// Creates the empty composition: the identity.
    package init() {
        pieces = SummaryTree([Piece(kind: .kept, start: 0, count: Self.endless)])
    }

    package init(_ delta: Delta) {
        self.init()
        append(delta)
    }

    /// Some items of the new list, and where they come from.
    fileprivate struct Piece: Summarized {
        enum Kind: UInt8 {
            /// Old items in their place.
            case kept
            /// The place of old items that are deleted or moved.
            case gone
            /// Old items in another place.
            case moved
            /// New items: `start` is an index in the composer's items.
            case fresh
            /// A drop whose picks are not resolved yet; exists only while a delta is being added.
            case slots
        }

        var kind: Kind
        var side: Side = .after
        var start: Int
        var count: Int
        /// An index in the composer's changes, or −1.
        var change = -1

        var isContent: Bool { kind == .moved || kind == .fresh || kind == .slots }
        var summary: CarriedDelta.Extent {
            CarriedDelta.Extent(count: 1, old: isContent ? 0 : count, new: kind == .gone ? 0 : count)
        }
    }
}

// MARK: - Adding a delta

extension Composer {
    /// Adds `delta`, made on the list that the composition so far produces.
    ///
    /// O(c log n), where c is the number of the delta's components and n the number of components added before.
    package mutating func append(_ delta: Delta) {
        guard !delta.isIdentity else { return }
        count += 1
        placeContent(of: delta)
        let picked = changeItems(by: delta)
        if delta.hasMoves { fillSlots(of: delta, with: picked) }
    }

    /// First pass: fills the gaps with their content while all neighbours to which the content is attached still exist.
    private mutating func placeContent(of delta: Delta) {
        var offset = 0
        for step in delta.steps {
            if step.kind == .insert {
                place(Piece(kind: .fresh, side: step.side, start: items.count, count: step.count), at: offset)
                items.append(contentsOf: delta.items[step.range])
            } else if step.kind == .drop {
                place(Piece(kind: .slots, side: step.side, start: step.start, count: step.count), at: offset)
            }
            offset += step.count
        }
    }

    /// Inserts content into the gap at `offset`, right next to the neighbour that it is attached to. If that neighbour
    /// is content itself, the new content is attached to whatever the neighbour is attached to.
    private mutating func place(_ piece: Piece, at offset: Int) {
        var piece = piece
        var index = 0
        switch piece.side {
        case .after:
            if offset > 0 {
                index = isolate(endingAt: offset) + 1
                let neighbour = pieces[index - 1]
                if neighbour.isContent { piece.side = neighbour.side }
            }
        case .before:
            index = isolate(startingAt: offset)
            let neighbour = pieces[index]
            if neighbour.isContent { piece.side = neighbour.side }
        }
        pieces.insert(piece, at: index)
    }

    /// Second pass: changes, deletes and picks old items. Returns the picked pieces in the order of their slots.
    private mutating func changeItems(by delta: Delta) -> [Piece] {
        var picked: [Piece] = []
        var offset = 0
        for step in delta.steps {
            switch step.kind {
            case .keep, .insert, .drop: offset += step.count
            case .edit:
                edit(at: offset, delta.changes[step.change])
                offset += 1
            case .delete: take(step.count, at: offset) { _ in }
            case .pick: take(step.count, at: offset) { picked.append($0) }
            }
        }
        return picked
    }

    private mutating func edit(at offset: Int, _ change: Change) {
        let index = isolate(startingAt: offset)
        if pieces[index].count > 1 { split(at: index, after: 1) }
        let piece = pieces[index]
        pieces.replace(at: index, with: changing(piece, change))
    }

    /// Returns a piece of one item with a change made to it.
    private mutating func changing(_ piece: Piece, _ change: Change) -> Piece {
        var piece = piece
        if piece.kind == .fresh {
            // A change that does not fit the item is reported when the result is applied.
            items[piece.start] = items[piece.start].changed(by: change)
            return piece
        }
        changes.append(piece.change < 0 ? change : changes[piece.change].followed(by: change))
        piece.change = changes.count - 1
        return piece
    }

    /// Removes `count` items at `offset`.
    private mutating func take(_ count: Int, at offset: Int, _ taken: (Piece) -> Void) {
        var rest = count
        var index = isolate(startingAt: offset)
        while rest > 0 {
            var piece = pieces[index]
            if piece.kind == .gone {
                index += 1
                continue
            }
            if piece.count > rest {
                split(at: index, after: rest)
                piece.count = rest
            }
            rest -= piece.count
            if piece.kind == .kept {
                pieces.replace(at: index, with: Piece(kind: .gone, start: piece.start, count: piece.count))
                index += 1
                piece.kind = .moved
            } else {
                pieces.remove(at: index)
            }
            taken(piece)
        }
    }

    /// Third pass: replaces the drops with the picked pieces.
    private mutating func fillSlots(of delta: Delta, with picked: [Piece]) {
        var slot = 0
        let origins = picked.map { piece -> (slot: Int, piece: Piece) in
            defer { slot += piece.count }
            return (slot, piece)
        }
        var offset = 0
        for step in delta.steps where step.kind != .delete && step.kind != .pick {
            if step.kind == .drop {
                fill(at: offset, origins, step.range, delta.change(of: step))
            }
            offset += step.count
        }
    }

    private mutating func fill(
        at offset: Int, _ origins: [(slot: Int, piece: Piece)], _ slots: Range<Int>, _ change: Change?
    ) {
        guard var (index, _) = pieces.first(exceeding: offset, by: \.new) else { return }
        let side = pieces.remove(at: index).side
        var slot = slots.lowerBound
        var next = origins.partitioningIndex { $0.slot + $0.piece.count > slot }
        while slot < slots.upperBound {
            var piece = origins[next].piece
            let skipped = slot - origins[next].slot
            piece.start += skipped
            piece.count = min(piece.count - skipped, slots.upperBound - slot)
            piece.side = side
            if let change { piece = changing(piece, change) }
            pieces.insert(piece, at: index)
            index += 1
            slot += piece.count
            next += 1
        }
    }
}

// MARK: - Finding and cutting pieces

extension Composer {
    /// Splits so that a piece starts at `offset` of the new list, and returns the index of that piece.
    private mutating func isolate(startingAt offset: Int) -> Int {
        guard let (index, before) = pieces.first(exceeding: offset, by: \.new) else {
            preconditionFailure("a delta reaches beyond the longest list")
        }
        guard before < offset else { return index }
        split(at: index, after: offset - before)
        return index + 1
    }

    /// Splits so that a piece ends at `offset > 0` of the new list, and returns the index of that piece.
    private mutating func isolate(endingAt offset: Int) -> Int {
        guard let (index, before) = pieces.first(exceeding: offset - 1, by: \.new) else {
            preconditionFailure("a delta reaches beyond the longest list")
        }
        if before + pieces[index].count > offset { split(at: index, after: offset - before) }
        return index
    }

    private mutating func split(at index: Int, after count: Int) {
        var left = pieces[index]
        var right = left
        left.count = count
        right.start += count
        right.count -= count
        pieces.replace(at: index, with: left)
        pieces.insert(right, at: index + 1)
    }
}

// MARK: - The result

extension Composer {
    /// The composition as one delta. O(n log n) in the components added.
    package var delta: Delta {
        // Moved pieces by old position, which is the order of picking.
        let moved = pieces.filter { $0.kind == .moved }.sorted { $0.start < $1.start }
        var slot = 0
        let slots = moved.map { piece -> (old: Int, count: Int, slot: Int) in
            defer { slot += piece.count }
            return (piece.start, piece.count, slot)
        }
        var builder = DeltaBuilder()
        var nextMoved = 0
        for piece in pieces {
            switch piece.kind {
            case .kept where piece.change >= 0: builder.edit(changes[piece.change])
            case .kept: builder.keep(piece.count)
            case .fresh: builder.insert(items[piece.start..<piece.start + piece.count], piece.side)
            case .moved:
                let origin = slots[slots.partitioningIndex { $0.old >= piece.start }]
                builder.drop(origin.slot, piece.count, piece.side, piece.change < 0 ? nil : changes[piece.change])
            case .gone: leave(piece, slots, &nextMoved, &builder)
            case .slots: preconditionFailure("a drop was left without its picks")
            }
        }
        return builder.finish()
    }

    /// Emits old items that left their place: those that occur elsewhere are picked, the others deleted.
    private func leave(
        _ piece: Piece, _ slots: [(old: Int, count: Int, slot: Int)], _ next: inout Int, _ builder: inout DeltaBuilder
    ) {
        var old = piece.start
        let end = piece.start + piece.count
        while old < end {
            let isMoved = next < slots.count && slots[next].old < end
            let start = isMoved ? max(slots[next].old, old) : end
            builder.delete(start - old)
            guard isMoved else { return }
            let stop = min(slots[next].old + slots[next].count, end)
            builder.pick(stop - start)
            old = stop
            if stop == slots[next].old + slots[next].count { next += 1 }
        }
    }
}

extension Delta {
    /// Returns `self` followed by `next` as one delta: `list.applying(a.composed(with: b))` is
    /// `list.applying(a).applying(b)`.
    ///
    /// O(n log n) in the components of both. To compose many deltas, use one `Composer`.
    public func composed(with next: Delta) -> Delta {
        if isIdentity { return next }
        if next.isIdentity { return self }
        var composer = Composer(self)
        composer.append(next)
        return composer.delta
    }
}
