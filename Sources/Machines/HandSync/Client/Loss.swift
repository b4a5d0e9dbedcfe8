import HandCore
import HandWire

/// An edit by a person that a list does not have: the server refused the edit, or somebody overrode it. A loss needs no
/// list, so that it can be kept until its person decides about it.
public enum Loss: Equatable, Sendable {
    case refused(Rejection, [Piece])
    /// For lost words, the item is as the override left it; otherwise it is as the user left it.
    case overridden(Item, Superseded.Loss, by: Override)

    /// Whose commit overrode an edit, and how.
    public struct Override: Equatable, Sendable {
        /// The author of the commit; 0 if nobody knows, as after a snapshot.
        public let author: AuthorID
        public let revision: Int
        /// Whether the commit deleted the item.
        public let deletesItem: Bool
        /// The item above the lost one, where the user put it; nil at the top.
        public let behind: ItemID?

        public init(author: AuthorID, revision: Int, deletesItem: Bool = false, behind: ItemID? = nil) {
            (self.author, self.revision, self.deletesItem, self.behind) = (author, revision, deletesItem, behind)
        }
    }

    /// One part of an edit. The item is the new one, which gets another id, or an item as it was before the edit.
    public enum Piece: Equatable, Sendable {
        case insert(Item, behind: ItemID?)
        case edit(Change, of: Item)
        case move(Item, behind: ItemID?)
        case delete(Item)
    }

    /// Returns nil if the notice tells of no loss.
    public init?(_ notice: Replica.Notice) {
        switch notice {
        case .superseded(let item, let loss, let override): self = .overridden(item, loss, by: override)
        case .rejected(let reason, let delta, let list): self = .refused(reason, delta.pieces(on: list))
        case .acknowledged, .keptWords, .usedTwice, .diverged, .restored: return nil
        }
    }

    public var isRefused: Bool { if case .refused = self { true } else { false } }

    /// The parts of an edit that gets the lost edit back.
    public var pieces: [Piece] {
        switch self {
        case .refused(_, let pieces): return pieces
        case .overridden(let item, _, let override) where override.deletesItem:
            return [.insert(item, behind: override.behind)]
        case .overridden(let item, .move, let override): return [.move(item, behind: override.behind)]
        case .overridden(let item, .edit(let fields), _): return [.edit(item.setting(fields), of: item)]
        case .overridden(let item, .words(let loss, let field), _):
            let change = field == .url ? Change(url: loss.recovery) : Change(text: loss.recovery)
            return [.edit(change, of: item)]
        }
    }

    /// The words in the lost edit, one text for each part, so that nobody has to type them again.
    public var texts: [String] {
        if case .overridden(_, .words(let loss, _), let override) = self, !override.deletesItem { return [loss.lost] }
        return pieces.compactMap { piece in
            switch piece {
            case .insert(let item, _): item.content.text
            case .edit(let change, let item): (try? item.applying(change))?.content.text
            case .move, .delete: nil
            }
        }
    }
}

// MARK: - Getting a lost edit back

extension Loss {
    /// Returns the edit that gets the lost edit back on a list, which may have it already; nil if all its items are
    /// gone. Edits of items that were deleted insert those items again, each of them once: they keep their ids.
    public func delta(on hand: Hand, _ newID: () -> ItemID) -> Delta? {
        var (list, composer, isPossible) = (hand, Composer(), false)
        for piece in pieces(on: hand) {
            guard let delta = piece.delta(on: list, deletedID ?? newID()), let next = try? list.applying(delta) else {
                continue
            }
            isPossible = true
            composer.append(delta)
            list = next
        }
        return isPossible ? composer.delta : nil
    }

    /// The id of the item whose deletion has overridden the edit.
    private var deletedID: ItemID? {
        if case .overridden(let item, _, let override) = self, override.deletesItem { item.id } else { nil }
    }

    /// The parts of an edit that gets the lost edit back. If the item is there again, only what the user did to it is.
    private func pieces(on hand: Hand) -> [Piece] {
        guard case .overridden(let item, let loss, let override) = self, override.deletesItem,
            let index = hand.index(of: item.id)
        else { return pieces }
        let fields: Change.Fields
        switch loss {
        case .move: return [.move(item, behind: override.behind)]
        case .edit(let lost): fields = lost
        case .words(_, let field): fields = field
        }
        let other = hand[index]
        guard let change = Change(from: other, to: item) else { return [] }
        return [.edit(change.only(fields), of: other)]
    }
}

extension Loss.Piece {
    /// O(n), because it searches for the item's id.
    ///
    /// - Parameter id: that of a new item.
    fileprivate func delta(on hand: Hand, _ id: ItemID) -> Delta? {
        func gap(behind item: ItemID?) -> Int? { item.map { hand.index(of: $0).map { $0 + 1 } } ?? 0 }
        func inserting(_ lost: Item, as id: ItemID, behind: ItemID?) -> Delta {
            let item = Item(id: id, level: lost.level, content: lost.content)
            guard let behind, let gap = gap(behind: behind) else {
                return .inserting(
                    [item], at: behind == nil && !hand.isEmpty ? 0 : hand.count, behind == nil ? .after : .before)
            }
            return .inserting([item], at: gap, .after)
        }
        switch self {
        case .insert(let item, let behind):
            guard let index = hand.index(of: item.id) else { return inserting(item, as: item.id, behind: behind) }
            // An edit whose outcome was not known may have been made.
            return hand[index].content == item.content ? .identity : inserting(item, as: id, behind: behind)
        case .edit(let change, let item):
            guard let index = hand.index(of: item.id) else {
                return (try? item.applying(change)).map { inserting($0, as: item.id, behind: hand.last?.id) }
            }
            guard let since = Change(from: item, to: hand[index]) else { return nil }
            return .editing(at: index, change.transformed(over: since, as: .later))
        case .move(let item, let behind):
            guard let index = hand.index(of: item.id) else { return nil }
            return .moving([index..<index + 1], to: gap(behind: behind) ?? hand.count, .after)
        case .delete(let item): return hand.index(of: item.id).map { .deleting($0..<$0 + 1) }
        }
    }
}

extension Change {
    /// Returns the part of this change that is about some fields.
    fileprivate func only(_ fields: Fields) -> Change {
        Change(
            text: fields.contains(.text) ? text : TextChange(), done: fields.contains(.done) ? done : nil,
            url: fields.contains(.url) ? url : TextChange(), card: fields.contains(.card) ? card : nil,
            bytes: fields.contains(.bytes) ? bytes : nil, level: fields.contains(.level) ? level : nil)
    }
}

extension Item {
    /// Returns the change that sets fields other than texts to their values in this item.
    fileprivate func setting(_ fields: Change.Fields) -> Change {
        var change = Change(level: fields.contains(.level) ? level : nil)
        switch content {
        case .task(_, let done) where fields.contains(.done): change.done = done
        case .card(let card) where fields.contains(.card): change.card = card
        case .unknown(_, let bytes) where fields.contains(.bytes): change.bytes = bytes
        default: break
        }
        return change
    }
}

extension Delta {
    /// Returns the parts of this edit, which was made on `list`.
    fileprivate func pieces(on list: Hand) -> [Loss.Piece] {
        guard let edited = try? list.applying(self) else {
            return insertedItems.map { .insert($0, behind: nil) }
        }
        func behind(_ index: Int) -> ItemID? { index > 0 ? edited[index - 1].id : nil }
        var pieces: [Loss.Piece] = deletedItems(on: list).map { .delete($0) }
        for (item, isMoved, change) in intentions(on: list) {
            if isMoved, let index = edited.index(of: item.id) {
                pieces.append(.move(item, behind: behind(index)))
            }
            if !change.isEmpty { pieces.append(.edit(change, of: item)) }
        }
        for step in placed {
            guard case .insert = step.component else { continue }
            for index in step.new { pieces.append(.insert(edited[index], behind: behind(index))) }
        }
        return pieces
    }
}
