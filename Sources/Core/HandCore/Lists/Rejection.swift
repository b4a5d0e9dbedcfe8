/// Why the server refused a submission. Nothing of the submission was applied; the connection stays open, and the
/// client's other pending submissions stay pending.
public enum Rejection: Error, Equatable, Sendable {
    /// The list's rules do not allow the edit.
    case violation(Rules.Violation)
    /// An item with that id is already in the list.
    case duplicateItem(ItemID)
    /// The delta reaches beyond the list, or changes fields or words that an item does not have.
    case doesNotFit(reach: Int, count: Int)
    /// The submission required the list to be at exactly its base, and the list has newer commits.
    case revisionMoved(now: Int)
    /// The server could not store the edit; the list is as it was before.
    case notStored
    /// The client has too many submissions waiting.
    case tooManyPending(limit: Int)
    /// The person is not allowed to make such edits to this list.
    case notAllowed
    /// The server's store, or the list, has reached its size limit, in bytes.
    case storeFull(limit: Int)
    /// The history shows that the submission was refused, but no longer why.
    case reasonForgotten
}

extension Rejection: CustomStringConvertible {
    /// What happened and what to do, in words for people.
    public var description: String {
        switch self {
        case .violation(.listFull(let maximum)):
            "the list is full: it may hold \(maximum) item\(maximum == 1 ? "" : "s"). Delete one first."
        case .violation(.kindNotAllowed(let kind)): "this list does not take items of kind \(kind.name)."
        case .violation(.itemTooLarge(let size, let maximum)):
            "the item has \(size) bytes; this list takes at most \(maximum). Shorten it or split it."
        case .violation(.levelTooHigh(let level, let maximum)):
            maximum == 0
                ? "the items of this list have no levels."
                : "the items of this list have at most level \(maximum); this one would have level \(level)."
        case .violation(.deckEmpty): "the deck is empty: all 52 cards are out. Delete a card first."
        case .violation(.cardNotInDeck(let card)): "\(card) is not in the deck: somebody holds it. Deal a card instead."
        case .violation(.cardsAreDealt): "cards of this list come from its deck; nobody can choose their faces."
        case .duplicateItem(let id): "an item with the id \(id) is in the list already."
        case .doesNotFit(let reach, let count) where reach <= count:
            "the edit changes a field or words that an item does not have."
        case .doesNotFit(let reach, let count):
            "the edit does not fit the list: it reaches to item \(reach), the list has \(count)."
        case .revisionMoved(let now):
            "the list is at revision \(now), not at the one that you expect. Look at it again and repeat the edit."
        case .notStored: "the server could not write the edit to its disk. Nothing was changed; try again later."
        case .notAllowed:
            "your role on this list does not allow it: adding needs append, other edits need write. "
                + "Ask whoever runs the server."
        case .storeFull(let limit):
            "there is no room: at most \(limit) bytes are kept. The server's operator can raise that, or forget older history."
        case .reasonForgotten:
            "the server refused the edit; why is no longer known. Look at the list and repeat the edit."
        case .tooManyPending(let limit): "more than \(limit) edits were waiting to be written. Send fewer at a time."
        }
    }
}

extension Content.Kind {
    /// The name of a kind for people and in JSON, or the number of a kind that this program does not know.
    public var name: String {
        switch self {
        case .card: "card"
        case .note: "note"
        case .task: "task"
        case .link: "link"
        case .heading: "heading"
        default: String(rawValue)
        }
    }

    /// Creates the kind with that name or number.
    public init?(name: String) {
        if let known = Self.known.first(where: { $0.name == name }) {
            self = known
        } else if let number = UInt32(name), number > 0 {
            self = Content.Kind(rawValue: number)
        } else {
            return nil
        }
    }
}
