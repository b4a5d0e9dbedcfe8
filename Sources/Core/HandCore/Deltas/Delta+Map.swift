extension Delta {
    /// Where the item at `index` of the old list stands in the new one; nil if it is deleted. O(components).
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

    /// Where the gap before the old item at `gap` lies in the new list, for a cursor on that side of it. O(components).
    ///
    /// Content that comes into the very same gap goes behind an `after` cursor and in front of a `before` cursor.
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
