extension Delta {
    /// Why a delta does not fit a list.
    public enum Misfit: Error, Equatable, Sendable {
        /// The delta walks over `reach` items, the list has only `count`.
        case tooFewItems(reach: Int, count: Int)
        /// The change sets fields that the item at `index` does not have.
        case fieldsDoNotExist(index: Int, kind: Content.Kind, fields: Change.Fields)
    }
}

extension Delta.Misfit: CustomStringConvertible {
    public var description: String {
        switch self {
        case .tooFewItems(let reach, let count): "the delta reaches over \(reach) items, the list has \(count)"
        case .fieldsDoNotExist(let index, _, let fields):
            "item \(index) has no \(fields.names.joined(separator: ", "))"
        }
    }
}

extension Hand {
    /// Above this many items a run is edited by splitting and joining trees, below it item by item in place.
    private static let bulk = 8

    /// The list after `delta`: total on deltas that fit.
    ///
    /// O(c log n) for c components and inserted items, whatever the list's length n; c copies of tree paths at most.
    ///
    /// - Throws: `Delta.Misfit` if the delta was made for another list.
    public func applying(_ delta: Delta) throws(Delta.Misfit) -> Hand {
        var copy = self
        try copy.apply(delta)
        return copy
    }

    /// Like `applying`, in place; on an error the list stays as it was.
    public mutating func apply(_ delta: Delta) throws(Delta.Misfit) {
        guard delta.reach <= count else { throw .tooFewItems(reach: delta.reach, count: count) }
        // Every change is checked against its item before anything happens, so that an error leaves the list whole.
        let changed = try delta.changedItems(on: self)
        var edited = 0
        let picked = delta.hasMoves ? Picked(by: delta, from: tree) : nil
        var position = 0
        for step in delta.steps {
            switch step.kind {
            case .keep: position += step.count
            case .edit:
                // Items that stay come first among the changed ones, in their order.
                let item = Item(id: changed[edited].item.id, content: changed[edited].content)
                tree.replace(at: position, with: PackedItem(item))
                edited += 1
                position += 1
            case .delete, .pick: remove(at: position, step.count)
            case .insert:
                insert(delta.items[step.start..<step.start + step.count], at: position)
                position += step.count
            case .drop:
                picked?.forEachRun(inSlots: step.start..<step.start + step.count) { run in
                    insert(run, at: position)
                    if step.change >= 0 { change(at: position, delta.changes[step.change]) }
                    position += run.count
                }
            }
        }
    }

    private mutating func change(at index: Int, _ change: Change) {
        var item = tree[index].item
        if let content = item.content.applying(change) { item.content = content }
        tree.replace(at: index, with: PackedItem(item))
    }

    private mutating func remove(at index: Int, _ count: Int) {
        if count <= Self.bulk {
            for _ in 0..<count { tree.remove(at: index) }
        } else {
            tree.replaceSubrange(index..<index + count, with: SummaryTree())
        }
    }

    private mutating func insert(_ items: ArraySlice<Item>, at index: Int) {
        if items.count <= Self.bulk {
            for (offset, item) in items.enumerated() { tree.insert(PackedItem(item), at: index + offset) }
        } else {
            tree.replaceSubrange(index..<index, with: SummaryTree(items.map(PackedItem.init)))
        }
    }

    private mutating func insert(_ run: Picked.Run, at index: Int) {
        switch run {
        case .few(let entries):
            for (offset, entry) in entries.enumerated() { tree.insert(entry, at: index + offset) }
        case .many(let part): tree.replaceSubrange(index..<index, with: part)
        }
    }

    /// What a delta picks, taken out of the list before it changes: a few items by themselves, many as parts of the tree,
    /// which then has to be copied where it changes.
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
            var old = 0
            for step in delta.steps where !step.isContent {
                if step.kind == .pick { for index in old..<old + step.count { entries.append(tree[index]) } }
                old += step.count
            }
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

// MARK: - What a delta takes away

extension Delta {
    /// The items that this delta deletes from `list`, from left to right. O(components + deleted · log n).
    public func deletedItems(on list: Hand) -> [Item] {
        var old = 0
        var deleted: [Item] = []
        for step in steps where !step.isContent {
            if step.kind == .delete { deleted += list.items(in: old..<old + step.count) }
            old += step.count
        }
        return deleted
    }
}
