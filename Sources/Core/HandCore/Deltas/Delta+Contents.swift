// What a delta does to contents: for code that validates edits, deals cards or acknowledges commits.

extension Delta {
    /// An item before and after a change.
    package typealias ChangedItem = (item: PackedItem, after: PackedItem)

    /// Returns the items of `list` that this delta changes, before and after: first those that stay in place, then
    /// those that move. In the form in which the list stores items: as `Item`s, a million of them would take 250 MB.
    ///
    /// O(components + changed · log n).
    ///
    /// - Throws: `Misfit` if a change was not made on its item.
    package func changedItems(on list: Hand) throws(Misfit) -> [ChangedItem] {
        try changedItems(on: list, within: .max) ?? []
    }

    /// Like `changedItems(on:)`, which reads, copies and hashes all bytes of the items. Returns nil if the items have
    /// more than `maxBytes` bytes.
    package func changedItems(on list: Hand, within maxBytes: Int) throws(Misfit) -> [ChangedItem]? {
        guard !changes.isEmpty else { return [] }
        guard reach <= list.count else { throw .tooFewItems(reach: reach, count: list.count) }
        var result: [ChangedItem] = []
        result.reserveCapacity(changes.count)
        var bytes = 0
        func add(_ index: Int, _ change: Change) throws(Misfit) {
            if bytes > maxBytes { return }
            let item = list.tree[index]
            bytes += item.size
            if bytes > maxBytes { return }
            do { result.append((item, PackedItem(try item.item.applying(change)))) } catch {
                throw .change(error, index: index)
            }
        }
        for span in spans where span.step.kind == .edit { try add(span.old, changes[span.step.change]) }
        guard steps.contains(where: { $0.kind == .drop && $0.change >= 0 }) else {
            return bytes > maxBytes ? nil : result
        }
        let footprint = Footprint(self)
        for run in footprint.picks where footprint.hasChanges(inSlots: run.slot, count: run.count) {
            for index in run.old..<run.old + run.count {
                let change = footprint.change(of: run, at: index)
                if change >= 0 { try add(index, changes[change]) }
            }
        }
        return bytes > maxBytes ? nil : result
    }

    /// Returns this delta with the contents of its inserted items replaced; ids stay the same.
    package func mappingInserted(_ transform: (Item) -> Content) -> Delta {
        Delta(
            steps: steps,
            items: items.map { PackedItem(Item(id: $0.id, level: $0.level, content: transform($0.item))) },
            changes: changes, reach: reach, growth: growth)
    }

    /// Returns the delta from the result of `self` to the result of `actual`, where both were made on `list`.
    ///
    /// O(components) if the two deltas differ only in the contents of inserted items, as a dealt card differs from its
    /// back; otherwise both lists are compared, which is O(n log n).
    package func correction(to actual: Delta, on list: Hand) throws(Misfit) -> Delta {
        if self == actual { return .identity }
        if steps == actual.steps, changes == actual.changes, let turned = turning(to: actual) { return turned }
        return Delta(from: try list.applying(self), to: try list.applying(actual))
    }

    /// Returns the edits that turn the inserted items into those of `actual`, or nil if their ids or kinds differ.
    private func turning(to actual: Delta) -> Delta? {
        var builder = DeltaBuilder()
        for step in steps where step.kind != .delete && step.kind != .pick {
            guard step.kind == .insert else {
                builder.keep(step.count)
                continue
            }
            for index in step.range {
                guard items[index].id == actual.items[index].id,
                    let change = Change(from: items[index].item, to: actual.items[index].item)
                else { return nil }
                builder.edit(change)
            }
        }
        return builder.finish()
    }
}

extension Delta {
    /// Returns the items of `list` that this delta moves or edits, whether it moves them to another place, and how it
    /// changes them.
    ///
    /// O(components + touched · log n).
    ///
    /// - Precondition: this delta fits `list`.
    public func intentions(on list: Hand) -> [(item: Item, isMoved: Bool, change: Change)] {
        let footprint = Footprint(self)
        let places = footprint.picks.isEmpty ? nil : Destinations(self)
        var result: [(item: Item, isMoved: Bool, change: Change)] = []
        for run in footprint.runs where run.kind != .delete {
            for index in run.old..<run.old + run.count {
                let change = footprint.change(of: run, at: index)
                let isMoved = run.kind == .pick && places?.staysInPlace(run, at: index) == false
                result.append((list[index], isMoved, change < 0 ? Change() : changes[change]))
            }
        }
        return result
    }
}

extension Delta {
    /// Returns this delta without some of its changes of contents. O(size of the delta).
    ///
    /// - Parameter isMade: whether a change of the item at an index of the list that the delta was made on stays.
    package func changing(only isMade: (_ index: Int, _ change: Change) -> Bool) -> Delta {
        if changes.isEmpty { return self }
        var (old, picked) = (0, [Int]())
        for component in components {
            if case .pick(let count) = component { picked += old..<old + count }
            old += component.oldCount
        }
        old = 0
        let kept = components.map { component -> Component in
            defer { old += component.oldCount }
            return switch component {
            case .edit(let change) where !isMade(old, change): .keep(1)
            case .drop(let slots, let side, let change?) where !isMade(picked[slots.lowerBound], change):
                .drop(slots, side, nil)
            default: component
            }
        }
        return (try? Delta(kept)) ?? self
    }

    /// Returns this delta without the insertions of some items. O(size of the delta).
    package func inserting(only isKept: (Item) -> Bool) -> Delta {
        let kept = components.map { component -> Component in
            guard case .insert(let items, let side) = component else { return component }
            return .insert(items.filter(isKept), side)
        }
        return (try? Delta(kept)) ?? self
    }
}

extension Delta {
    /// Places components at indices of the old list, in order; the items in between are kept.
    package init(placing places: [(Int, Component)]) throws(Malformed) {
        var (components, end): ([Component], Int) = ([], 0)
        for (index, component) in places {
            components += [.keep(index - end), component]
            end = index + component.oldCount
        }
        try self.init(components)
    }
}

extension Delta.Component {
    /// The number of items of the old list that the component covers.
    package var oldCount: Int {
        switch self {
        case .keep(let count), .delete(let count), .pick(let count): count
        case .edit: 1
        case .insert, .drop: 0
        }
    }
}
