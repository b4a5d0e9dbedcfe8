/// A list whose edits return a new list. Nothing above it need know that it is a `Hand`.
public protocol EditableList {
    var count: Int { get }

    /// - Precondition: `0 ≤ index < count`.
    subscript(index: Int) -> Item { get }

    /// The list after `delta`.
    ///
    /// - Throws: `Delta.Misfit` if the delta was made for another list; the list stays as it is.
    func applying(_ delta: Delta) throws(Delta.Misfit) -> Self
}

extension EditableList {
    /// The list with `item` at `index`, what stood there and behind it one further.
    ///
    /// - Precondition: `0 ≤ index ≤ count`.
    public func inserting(_ item: Item, at index: Int) -> Self {
        performing(.insert([item], at: index, .after))
    }

    /// The list without the item at `index`.
    public func deleting(at index: Int) -> Self {
        performing(.delete(index..<index + 1))
    }

    /// The list with the item at `index` taken out and put back so that it stands at `destination`.
    public func moving(from index: Int, to destination: Int) -> Self {
        performing(.move(index..<index + 1, to: destination > index ? destination + 1 : destination, .after))
    }

    /// The list after an operation that the caller knows to fit.
    ///
    /// - Precondition: the operation's positions lie in the list and its change suits the item.
    public func performing(_ operation: Operation) -> Self {
        do {
            return try applying(operation.delta)
        } catch {
            preconditionFailure("\(operation) does not fit a list of \(count): \(error)")
        }
    }
}

extension Hand: EditableList {}
