/// A list whose edits return a new list. Code in the layers above need not know that the list is a `Hand`.
public protocol EditableList {
    var count: Int { get }

    /// - Precondition: `0 ≤ index < count`.
    subscript(index: Int) -> Item { get }

    /// Returns the list after `delta`.
    ///
    /// - Throws: `Delta.Misfit` if the delta was made for another list; the list stays as it is.
    func applying(_ delta: Delta) throws(Delta.Misfit) -> Self
}

extension Hand: EditableList {}
