import HandCore
import HandFormats
import HandSync

/// An edit of the user's was overridden or rejected: what happened, who did it, and how to get the edit back.
package struct Notice: Equatable, Sendable {
    /// Who did it; nil for the server and this client. The name may become known later.
    private let author: UInt64?
    /// What the author did; it follows the author's name in a sentence.
    private let deed: String
    package let recovery: Recovery?
    package internal(set) var isSeen = false

    /// How the lost edit is made again.
    package enum Recovery: Equatable, Sendable {
        /// Make the same change to the item again.
        case change(ItemID, Change)
        /// Move the item behind that one again; nil for the top.
        case move(ItemID, behind: ItemID?)
        /// Insert these contents anew.
        case insert([Content])
    }

    /// nil if the user need not know of it.
    init?(_ notice: Replica.Notice, of list: ListData) {
        switch notice {
        case .acknowledged: return nil
        case .diverged(let revision):
            author = nil
            deed = "this copy differed from the server's at revision \(revision); it was loaded again"
            recovery = nil
        case .usedTwice(let revision):
            author = nil
            deed = "another program used this one's id for revision \(revision); your edit is sent again"
            recovery = nil
        case .rejected(let reason, let delta):
            author = nil
            deed = "rejected: \(Printable.clean("\(reason)"))"
            let contents = delta.insertedItems.map(\.content)
            recovery = contents.isEmpty ? nil : .insert(contents)
        case .superseded(let item, let loss, let author, _):
            self.author = author
            let what = "'\(Printable.line(of: item.content))'"
            // Finding the item is O(n), and rare.
            let isHere = list.hand.index(of: item.id) != nil
            switch loss {
            case .move:
                deed = isHere ? "moved \(what) after you did" : "deleted \(what), which you moved"
                recovery = Self.recovery(ofMove: item, isHere: isHere, list)
            case .edit(let fields):
                let names = fields.names.joined(separator: " and ")
                deed =
                    isHere
                    ? "changed the \(names) of \(what) after you did"
                    : "deleted \(what), whose \(names) you changed"
                recovery = Self.recovery(ofEdit: item, fields, isHere: isHere, list)
            }
        }
    }

    /// What happened, with the author's name if it is known by now.
    package func text(in list: ListData) -> String { author.map { "\(list.name(of: $0)) \(deed)" } ?? deed }

    private static func recovery(ofMove item: Item, isHere: Bool, _ list: ListData) -> Recovery? {
        guard isHere else { return .insert([item.content]) }
        guard let work = list.ownWork[item.id], let behind = work.movedBehind else { return nil }
        return .move(item.id, behind: behind)
    }

    private static func recovery(
        ofEdit item: Item, _ fields: Change.Fields, isHere: Bool, _ list: ListData
    ) -> Recovery? {
        guard let work = list.ownWork[item.id] else { return isHere ? nil : .insert([item.content]) }
        let change = work.change.only(fields)
        guard isHere else { return .insert([item.content.applying(change) ?? item.content]) }
        return change.isEmpty ? nil : .change(item.id, change)
    }

    /// The edit that gets it back, made on the present list; nil if the item is gone.
    func delta(on hand: Hand, _ random: inout SplitMix64) -> Delta? {
        switch recovery {
        case nil: return nil
        case .change(let item, let change):
            guard let index = hand.index(of: item) else { return nil }
            return Delta.editing(at: index, change)
        case .move(let item, let behind):
            guard let index = hand.index(of: item) else { return nil }
            let gap = behind.flatMap { hand.index(of: $0) }.map { $0 + 1 } ?? 0
            return Delta.moving([index..<index + 1], to: gap, .after)
        case .insert(let contents):
            let items = contents.map { Item(id: .random(using: &random), content: $0) }
            return Delta.inserting(items, at: hand.count, .before)
        }
    }
}

extension Change {
    /// This change without all other fields.
    func only(_ fields: Fields) -> Change {
        Change(
            text: fields.contains(.text) ? text : nil, done: fields.contains(.done) ? done : nil,
            url: fields.contains(.url) ? url : nil, card: fields.contains(.card) ? card : nil,
            bytes: fields.contains(.bytes) ? bytes : nil)
    }
}
