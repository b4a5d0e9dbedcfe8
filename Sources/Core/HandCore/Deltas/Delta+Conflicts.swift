/// An intention of one of two concurrent deltas that the other one overrode.
public struct Superseded: Equatable, Sendable {
    /// The position of the item in the list that both deltas were made on.
    public let index: Int
    /// What was lost.
    public let loss: Loss
    /// Which of the two deltas lost.
    public let loser: Order

    public enum Loss: Equatable, Sendable {
        /// The item was moved, but the other delta deleted it or moved it later, to another place.
        case move
        /// Fields were changed, but the other delta deleted the item or set them later, to other values.
        case edit(Change.Fields)
        /// Words of the text or of the address were replaced with other words.
        case words(TextChange.Loss, in: Change.Fields)
    }

    public init(index: Int, loss: Loss, loser: Order) {
        self.index = index
        self.loss = loss
        self.loser = loser
    }
}

extension Delta {
    /// Returns the intentions that are overridden when `earlier` and `later`, made on the same list, are merged, in the
    /// order of the items.
    ///
    /// A deletion is never overridden, and who set the same value or moved to the same gap lost nothing. O(n log n) in
    /// the components of both.
    public static func superseded(earlier: Delta, later: Delta) -> [Superseded] {
        let earlierPrint = Footprint(earlier)
        let laterPrint = Footprint(later)
        let bothMove = !earlierPrint.picks.isEmpty && !laterPrint.picks.isEmpty
        let places = bothMove ? (Destinations(earlier), Destinations(later)) : nil
        var found: [Superseded] = []
        for run in earlierPrint.runs {
            laterPrint.forEachRun(in: run.old..<run.old + run.count) { other in
                guard other.kind != .keep else { return }
                for index in other.old..<other.old + other.count {
                    let changes = (earlierPrint.change(of: run, at: index), laterPrint.change(of: other, at: index))
                    let isMovedAgain =
                        run.kind == .pick && other.kind == .pick
                        && places.map { $0.gap(of: run, at: index) != $1.gap(of: other, at: index) } == true
                    found += conflicts(
                        at: index, run.kind, changes.0 < 0 ? Change() : earlier.changes[changes.0],
                        other.kind, changes.1 < 0 ? Change() : later.changes[changes.1], isMovedAgain: isMovedAgain)
                }
            }
        }
        return found
    }

    private static func conflicts(
        at index: Int, _ earlier: Step.Kind, _ earlierChange: Change, _ later: Step.Kind, _ laterChange: Change,
        isMovedAgain: Bool
    ) -> [Superseded] {
        func lost(_ kind: Step.Kind, _ edits: [Superseded.Loss], by loser: Order) -> [Superseded] {
            ((kind == .pick ? [.move] : []) + edits).map { Superseded(index: index, loss: $0, loser: loser) }
        }
        func all(_ change: Change) -> [Superseded.Loss] { change.isEmpty ? [] : [.edit(change.fields)] }
        if later == .delete { return lost(earlier, all(earlierChange), by: .earlier) }
        if earlier == .delete { return lost(later, all(laterChange), by: .later) }
        return lost(isMovedAgain ? .pick : .keep, earlierChange.losses(to: laterChange), by: .earlier)
    }
}

extension Change {
    /// Returns the parts of this change that `later`, made on the same content, overrides with something else.
    func losses(to later: Change) -> [Superseded.Loss] {
        let set = valuesLost(to: later)
        return (set.isEmpty ? [] : [.edit(set)]) + wordLosses(to: later)
    }

    /// Returns the fields that this change sets to a value, and `later` to another one.
    package func valuesLost(to later: Change) -> Fields {
        var lost = values.fields.intersection(later.fields)
        if done == later.done { lost.remove(.done) }
        if card == later.card { lost.remove(.card) }
        if bytes == later.bytes { lost.remove(.bytes) }
        if level == later.level { lost.remove(.level) }
        return lost
    }

    /// Returns the words of this change that `later` overrides.
    func wordLosses(to later: Change) -> [Superseded.Loss] {
        TextChange.losses(earlier: text, later: later.text).map { .words($0, in: .text) }
            + TextChange.losses(earlier: url, later: later.url).map { .words($0, in: .url) }
    }
}
