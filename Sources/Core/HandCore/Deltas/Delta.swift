/// Which neighbour the content of a gap is attached to.
///
/// In one gap, `after` content is always left of `before` content.
public enum Side: UInt8, Hashable, Sendable, CaseIterable {
    /// Attached to the item on the left; *after the start* is the top of the list.
    case after = 0
    /// Attached to the item on the right; *before the end* is appending.
    case before = 1
}

/// One immutable edit of a list, as large as it needs to be: one insertion, a block move, a whole offline afternoon.
///
/// A delta walks the old list from left to right; the rest of the list is an implied `keep`. A delta is always well
/// formed and in normal form: neighbouring components of one kind are joined, none is empty, the last one is not
/// `keep`, each gap has `after` before `before`, slots are numbered in the order of picking, and each slot is dropped
/// exactly once. So two deltas are equal exactly when they have the same effect.
public struct Delta: Sendable {
    // A delta is either single or compound. Its effect decides which, so equal deltas have the same form.

    /// The delta as a few numbers, if it changes nothing, or inserts, deletes or moves one item, as nearly every edit
    /// does; otherwise nil.
    package let single: SingleEdit?
    package let singleItem: PackedItem?
    /// Any other delta; nil for a single edit.
    let compound: Compound?

    final class Compound: Sendable {
        let steps: ContiguousArray<Step>
        let items: [PackedItem]
        let changes: [Change]
        let reach: Int
        let growth: Int

        init(steps: ContiguousArray<Step>, items: [PackedItem], changes: [Change], reach: Int, growth: Int) {
            (self.steps, self.items, self.changes) = (steps, items, changes)
            (self.reach, self.growth) = (reach, growth)
        }
    }

    /// The delta that changes nothing.
    public static let identity = Delta(single: .nothing)

    init(steps: ContiguousArray<Step>, items: [PackedItem], changes: [Change], reach: Int, growth: Int) {
        if changes.isEmpty, items.count <= 1, let edit = SingleEdit(steps, reach: reach),
            edit.kind == .insert ? edit.count == 1 && items.count == 1 && steps.last?.start == 0 : items.isEmpty
        {
            self.init(single: edit, items.first)
        } else {
            self.init(Compound(steps: steps, items: items, changes: changes, reach: reach, growth: growth))
        }
    }

    private init(_ compound: Compound) {
        (single, singleItem, self.compound) = (nil, nil, compound)
    }

    /// - Parameter edit: nothing, or an insertion, a deletion or a move of one item.
    init(single edit: SingleEdit, _ item: PackedItem? = nil) {
        (single, singleItem, compound) = (edit, item, nil)
    }

    public var isIdentity: Bool { single?.kind == .nothing }

    /// The components, without the payloads that `items` and `changes` hold.
    package var steps: ContiguousArray<Step> { compound?.steps ?? single?.steps ?? [] }

    /// All inserted items, in the order of the components.
    package var items: Items { Items(single: singleItem, many: compound?.items ?? []) }

    package struct Items: RandomAccessCollection, Sendable {
        fileprivate let single: PackedItem?
        fileprivate let many: [PackedItem]

        package var startIndex: Int { 0 }
        package var endIndex: Int { single == nil ? many.count : 1 }
        package subscript(index: Int) -> PackedItem { single ?? many[index] }
    }

    /// All changes of items, in the order of the components.
    package var changes: [Change] { compound?.changes ?? [] }

    /// The change that an edit or a drop makes, or nil.
    func change(of step: Step) -> Change? { step.change < 0 ? nil : changes[step.change] }

    /// The number of old items that the components reach: the shortest list that this delta fits.
    public var reach: Int { single?.reach ?? compound?.reach ?? 0 }

    /// The number of items inserted minus the number of items deleted.
    public var growth: Int { single?.growth ?? compound?.growth ?? 0 }

    /// One component as plain numbers, so that walking a delta touches no reference counts.
    package struct Step: Equatable, Sendable {
        package enum Kind: UInt8, Sendable {
            case keep, edit, delete, pick, insert, drop
        }

        package let kind: Kind
        package var side: Side = .after
        /// Items kept, deleted, picked, inserted or dropped; 1 for an edit.
        package var count: Int
        /// `insert`: index of the first item in `items`; `pick` and `drop`: the first slot; otherwise 0.
        package var start = 0
        /// `edit`, `drop`: index in `changes`, or −1.
        package var change = -1

        /// `insert`: the indices in `items`; `pick` and `drop`: the slots.
        @inline(__always) package var range: Range<Int> { start..<start + count }

        /// Whether the step is in a gap (and not on old items).
        @inline(__always) var isContent: Bool { kind.rawValue >= Kind.insert.rawValue }
    }

    /// One component as people and the codec see it.
    public enum Component: Equatable, Sendable {
        /// The next n items stay.
        case keep(Int)
        /// The next item stays, with changed content.
        case edit(Change)
        /// The next n items go.
        case delete(Int)
        /// The next n items leave for slots, numbered in the order of picking.
        case pick(Int)
        /// New items arrive in this gap.
        case insert([Item], Side)
        /// Picked items arrive in this gap; only a single slot can carry a change.
        case drop(Range<Int>, Side, Change?)
    }

    /// The components from left to right. O(size of the delta).
    public var components: [Component] {
        steps.map { step in
            switch step.kind {
            case .keep: .keep(step.count)
            case .edit: .edit(changes[step.change])
            case .delete: .delete(step.count)
            case .pick: .pick(step.count)
            case .insert: .insert(items[step.range].map(\.item), step.side)
            case .drop: .drop(step.range, step.side, change(of: step))
            }
        }
    }

    package var componentCount: Int { single?.stepCount ?? compound?.stepCount ?? 0 }
    /// The number of components, plus the cost of text changes. Transforming over another delta takes time in
    /// proportion to this cost. O(changes).
    package var carryingCost: Int { single?.stepCount ?? compound?.carryingCost ?? 0 }
    /// `carryingCost` plus the numbers of items inserted and deleted. Applying the delta takes time in proportion to
    /// this weight. O(components).
    package var weight: Int { single.map { $0.stepCount + abs($0.growth) } ?? compound?.weight ?? 0 }
    /// The items that this delta inserts, from left to right. O(their texts).
    public var insertedItems: [Item] { items.map(\.item) }
}

extension Delta.Compound {
    var stepCount: Int { steps.count }
    var carryingCost: Int { changes.reduce(steps.count) { $0 + $1.cost } }
    var weight: Int {
        steps.reduce(carryingCost + items.count) { $0 + ($1.kind == .delete ? $1.count : 0) }
    }
}

extension Delta: Equatable {
    public static func == (left: Delta, right: Delta) -> Bool {
        guard let some = left.compound, let others = right.compound else {
            return left.single == right.single && left.singleItem == right.singleItem
        }
        return some === others
            || some.steps == others.steps && some.items == others.items && some.changes == others.changes
    }
}

// MARK: - Making one from components

extension Delta {
    /// Why components do not form a delta.
    public enum Malformed: Error, Equatable, Sendable {
        case negativeCount(component: Int)
        case changedBlock(component: Int)
        /// The drops do not name each picked slot exactly once.
        case slotsDoNotMatch(picked: Int)
    }

    /// Creates a delta from components in any form and brings them into normal form.
    ///
    /// - Throws: `Malformed` if the components do not form a delta.
    public init(_ components: [Component]) throws(Malformed) {
        var builder = DeltaBuilder()
        for (index, component) in components.enumerated() {
            switch component {
            case .keep(let count), .delete(let count), .pick(let count):
                if count < 0 { throw .negativeCount(component: index) }
            case .drop(let slots, _, let change):
                if slots.lowerBound < 0 { throw .negativeCount(component: index) }
                if change != nil && slots.count != 1 { throw .changedBlock(component: index) }
            case .edit, .insert: break
            }
            builder.append(component)
        }
        self = try builder.finishChecked()
    }

    var pickedCount: Int {
        steps.reduce(0) { $0 + ($1.kind == .pick ? $1.count : 0) }
    }

    /// Whether each picked slot is dropped exactly once.
    var slotsMatch: Bool {
        guard steps.contains(where: { $0.kind == .pick || $0.kind == .drop }) else { return true }
        let drops = steps.filter { $0.kind == .drop }.sorted { $0.start < $1.start }
        var next = 0
        for drop in drops {
            if drop.start != next { return false }
            next += drop.count
        }
        return next == pickedCount
    }
}

extension Delta.Malformed: CustomStringConvertible {
    public var description: String {
        switch self {
        case .negativeCount(let component): "component \(component) has a negative count"
        case .changedBlock(let component): "component \(component) changes more than one dropped item at once"
        case .slotsDoNotMatch(let picked):
            "\(picked) items are picked, but the drops do not name each slot exactly once"
        }
    }
}
