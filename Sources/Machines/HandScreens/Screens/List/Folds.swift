import HandCore

/// The folded items of a list, and which rows remain: the sub-items of a folded item have none.
///
/// A *position* is the number of an item among those that have rows while nothing is folded: its place in the list, or
/// its number among the matches of a filter. A folded item that the filter does not show hides nothing.
///
/// After each change of the list, call `follow` and `arrange`. Between changes, nothing costs more than O(log n).
package struct Folds: Sendable {
    private struct Fold {
        let id: ItemID
        var place: Int
        /// What is below it; nil if that must be counted.
        var hidden: HiddenItems?
    }

    /// A folded item that has a row.
    private struct Folded {
        let place: Int
        let hidden: HiddenItems
        /// The positions of its hidden sub-items.
        var positions: Range<Int>
        /// The number of positions that are hidden further up.
        var above: Int

        /// The place below its sub-items.
        var end: Int { place + 1 + hidden.count }
        /// The number of positions that are hidden here and further up.
        var total: Int { above + positions.count }
    }

    /// All folded items of the list, in order.
    private var folds: [Fold] = []
    /// The folded items that have rows and sub-items, in order. None is within another.
    private var lines: [Folded] = []
    /// The same, in the order of their positions.
    private var placed: [Folded] = []
    /// Items that are folded when they come (back) into the list.
    private var absent: Set<ItemID> = []

    private static let maxAbsent = 100_000

    package init() {}

    package var isEmpty: Bool { folds.isEmpty }
    /// The number of positions without rows.
    package var hiddenCount: Int { placed.last?.total ?? 0 }
    /// The folded items of the list, in order.
    package var ids: [ItemID] { folds.map(\.id) }

    // MARK: Rows and positions

    /// The row that shows a position: its own, or that of the folded item that hides it.
    package func row(ofPosition position: Int) -> Int {
        guard let last = last(of: placed, where: { $0.positions.lowerBound <= position }) else { return position }
        return position < last.positions.upperBound
            ? last.positions.lowerBound - 1 - last.above : position - last.total
    }

    /// The number of rows above a gap between positions.
    package func row(ofGap gap: Int) -> Int {
        guard let last = last(of: placed, where: { $0.positions.lowerBound <= gap }) else { return gap }
        return max(gap, last.positions.upperBound) - last.total
    }

    /// The number of items above a gap between places that have rows.
    func count(above gap: Int, _ filter: Filter?) -> Int {
        func count(_ gap: Int) -> Int { filter?.row(ofGap: gap) ?? gap }
        let hidden = lines.prefix { $0.place < gap }.reduce(0) { $0 + count(min(gap, $1.end)) - count($1.place + 1) }
        return count(gap) - hidden
    }

    package func position(ofRow row: Int) -> Int {
        row + (last(of: placed) { $0.positions.lowerBound - $0.above <= row }?.total ?? 0)
    }

    private func last(of lines: [Folded], where isReached: (Folded) -> Bool) -> Folded? {
        let next = lines.partitioningIndex { !isReached($0) }
        return next == 0 ? nil : lines[next - 1]
    }

    // MARK: Places

    /// What the row of the item at a place hides; nil if the item is not folded, or has no row.
    package func hidden(at place: Int) -> HiddenItems? {
        last(of: lines) { $0.place <= place }.flatMap { $0.place == place ? $0.hidden : nil }
    }

    /// The place of the folded item that hides a place; nil if the place is not hidden.
    package func head(over place: Int) -> Int? {
        last(of: lines) { $0.place < place }.flatMap { place < $0.end ? $0.place : nil }
    }

    /// The hidden places around a gap; nil if the gap is between rows.
    package func hidden(aroundGap gap: Int) -> Range<Int>? {
        last(of: lines) { $0.place < gap }.flatMap { gap < $0.end ? $0.place + 1..<$0.end : nil }
    }

    /// Whether the item at a place is folded, with a row or without.
    package func isFolded(at place: Int) -> Bool {
        let index = index(of: place)
        return index < folds.count && folds[index].place == place
    }

    private func index(of place: Int) -> Int { folds.partitioningIndex { $0.place >= place } }

    // MARK: Folding

    package mutating func fold(at place: Int, in hand: Hand) {
        if isFolded(at: place) { return }
        folds.insert(Fold(id: hand.tree[place].id, place: place), at: index(of: place))
    }

    package mutating func unfold(at place: Int) {
        if isFolded(at: place) { folds.remove(at: index(of: place)) }
    }

    /// Folds all items that have sub-items. O(n).
    package mutating func foldAll(in hand: Hand) {
        var all: [Fold] = []
        var (place, shown, above) = (0, 0, ItemID(rawValue: 0))
        hand.forEachPackedItem(from: 0) { item in
            let level = place == 0 ? 0 : min(Int(item.level), shown + 1)
            if level > shown { all.append(Fold(id: above, place: place - 1)) }
            (place, shown, above) = (place + 1, level, item.id)
            return true
        }
        folds = all
    }

    package mutating func unfoldAll() { (folds, absent) = ([], []) }

    /// Folds these items when they come into the list.
    package mutating func expect(_ items: [ItemID]) { absent.formUnion(items) }

    /// Folds those of the expected items that are in the list already. O(n).
    package mutating func find(in hand: Hand) {
        absent.subtract(ids)
        for place in hand.positions(of: absent) {
            let id = hand.tree[place].id
            absent.remove(id)
            folds.append(Fold(id: id, place: place))
        }
        folds.sort { $0.place < $1.place }
    }

    // MARK: Changes of the list

    /// Follows a change that led to `hand`; returns whether folded items came or went. O(folded items + size of the
    /// delta).
    package mutating func follow(_ delta: Delta, to hand: Hand) -> Bool {
        if delta.isIdentity || (folds.isEmpty && absent.isEmpty) { return false }
        let steps = delta.placed
        forgetCounts(touchedBy: steps)
        var arrived: [Fold] = []
        var picked: [(slot: Int, fold: Fold)] = []
        var (next, kept, slot) = (0, 0, 0)
        for step in steps {
            switch step.component {
            case .keep, .edit, .insert, .drop:
                keep(before: step.old.upperBound, shift: step.new.lowerBound - step.old.lowerBound, &next, &kept)
            case .pick(let count):
                while next < folds.count, folds[next].place < step.old.upperBound {
                    picked.append((slot + folds[next].place - step.old.lowerBound, folds[next]))
                    next += 1
                }
                slot += count
            case .delete:
                while next < folds.count, folds[next].place < step.old.upperBound {
                    if absent.count < Self.maxAbsent { absent.insert(folds[next].id) }
                    next += 1
                }
            }
        }
        keep(before: .max, shift: delta.growth, &next, &kept)
        let left = folds.count - kept - picked.count
        folds.removeLast(folds.count - kept)
        for step in steps {
            switch step.component {
            case .insert(let items, _) where !absent.isEmpty:
                for (offset, item) in items.enumerated() where absent.remove(item.id) != nil {
                    arrived.append(Fold(id: item.id, place: step.new.lowerBound + offset))
                }
            case .drop(let slots, _, _):
                for (slot, fold) in picked[picked.partitioningIndex { $0.slot >= slots.lowerBound }...] {
                    if slot >= slots.upperBound { break }
                    arrived.append(Fold(id: fold.id, place: step.new.lowerBound + slot - slots.lowerBound))
                }
            default: break
            }
        }
        if !arrived.isEmpty {
            folds += arrived
            folds.sort { $0.place < $1.place }
        }
        return left > 0 || arrived.count > picked.count
    }

    /// Keeps the folded items from `next` up to a place of the old list. They come to stand behind the first `kept`
    /// ones, without a copy of all. O(log n) for those that nothing has shifted.
    private mutating func keep(before end: Int, shift: Int, _ next: inout Int, _ kept: inout Int) {
        if shift == 0, kept == next {
            next = folds[next...].partitioningIndex { $0.place >= end }
            kept = next
        }
        while next < folds.count, folds[next].place < end {
            folds[kept] = folds[next]
            folds[kept].place += shift
            (next, kept) = (next + 1, kept + 1)
        }
    }

    /// Forgets what is below the folded items whose sub-items, or whose own shown level, a change may concern.
    private mutating func forgetCounts(touchedBy steps: [Delta.Placed]) {
        let touched = steps.filter { if case .keep = $0.component { false } else { true } }.map(\.old)
        var next = 0
        for index in folds.indices {
            let fold = folds[index]
            // Items further up do not limit the shown level.
            while next < touched.count, touched[next].upperBound + Int(Item.maxLevel) < fold.place { next += 1 }
            guard next < touched.count else { return }
            let end = fold.place + 1 + (fold.hidden?.count ?? 0)
            if touched[next].lowerBound <= end { folds[index].hidden = nil }
        }
    }

    /// Determines the rows. O(folded items), and O(sub-items) for those that a change has touched.
    mutating func arrange(in hand: Hand, _ filter: Filter?, _ tickedLast: TickedLast?) {
        lines.removeAll(keepingCapacity: true)
        defer { place(in: tickedLast) }
        if filter?.ignoresFolds == true { return }
        var (end, above) = (0, 0)
        for index in folds.indices where folds[index].place >= end {
            let place = folds[index].place
            if let filter, filter.row(ofIndex: place) == nil { continue }
            let hidden = folds[index].hidden ?? HiddenItems(below: place, in: hand)
            folds[index].hidden = hidden
            if hidden.count == 0 { continue }
            end = place + 1 + hidden.count
            let positions = filter.map { $0.row(ofGap: place + 1)..<$0.row(ofGap: end) } ?? place + 1..<end
            lines.append(Folded(place: place, hidden: hidden, positions: positions, above: above))
            above += positions.count
        }
    }

    /// Determines the order of the folded items on the screen.
    private mutating func place(in tickedLast: TickedLast?) {
        placed = lines
        guard let tickedLast, !lines.isEmpty else { return }
        for index in placed.indices {
            let start = tickedLast.position(ofPlace: placed[index].place) + 1
            placed[index].positions = start..<start + placed[index].positions.count
        }
        placed.sort { $0.positions.lowerBound < $1.positions.lowerBound }
        var above = 0
        for index in placed.indices {
            placed[index].above = above
            above += placed[index].positions.count
        }
    }
}
