/// Effects that wait to be pulled, first in, first out. What was pulled is not held any longer.
struct EffectQueue<Effect: Sendable>: Sendable {
    private var added: [Effect] = []
    /// The oldest last.
    private var reversed: [Effect] = []

    mutating func append(_ effect: Effect) { added.append(effect) }

    mutating func next() -> Effect? {
        if reversed.isEmpty {
            reversed = added.reversed()
            added.removeAll(keepingCapacity: true)
        }
        return reversed.popLast()
    }
}
