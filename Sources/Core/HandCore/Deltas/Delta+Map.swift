extension Delta {
    /// Returns the new position of the item at `index` of the old list, or nil if it is deleted. O(components).
    public func map(index: Int) -> Int? {
        guard let span = firstSpan(where: { $0.oldItems.contains(index) }) else { return nil }
        let offset = index - span.old
        switch span.step.kind {
        case .keep, .edit: return span.new + offset
        case .pick: return place(of: span.step.start + offset, in: .drop).map { $0.span.new + $0.offset }
        case .delete, .insert, .drop: return nil
        }
    }

    /// Returns the old and the new position of each of some items, except for deleted ones, sorted by the old position.
    /// O((components + items) · log).
    package func map(indices: some Sequence<Int>) -> [(old: Int, new: Int)] {
        let picks = spans.filter { $0.step.kind == .pick }
        /// What stays, or goes elsewhere.
        var runs: [(old: Range<Int>, new: Int)] = []
        var all = spans
        while let span = all.next() {
            switch span.step.kind {
            case .keep, .edit: runs.append((span.oldItems, span.new))
            case .drop:
                let slots = span.step.range
                let first = picks.partitioningIndex { $0.step.range.upperBound > slots.lowerBound }
                for pick in picks[first...] {
                    let part = pick.step.range.clamped(to: slots)
                    if part.isEmpty { break }
                    let old = pick.old + part.lowerBound - pick.step.start
                    runs.append((old..<old + part.count, span.new + part.lowerBound - slots.lowerBound))
                }
            case .delete, .pick, .insert: break
            }
        }
        runs.append((all.end.oldItems, all.end.new))
        runs.sort { $0.old.lowerBound < $1.old.lowerBound }
        var next = 0
        return indices.sorted().compactMap { index in
            while runs[next].old.upperBound <= index { next += 1 }
            let (old, new) = runs[next]
            return old.contains(index) ? (index, new + index - old.lowerBound) : nil
        }
    }

    /// Returns the old position of the item at `index` of the new list, or nil if it was inserted. O(components).
    ///
    /// `map(index: origin(of: i))` is `i` for each item of the new list that was in the old one.
    public func origin(of index: Int) -> Int? {
        guard let span = firstSpan(where: { $0.newItems.contains(index) }) else { return nil }
        let offset = index - span.new
        switch span.step.kind {
        case .keep, .edit: return span.old + offset
        case .drop: return place(of: span.step.start + offset, in: .pick).map { $0.span.old + $0.offset }
        case .delete, .pick, .insert: return nil
        }
    }

    /// Returns where a slot is picked or dropped: the span, and the slot's number in the span.
    private func place(of slot: Int, in kind: Step.Kind) -> (span: Span, offset: Int)? {
        for span in spans where span.step.kind == kind {
            let offset = slot - span.step.start
            if (0..<span.step.count).contains(offset) { return (span, offset) }
        }
        return nil
    }

    /// The items of the old list whose contents are needed to describe the delta or to undo it: the items that the
    /// delta edits, deletes or moves, in order. Neighbors are one range. O(components).
    package var touched: [Range<Int>] {
        var runs: [Range<Int>] = []
        for span in spans where !span.step.isContent && span.step.kind != .keep {
            if let last = runs.last, last.upperBound == span.oldItems.lowerBound {
                runs[runs.count - 1] = last.lowerBound..<span.oldItems.upperBound
            } else {
                runs.append(span.oldItems)
            }
        }
        return runs
    }

    /// Returns the new position of the gap before the old item at `gap`, for a cursor on that side of the gap.
    /// O(components).
    ///
    /// Content inserted into the same gap goes behind an `after` cursor and in front of a `before` cursor.
    public func map(gap: Int, _ side: Side) -> Int {
        let found = firstSpan { span in
            span.step.isContent ? span.old == gap && side == .after : gap < span.oldItems.upperBound
        }
        guard let span = found else { return gap }
        return span.step.kind == .keep || span.step.kind == .edit ? span.new + gap - span.old : span.new
    }
}
