import HandCore

/// Which items of a list have rows: those that match the filter, if there is one, and that no folded item hides. The
/// rows are in the order of the list, unless ticked tasks stand last.
struct ShownItems: Sendable {
    private(set) var filter: Filter?
    private(set) var folds = Folds()
    private(set) var tickedLast: TickedLast?

    // MARK: Rows

    func count(in hand: Hand) -> Int { count(of: hand.count) }

    /// The number of rows of a list with that many items.
    private func count(of items: Int) -> Int { (filter?.matches.count ?? items) - folds.hiddenCount }

    /// The place of a row's item; nil if there is no such row. Without a filter, the caller knows the number of rows.
    func place(ofRow row: Int) -> Int? {
        let position = folds.position(ofRow: row)
        if let tickedLast { return tickedLast.place(ofPosition: position) }
        guard let filter else { return position }
        return filter.matches.indices.contains(position) ? Int(filter.matches[position]) : nil
    }

    /// The row that shows a place, or else the next shown place.
    func row(ofPlace place: Int) -> Int {
        folds.row(ofPosition: tickedLast?.position(ofPlace: place) ?? filter?.row(ofGap: place) ?? place)
    }

    /// The row of a place; nil if it has none.
    func row(ofShown place: Int) -> Int? {
        let row = row(ofPlace: place)
        return self.place(ofRow: row) == place ? row : nil
    }

    /// The place, after a delta that leads to `hand`, of the item that takes over from one that the delta deletes: the
    /// next one that is shown and stays, or else the previous one. Ticked tasks may be shown last, so it need not be
    /// next to the deleted one in the list. O(deleted rows)
    func heir(of place: Int, after delta: Delta, to hand: Hand) -> Int? {
        guard let row = row(ofShown: place) else { return nil }
        func kept(_ row: Int) -> Int? { self.place(ofRow: row).flatMap { delta.map(index: $0) } }
        let below = (row + 1)..<max(row + 1, count(of: hand.count - delta.growth))
        return below.lazy.compactMap(kept).first ?? (0..<row).reversed().lazy.compactMap(kept).first
    }

    /// The number of rows above a gap of the list, or above a new item there.
    func row(ofGap gap: Int, in hand: Hand) -> Int {
        folds.row(ofGap: tickedLast?.position(ofGap: gap, in: hand) ?? filter?.row(ofGap: gap) ?? gap)
    }

    // MARK: Places

    /// The place below an item and what its row hides.
    func end(ofPlace place: Int) -> Int { place + 1 + (folds.hidden(at: place)?.count ?? 0) }

    /// The places of rows, with what folded items hide or without; runs that touch are joined.
    func runs(ofRows rows: ClosedRange<Int>, withHidden: Bool) -> [Range<Int>] {
        if tickedLast == nil, filter == nil, withHidden || folds.hiddenCount == 0,
            let first = place(ofRow: rows.lowerBound),
            let last = place(ofRow: rows.upperBound)
        {
            return [first..<end(ofPlace: last)]
        }
        var runs: [Range<Int>] = []
        let places = rows.compactMap(place(ofRow:))
        for place in tickedLast == nil ? places : places.sorted() {
            let end = withHidden ? end(ofPlace: place) : place + 1
            if let last = runs.last, last.upperBound == place {
                runs[runs.count - 1] = last.lowerBound..<end
            } else {
                runs.append(place..<end)
            }
        }
        return runs
    }

    /// The number of places in some runs that have no rows.
    func hiddenCount(in runs: [Range<Int>]) -> Int {
        func rows(above gap: Int) -> Int { folds.count(above: gap, filter) }
        return runs.reduce(0) { $0 + $1.count - (rows(above: $1.upperBound) - rows(above: $1.lowerBound)) }
    }

    /// The level of a new item at a gap: that of the row's item above the gap.
    func levelOfNewItem(at gap: Int, _ side: Side, in hand: Hand) -> UInt8 {
        let allowed = levels(at: gap, in: hand)
        if side == .before, gap < hand.count { return UInt8(allowed.lowerBound) }
        let above = Int(hand.levelOfNewItem(at: folds.head(over: gap - 1).map { $0 + 1 } ?? gap))
        return UInt8(min(max(above, allowed.lowerBound), allowed.upperBound, Int(hand.rules.maximumLevel)))
    }

    /// The levels that an item may have at a gap so that no other item is shown elsewhere: that of the item below at
    /// least, and one more than that of the item above at most. A folded item takes in nothing.
    ///
    /// - Parameter runs: the items that are moved to the gap, with their sub-items.
    func levels(at gap: Int, moving runs: [Range<Int>] = [], in hand: Hand) -> ClosedRange<Int> {
        var (above, below) = (gap - 1, gap)
        for run in runs.reversed() where run.contains(above) { above = run.lowerBound - 1 }
        for run in runs where run.contains(below) { below = run.upperBound }
        let least = below < hand.count ? hand.shownLevel(at: below) : 0
        // What is moved into a folded item unfolds it.
        let head = runs.isEmpty ? folds.head(over: above) : nil
        let most = head.map(hand.shownLevel(at:)) ?? (above < 0 ? 0 : hand.shownLevel(at: above) + 1)
        return least...max(least, most)
    }

    /// The edit that moves items with their sub-items to a gap, at the nearest level that they may have there.
    func moving(_ runs: [Range<Int>], to gap: Int, _ side: Side, in hand: Hand) -> Delta {
        let delta = Delta.moving(runs, to: gap, side)
        guard let first = runs.first?.lowerBound, let start = delta.map(index: first) else { return delta }
        let (allowed, own) = (levels(at: gap, moving: runs, in: hand), hand.shownLevel(at: first))
        let level = min(max(own, allowed.lowerBound), allowed.upperBound)
        let branch = start..<start + runs.reduce(0) { $0 + $1.count }
        guard level != own, let moved = try? hand.applying(delta),
            let shift = moved.shifting([branch], by: level - moved.shownLevel(at: start))
        else { return delta }
        return delta.composed(with: shift)
    }

    // MARK: Changing

    mutating func setFilter(_ new: Filter?, in hand: Hand) {
        filter = new
        tickedLast?.show(filter)
        folds.arrange(in: hand, filter, tickedLast)
    }

    /// Searches the next items for matches of the filter.
    mutating func scan(_ hand: Hand) {
        filter?.scan(hand)
        tickedLast?.show(filter)
        folds.arrange(in: hand, filter, tickedLast)
    }

    /// Follows a change of the list that led to `hand`; returns whether folded items came or went.
    ///
    /// - Parameter edited: an item that stays shown, whatever the filter shows.
    mutating func follow(_ delta: Delta, to hand: Hand, keeping edited: ItemID?) -> Bool {
        filter?.follow(delta, to: hand, keeping: edited)
        tickedLast?.follow(delta, to: hand, filter)
        let change = folds.follow(delta, to: hand)
        folds.arrange(in: hand, filter, tickedLast)
        return change
    }

    mutating func changeFolds(in hand: Hand, _ body: (inout Folds) -> Void) {
        body(&folds)
        folds.arrange(in: hand, filter, tickedLast)
    }

    /// Shows ticked tasks last, or in their places.
    mutating func setTickedLast(_ isOn: Bool, in hand: Hand) {
        tickedLast = isOn ? TickedLast(hand, filter) : nil
        folds.arrange(in: hand, filter, tickedLast)
    }

    /// Puts the items whose boxes have changed where they belong.
    mutating func settle(in hand: Hand) {
        tickedLast?.settle(hand, filter)
        folds.arrange(in: hand, filter, tickedLast)
    }

    /// Unfolds what hides a place; returns whether anything was folded.
    mutating func reveal(_ place: Int, in hand: Hand) -> Bool {
        var isChanged = false
        while let head = folds.head(over: place) {
            changeFolds(in: hand) { $0.unfold(at: head) }
            isChanged = true
        }
        return isChanged
    }
}
