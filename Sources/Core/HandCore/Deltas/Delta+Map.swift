extension Delta {
    /// Returns the new position of the item at `index` of the old list, or nil if it is deleted. O(components).
    public func map(index: Int) -> Int? {
        var old = 0
        var slot: Int?
        var new = 0
        for step in steps {
            if step.isContent { continue }
            if index < old + step.count {
                switch step.kind {
                case .delete: return nil
                case .pick: slot = step.start + index - old
                default: break
                }
                break
            }
            old += step.count
        }
        old = 0
        for step in steps {
            switch step.kind {
            case .insert: new += step.count
            case .drop:
                if let slot, step.start <= slot, slot < step.start + step.count { return new + slot - step.start }
                new += step.count
            case .keep, .edit:
                if slot == nil, index < old + step.count { return new + index - old }
                old += step.count
                new += step.count
            case .delete, .pick: old += step.count
            }
        }
        return new + index - old
    }

    /// Returns the old position of the item at `index` of the new list, or nil if it was inserted. O(components).
    ///
    /// `map(index: origin(of: i))` is `i` for each item of the new list that was in the old one.
    public func origin(of index: Int) -> Int? {
        var (old, new) = (0, 0)
        for step in steps {
            let offset = index - new
            switch step.kind {
            case .keep, .edit:
                if offset < step.count { return old + offset }
                old += step.count
                new += step.count
            case .delete, .pick: old += step.count
            case .insert:
                if offset < step.count { return nil }
                new += step.count
            case .drop:
                if offset < step.count { return position(ofSlot: step.start + offset) }
                new += step.count
            }
        }
        return old + index - new
    }

    private func position(ofSlot slot: Int) -> Int? {
        var old = 0
        for step in steps where !step.isContent {
            if step.kind == .pick, step.start <= slot, slot < step.start + step.count { return old + slot - step.start }
            old += step.count
        }
        return nil
    }

    /// The items of the old list whose contents are needed to describe the delta or to undo it: those that it edits,
    /// deletes or moves. In order. O(components).
    package var touched: [Range<Int>] {
        var old = 0
        var touched: [Range<Int>] = []
        for step in steps where !step.isContent {
            if step.kind != .keep { touched.append(old..<old + step.count) }
            old += step.count
        }
        return touched
    }

    /// Returns the new position of the gap before the old item at `gap`, for a cursor on that side of it.
    /// O(components).
    ///
    /// Content inserted into the same gap goes behind an `after` cursor and in front of a `before` cursor.
    public func map(gap: Int, _ side: Side) -> Int {
        var old = 0
        var new = 0
        for step in steps {
            if step.isContent {
                if old == gap && side == .after { return new }
                new += step.count
                continue
            }
            if gap < old + step.count || (gap == old && side == .after) {
                return step.kind == .keep || step.kind == .edit ? new + gap - old : new
            }
            old += step.count
            if step.kind == .keep || step.kind == .edit { new += step.count }
        }
        return new + gap - old
    }
}
