extension Delta {
    /// Why a delta does not fit a list.
    public enum Misfit: Error, Equatable, Sendable {
        /// The delta walks over `reach` items, but the list has only `count`.
        case tooFewItems(reach: Int, count: Int)
        /// The change was not made on the item at `index`.
        case change(Change.Misfit, index: Int)
    }
}

extension Delta.Misfit: CustomStringConvertible {
    public var description: String {
        switch self {
        case .tooFewItems(let reach, let count): "the delta reaches over \(reach) items, the list has \(count)"
        case .change(let misfit, let index): "item \(index): \(misfit)"
        }
    }
}

extension Hand {
    /// A run of more items than this is edited by splitting and joining trees; shorter runs item by item in place.
    private static let bulk = 8
    /// One step of an edit takes as long as copying this many items. If a delta has so many steps that they would take
    /// longer than copying the list, the whole list is rewritten.
    private static let rewriting = 32

    /// Returns the list after `delta`; succeeds for every delta that fits.
    ///
    /// O(min(c log n, c + n)) for c components and inserted items and the list's length n.
    ///
    /// - Throws: `Delta.Misfit` if the delta was made for another list.
    public func applying(_ delta: Delta) throws(Delta.Misfit) -> Hand {
        var copy = self
        try copy.apply(delta)
        return copy
    }

    /// Whether a delta leaves the list as it is, or does not fit it. O(size of the delta · log n).
    package func isUnchanged(by delta: Delta) -> Bool {
        guard let changed = try? applying(delta) else { return true }
        return changed.digest == digest
    }

    /// Throws the error that `applying` would throw.
    public func check(_ delta: Delta) throws(Delta.Misfit) {
        _ = try changedItems(by: delta)
    }

    /// Validates every change against its item before anything is applied, so that an error leaves the list intact.
    private func changedItems(by delta: Delta) throws(Delta.Misfit) -> [Delta.ChangedItem] {
        guard delta.reach <= count else { throw .tooFewItems(reach: delta.reach, count: count) }
        return try delta.changedItems(on: self)
    }

    /// Like `applying`, in place; on an error the list stays as it was.
    public mutating func apply(_ delta: Delta) throws(Delta.Misfit) {
        make(delta, try changedItems(by: delta))
    }

    /// Applies a delta in place.
    ///
    /// - Parameter changed: `delta.changedItems(on: self)`, which takes most of the time where texts are long.
    package mutating func apply(_ delta: Delta, changing changed: [Delta.ChangedItem]) throws(Delta.Misfit) {
        guard delta.reach <= count else { throw .tooFewItems(reach: delta.reach, count: count) }
        make(delta, changed)
    }

    /// Applies a delta in place if the list then has that digest and that count; otherwise the list stays as it was.
    /// Returns whether it was applied. Copying the list first would take three times as long.
    package mutating func apply(_ delta: Delta, leadingTo digest: UInt64, count: Int) throws(Delta.Misfit) -> Bool {
        let changed = try changedItems(by: delta)
        // The inverse has to know the old items. A single edit leaves only one behind, which it deletes or changes.
        let touched = SingleEdit(delta) == nil ? delta.touched.joined().map { ($0, tree[$0]) } : []
        let deleted = make(delta, changed)
        if self.digest == digest, self.count == count { return true }
        let old = Dictionary(uniqueKeysWithValues: touched)
        try apply(delta.inverted { old[$0] ?? deleted ?? changed[0].item })
        return false
    }

    /// Makes an edit of which it is known that it fits. Returns the item that a single edit deletes.
    @discardableResult
    private mutating func make(_ delta: Delta, _ changed: [Delta.ChangedItem]) -> PackedItem? {
        if let edit = delta.single {
            let (index, gap) = (Int(edit.index), Int(edit.gap))
            switch edit.kind {
            case .insert: if let item = delta.singleItem { tree.insert(item, at: gap) }
            case .delete: return tree.remove(at: index)
            case .move: tree.insert(tree.remove(at: index), at: index < gap ? gap - 1 : gap)
            case .nothing: break
            case .set, .reword: preconditionFailure("a change is no single edit by itself")
            }
        } else if delta.steps.count > Self.bulk, delta.steps.count > count / Self.rewriting {
            tree = SummaryTree(rewritten(by: delta, changed))
        } else {
            edit(by: delta, changed)
        }
        return nil
    }

    /// Applies a delta by rewriting or by editing, regardless of which is faster. For tests.
    package func applying(_ delta: Delta, rewriting: Bool) throws(Delta.Misfit) -> Hand {
        let changed = try changedItems(by: delta)
        var copy = self
        if rewriting { copy.tree = SummaryTree(rewritten(by: delta, changed)) } else { copy.edit(by: delta, changed) }
        return copy
    }

    /// Returns all items after a delta, in one pass. O(n + c).
    private func rewritten(by delta: Delta, _ changed: [Delta.ChangedItem]) -> [PackedItem] {
        let old = Array(tree)
        var picked: [PackedItem] = []
        for span in delta.spans where span.step.kind == .pick { picked += old[span.oldItems] }
        var new: [PackedItem] = []
        new.reserveCapacity(old.count + delta.growth)
        var edited = 0
        var position = 0
        for span in delta.spans {
            let step = span.step
            switch step.kind {
            case .keep: new += old[span.oldItems]
            case .edit:
                new.append(changed[edited].after)
                edited += 1
            case .delete, .pick: break
            case .insert: new += delta.items[step.range]
            case .drop:
                let run = picked[step.range]
                if step.change >= 0 {
                    new += run.map { $0.changed(by: delta.changes[step.change]) }
                } else {
                    new += run
                }
            }
            position = span.oldItems.upperBound
        }
        return new + old[position...]
    }

    private mutating func edit(by delta: Delta, _ changed: [Delta.ChangedItem]) {
        var edited = 0
        let picked = delta.hasMoves ? Picked(by: delta, from: tree) : nil
        var position = 0
        for step in delta.steps {
            switch step.kind {
            case .keep: position += step.count
            case .edit:
                // Items that stay come first among the changed ones, in their order.
                tree.replace(at: position, with: changed[edited].after)
                edited += 1
                position += 1
            case .delete, .pick: remove(at: position, step.count)
            case .insert:
                insert(delta.items[step.range], at: position)
                position += step.count
            case .drop:
                picked?.forEachRun(inSlots: step.range) { run in
                    insert(run, at: position)
                    if step.change >= 0 { change(at: position, delta.changes[step.change]) }
                    position += run.count
                }
            }
        }
    }

    private mutating func change(at index: Int, _ change: Change) {
        tree.replace(at: index, with: tree[index].changed(by: change))
    }

    private mutating func remove(at index: Int, _ count: Int) {
        if count <= Self.bulk {
            for _ in 0..<count { tree.remove(at: index) }
        } else {
            tree.replaceSubrange(index..<index + count, with: SummaryTree())
        }
    }

    private mutating func insert(_ items: some Collection<PackedItem>, at index: Int) {
        if items.count <= Self.bulk {
            for (offset, item) in items.enumerated() { tree.insert(item, at: index + offset) }
        } else {
            tree.replaceSubrange(index..<index, with: SummaryTree(items))
        }
    }

    private mutating func insert(_ run: Picked.Run, at index: Int) {
        switch run {
        case .few(let entries): insert(entries, at: index)
        case .many(let part): tree.replaceSubrange(index..<index, with: part)
        }
    }

    /// The items that a delta picks, extracted before the list changes: a few items individually, many as parts of the
    /// tree, which then has to be copied where it changes.
    private enum Picked {
        case items([PackedItem])
        case parts(SummaryTree<PackedItem>, Footprint)

        enum Run {
            case few(ArraySlice<PackedItem>)
            case many(SummaryTree<PackedItem>)

            var count: Int {
                switch self {
                case .few(let entries): entries.count
                case .many(let part): part.count
                }
            }
        }

        init(by delta: Delta, from tree: SummaryTree<PackedItem>) {
            guard delta.pickedCount <= Hand.bulk else {
                self = .parts(tree, Footprint(delta))
                return
            }
            var entries: [PackedItem] = []
            for span in delta.spans where span.step.kind == .pick { entries += span.oldItems.map { tree[$0] } }
            self = .items(entries)
        }

        func forEachRun(inSlots slots: Range<Int>, _ body: (Run) -> Void) {
            switch self {
            case .items(let entries): body(.few(entries[slots]))
            case .parts(let tree, let footprint):
                footprint.forEachOrigin(ofSlots: slots) { origin in
                    let range = origin.old..<origin.old + origin.count
                    body(range.count <= Hand.bulk ? .few(range.map { tree[$0] }[...]) : .many(tree.slice(range)))
                }
            }
        }
    }
}

extension PackedItem {
    /// Returns the item with `change` applied, or the item unchanged if `change` does not fit it.
    func changed(by change: Change) -> PackedItem {
        (try? item.applying(change)).map { PackedItem($0) } ?? self
    }
}

// MARK: - Deleted items

extension Delta {
    /// Returns the items that this delta deletes from `list`, from left to right. O(components + deleted · log n).
    public func deletedItems(on list: Hand) -> [Item] { packedItems(deletedFrom: list).map(\.item) }

    /// Returns the deleted items in the form in which the list stores items: no text is copied.
    package func packedItems(deletedFrom list: Hand) -> [PackedItem] {
        if let edit = single { return edit.kind == .delete ? [list.tree[Int(edit.index)]] : [] }
        var deleted: [PackedItem] = []
        for span in spans where span.step.kind == .delete { deleted += list.tree.elements(in: span.oldItems) }
        return deleted
    }
}
