import HandCore
import HandFormats
import HandSync

/// A notice that an edit was overridden or rejected: what happened, who did it, and how to get the edit back.
package struct Notice: Equatable, Sendable {
    /// The lost edit; nil if nothing was lost.
    package let loss: Loss?
    private let text: String
    package internal(set) var isSeen = false

    init(_ loss: Loss, isSeen: Bool = false) {
        (self.loss, self.isSeen) = (loss, isSeen)
        text = loss.summary
    }

    /// Returns nil if the user does not need to know about the notice.
    init?(_ notice: Replica.Notice) {
        loss = Loss(notice)
        switch notice {
        case .superseded, .rejected: text = loss?.summary ?? ""
        case .diverged(let revision):
            text = "this copy differed from the server's at revision \(revision); it was loaded again"
        case .usedTwice(let revision):
            text = "another program used this one's client id for revision \(revision); your edit is sent again"
        case .restored(let gone): text = Printable.restored(gone: gone)
        case .keptWords(_, .words(let loss, _)): text = Printable.stays(loss)
        case .acknowledged, .keptWords: return nil
        }
    }

    /// Whether there is anything to get back.
    var canRetrieve: Bool { loss?.pieces.isEmpty == false }

    /// Whether the server refused the edit.
    var isRejection: Bool { if case .refused? = loss { true } else { false } }

    /// What happened, with the author's name if it is known.
    package func text(in list: ListData) -> String {
        loss?.author.map { "\(list.name(of: $0)) \(text)" } ?? text
    }
}

extension Loss {
    /// Who overrode the edit; nil for the server.
    package var author: AuthorID? { if case .overridden(_, _, let override) = self { override.author } else { nil } }

    /// What happened to the edit. If somebody overrode the edit, the name of that person comes before this text.
    package var summary: String {
        switch self {
        case .refused(let reason, let pieces):
            let words = pieces.prefix(3).map(\.description).joined(separator: ", ")
            let more = pieces.count > 3 ? " and \(pieces.count - 3) more" : ""
            return "rejected: \(words)\(more): \(Printable.clean("\(reason)"))"
        case .overridden(let item, let loss, let override):
            let what = "'\(Printable.line(of: item.content))'"
            if override.deletesItem { return "deleted \(what), " + loss.ofDeleted }
            switch loss {
            case .move: return "moved \(what) after you did"
            case .edit(let fields): return Self.summary(fields, item.content)
            case .words(let words, let field):
                return words.summary + (field == .url ? " in the address of \(what)" : " in \(what)")
            }
        }
    }

    /// - Parameter mine: the item as the user left it.
    private static func summary(_ fields: Change.Fields, _ mine: Content) -> String {
        let text = "'\(Printable.clean(mine.text))'"
        if fields == .done, case .task(_, let done) = mine {
            return done ? "unticked \(text) after you ticked it" : "ticked \(text) after you unticked it"
        }
        return "changed the \(fields.words.joined(separator: " and the ")) of \(text) after you did"
    }
}

extension Superseded.Loss {
    /// What the user had done to a deleted item.
    fileprivate var ofDeleted: String {
        switch self {
        case .move: "which you had moved"
        case .edit(let fields) where fields.contains(.text): "whose text you had changed"
        case .edit(let fields): "whose \(fields.words.joined(separator: " and ")) you had changed"
        case .words(let loss, _): "to which you had written '\(Printable.words(loss.lost))'"
        }
    }
}

extension TextChange.Loss {
    /// What happened to the user's words.
    fileprivate var summary: String {
        let (lost, present) = (Printable.words(lost), Printable.words(present))
        if self.present.isEmpty { return "removed '\(lost)'" }
        return self.lost.isEmpty ? "put '\(present)' back" : "overwrote '\(lost)' with '\(present)'"
    }
}

extension Loss.Piece {
    /// The part in words: what the user wrote or did.
    package var description: String {
        func quoted(_ item: Item) -> String { "'\(Printable.line(of: item.content))'" }
        switch self {
        case .insert(let item, _): return "your new \(quoted(item))"
        case .edit(let change, let item): return "your change to \(quoted((try? item.applying(change)) ?? item))"
        case .move(let item, _): return "your move of \(quoted(item))"
        case .delete(let item): return "your deletion of \(quoted(item))"
        }
    }
}
