/// Something that one of two concurrent deltas wanted and that did not come true, because of the other.
public struct Superseded: Equatable, Sendable {
    /// Position of the item in the list on which both deltas were made.
    public let index: Int
    /// What was lost.
    public let loss: Loss
    /// Whose intention was lost.
    public let loser: Order

    public enum Loss: Equatable, Sendable {
        /// The item was moved, but the other deleted it or moved it later.
        case move
        /// Fields were changed, but the other deleted the item or changed them later.
        case edit(Change.Fields)
    }

    public init(index: Int, loss: Loss, loser: Order) {
        self.index = index
        self.loss = loss
        self.loser = loser
    }
}

extension Delta {
    /// What was overridden when `earlier` and `later`, made on the same list, are merged: in the order of the items.
    ///
    /// Deleting never loses. O(n log n) in the components of both.
    public static func superseded(earlier: Delta, later: Delta) -> [Superseded] {
        let earlierPrint = Footprint(earlier)
        let laterPrint = Footprint(later)
        var found: [Superseded] = []
        for run in earlierPrint.runs {
            laterPrint.forEachRun(in: run.old..<run.old + run.count) { other in
                guard other.kind != .keep else { return }
                for index in other.old..<other.old + other.count {
                    let changes = (earlierPrint.change(of: run, at: index), laterPrint.change(of: other, at: index))
                    found += conflicts(
                        at: index, run.kind, changes.0 < 0 ? [] : earlier.changes[changes.0].fields,
                        other.kind, changes.1 < 0 ? [] : later.changes[changes.1].fields)
                }
            }
        }
        return found
    }

    private static func conflicts(
        at index: Int, _ earlier: Step.Kind, _ earlierFields: Change.Fields,
        _ later: Step.Kind, _ laterFields: Change.Fields
    ) -> [Superseded] {
        func lost(_ kind: Step.Kind, _ fields: Change.Fields, by loser: Order) -> [Superseded] {
            var losses: [Superseded.Loss] = kind == .pick ? [.move] : []
            if !fields.isEmpty { losses.append(.edit(fields)) }
            return losses.map { Superseded(index: index, loss: $0, loser: loser) }
        }
        if earlier == .delete || later == .delete {
            return later == .delete
                ? lost(earlier, earlierFields, by: .earlier) : lost(later, laterFields, by: .later)
        }
        let bothMove = earlier == .pick && later == .pick
        return lost(bothMove ? .pick : .keep, earlierFields.intersection(laterFields), by: .earlier)
    }
}
