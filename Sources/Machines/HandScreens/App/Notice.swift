import HandCore
import HandFormats
import HandSync

/// A notice that an edit was overridden or rejected: what happened, who did it, and how to get the edit back.
package struct Notice: Equatable, Sendable {
    /// The author who did it; nil for the server and this client. The author's name may become known later.
    private let author: UInt64?
    /// What the author did; it follows the author's name in a sentence.
    private let deed: String
    package let recovery: Recovery?
    package internal(set) var isSeen = false

    /// How to make the lost edit again.
    package enum Recovery: Equatable, Sendable {
        /// Set these fields of the item to their values in the content.
        case fields(ItemID, Change.Fields, Content)
        /// Put words back into the item. The change is based on the item's content at that time.
        case words(ItemID, Change, in: Content)
        /// Move the item behind another item again; nil for the top.
        case move(ItemID, behind: ItemID?)
        /// Insert these contents again, as new items.
        case insert([Content])
    }

    /// Returns nil if the user does not need to know about it.
    init?(_ notice: Replica.Notice, of list: ListData) {
        switch notice {
        case .acknowledged: return nil
        case .diverged(let revision):
            author = nil
            deed = "this copy differed from the server's at revision \(revision); it was loaded again"
            recovery = nil
        case .usedTwice(let revision):
            author = nil
            deed = "another program used this one's client id for revision \(revision); your edit is sent again"
            recovery = nil
        case .spared(_, .words(let loss, _)):
            author = nil
            deed = Printable.stays(loss)
            recovery = nil
        case .spared: return nil
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
            case .words(let loss, let field):
                deed = Self.deed(loss) + (field == .url ? " in the address of \(what)" : "")
                let change = field == .url ? Change(url: loss.recovery) : Change(text: loss.recovery)
                recovery = .words(item.id, change, in: item.content)
            case .edit(let fields):
                let names = fields.names.joined(separator: " and ")
                if fields == .done, case .task(let text, let done) = item.content {
                    let name = "'\(Printable.clean(text))'"
                    let (theirs, mine) = done ? ("ticked", "unticked") : ("unticked", "ticked")
                    deed = isHere ? "\(theirs) \(name) after you \(mine) it" : "deleted \(name), which you ticked"
                } else {
                    deed =
                        isHere
                        ? "changed the \(names) of \(what) after you did"
                        : "deleted \(what), whose \(names) you changed"
                }
                recovery = Self.recovery(ofEdit: item, fields, isHere: isHere, list)
            }
        }
    }

    /// What happened, with the author's name if it is known.
    package func text(in list: ListData) -> String { author.map { "\(list.name(of: $0)) \(deed)" } ?? deed }

    private static func recovery(ofMove item: Item, isHere: Bool, _ list: ListData) -> Recovery? {
        guard isHere else { return .insert([item.content]) }
        guard let work = list.ownWork[item.id], let behind = work.movedBehind else { return nil }
        return .move(item.id, behind: behind)
    }

    private static func recovery(
        ofEdit item: Item, _ fields: Change.Fields, isHere: Bool, _ list: ListData
    ) -> Recovery? {
        let content = list.ownWork[item.id]?.content
        guard isHere else { return .insert([content ?? item.content]) }
        return content.map { .fields(item.id, fields, $0) }
    }

    /// What happened to the user's words.
    private static func deed(_ loss: TextChange.Loss) -> String {
        let (lost, present) = (Printable.words(loss.lost), Printable.words(loss.present))
        if loss.present.isEmpty { return "removed '\(lost)'" }
        return loss.lost.isEmpty ? "put '\(present)' back" : "overwrote '\(lost)' with '\(present)'"
    }

    /// The edit that gets the lost edit back, based on the current list; nil if the item is gone.
    func delta(on hand: Hand, _ random: inout SplitMix64) -> Delta? {
        switch recovery {
        case nil: return nil
        case .fields(let item, let fields, let former):
            guard let index = hand.index(of: item), let change = Change(from: hand[index].content, to: former) else {
                return nil
            }
            return Delta.editing(at: index, change.only(fields))
        case .words(let item, let change, let then):
            guard let index = hand.index(of: item), let since = Change(from: then, to: hand[index].content) else {
                return nil
            }
            return Delta.editing(at: index, change.transformed(over: since, as: .later))
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
    fileprivate func only(_ fields: Fields) -> Change {
        Change(
            text: fields.contains(.text) ? text : TextChange(), done: fields.contains(.done) ? done : nil,
            url: fields.contains(.url) ? url : TextChange(), card: fields.contains(.card) ? card : nil,
            bytes: fields.contains(.bytes) ? bytes : nil)
    }
}
