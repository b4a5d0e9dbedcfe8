/// A queue. It does not retain removed elements.
struct Queue<Element> {
    private var added: [Element] = []
    /// The older elements, with the oldest last.
    private var reversed: [Element] = []

    var isEmpty: Bool { added.isEmpty && reversed.isEmpty }

    mutating func append(_ element: Element) { added.append(element) }

    /// Removes and returns the oldest element.
    mutating func next() -> Element? {
        if reversed.isEmpty, added.count == 1 { return added.removeLast() }
        return next { _ in true }
    }

    /// Removes and returns the oldest element, if it is `ready`.
    mutating func next(if ready: (Element) -> Bool) -> Element? {
        if reversed.isEmpty, !added.isEmpty {
            reversed = added.reversed()
            added.removeAll(keepingCapacity: true)
        }
        guard let oldest = reversed.last, ready(oldest) else { return nil }
        return reversed.removeLast()
    }
}

extension Queue: Sendable where Element: Sendable {}
