import HandCore

/// The slow, naive form of the laws: a list is an array, and everything is done literally as `Delta.transformed`
/// defines it.
package struct NaiveList: EditableList, Equatable {
    package var items: [Item]

    package init(_ items: [Item]) {
        self.items = items
    }

    package var count: Int { items.count }
    package subscript(index: Int) -> Item { items[index] }

    package func applying(_ delta: Delta) throws(Delta.Misfit) -> NaiveList {
        guard delta.reach <= count else { throw .tooFewItems(reach: delta.reach, count: count) }
        let view = NaiveView(delta, count: count)
        return NaiveList(view.outcome(on: items))
    }
}

/// A delta in parts: what happens to each old item, and what is inserted or dropped in each gap.
package struct NaiveView {
    package enum Fate: Equatable { case stays, deleted, picked }
    package enum Arrival: Equatable {
        case new(Item)
        case old(Int)
    }

    package var fates: [Fate]
    package var changes: [Change]
    package var after: [[Arrival]]
    package var before: [[Arrival]]

    package init(_ delta: Delta, count: Int) {
        fates = Array(repeating: .stays, count: count)
        changes = Array(repeating: Change(), count: count)
        after = Array(repeating: [], count: count + 1)
        before = Array(repeating: [], count: count + 1)
        var position = 0
        var origins: [Int] = []
        for component in delta.components {
            switch component {
            case .keep(let n): position += n
            case .edit(let change):
                changes[position] = change
                position += 1
            case .delete(let n):
                for _ in 0..<n {
                    fates[position] = .deleted
                    position += 1
                }
            case .pick(let n):
                for _ in 0..<n {
                    fates[position] = .picked
                    origins.append(position)
                    position += 1
                }
            case .insert, .drop: break
            }
        }
        place(delta, origins)
    }

    private mutating func place(_ delta: Delta, _ origins: [Int]) {
        var position = 0
        for component in delta.components {
            switch component {
            case .keep(let n), .delete(let n), .pick(let n): position += n
            case .edit: position += 1
            case .insert(let items, let side):
                for item in items { put(.new(item), at: position, side) }
            case .drop(let slots, let side, let change):
                for slot in slots {
                    put(.old(origins[slot]), at: position, side)
                    if let change { changes[origins[slot]] = change }
                }
            }
        }
    }

    private mutating func put(_ arrival: Arrival, at gap: Int, _ side: Side) {
        if side == .after { after[gap].append(arrival) } else { before[gap].append(arrival) }
    }

    /// The gap to which an item is moved.
    package func gap(of index: Int) -> Int? {
        after.indices.first { after[$0].contains(.old(index)) || before[$0].contains(.old(index)) }
    }

    package func outcome(on items: [Item]) -> [Item] {
        func changed(_ index: Int) -> Item {
            let item = items[index]
            return (try? item.applying(changes[index])) ?? item
        }
        var result: [Item] = []
        for gap in 0...items.count {
            for arrival in after[gap] + before[gap] {
                switch arrival {
                case .new(let item): result.append(item)
                case .old(let index): result.append(changed(index))
                }
            }
            if gap < items.count, fates[gap] == .stays { result.append(changed(gap)) }
        }
        return result
    }

    /// Returns the merge of two deltas on `items`, as `Delta.transformed` defines it.
    package static func merge(earlier a: NaiveView, later b: NaiveView, on items: [Item]) -> NaiveView {
        var merged = a
        for index in a.fates.indices {
            switch (a.fates[index], b.fates[index]) {
            case (.deleted, _), (_, .deleted): merged.fates[index] = .deleted
            case (.picked, _), (_, .picked): merged.fates[index] = .picked
            default: merged.fates[index] = .stays
            }
            merged.changes[index] = merge(earlier: a.changes[index], later: b.changes[index], on: items[index].content)
        }
        func survives(_ arrival: Arrival, ofLater: Bool) -> Bool {
            guard case .old(let index) = arrival else { return true }
            return merged.fates[index] == .picked && (ofLater || b.fates[index] != .picked)
        }
        for gap in a.after.indices {
            merged.after[gap] =
                b.after[gap].filter { survives($0, ofLater: true) }
                + a.after[gap].filter { survives($0, ofLater: false) }
            merged.before[gap] =
                a.before[gap].filter { survives($0, ofLater: false) }
                + b.before[gap].filter { survives($0, ofLater: true) }
        }
        return merged
    }

    private static func merge(earlier a: Change, later b: Change, on content: Content) -> Change {
        func merged(_ text: String, _ a: TextChange, _ b: TextChange) -> TextChange {
            TextChange(replacing: text, at: 0, with: NaiveText(text, a, b).text)
        }
        var change = Change(
            done: b.done ?? a.done, card: b.card ?? a.card, bytes: b.bytes ?? a.bytes, level: b.level ?? a.level)
        if !a.text.isIdentity || !b.text.isIdentity { change.text = merged(content.text, a.text, b.text) }
        if case .link(_, let url) = content { change.url = merged(url, a.url, b.url) }
        return change
    }
}
