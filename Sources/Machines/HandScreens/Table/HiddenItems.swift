import HandCore

/// The sub-items that the line of a folded item hides.
package struct HiddenItems: Equatable, Sendable {
    package var count = 0
    package var tasks = 0
    package var done = 0

    package init() {}

    /// Counts all sub-items of an item. A few nanoseconds for each of them.
    package init(below place: Int, in hand: Hand) {
        let shown = UInt8(hand.shownLevel(at: place))
        var all = HiddenItems()
        // The level of the first item that is shown no further right says so; those above it are shown further right.
        hand.forEachPackedItem(from: place + 1) { item in
            guard item.level > shown else { return false }
            all.count += 1
            if let isDone = item.isDone {
                all.tasks += 1
                all.done += isDone ? 1 : 0
            }
            return true
        }
        self = all
    }

    /// The words on the folded line, the longest that take at most `width` columns; empty if none fit.
    func line(width: Int) -> Line {
        let long = "\(count) hidden" + (tasks == 0 ? "" : ", \(done) of \(tasks) done")
        let short = "+\(count)" + (tasks == 0 ? "" : ", \(done)/\(tasks)")
        return Line([long, short, "+\(count)"].first { Columns.width(of: $0) <= width } ?? "", .dim)
    }
}
