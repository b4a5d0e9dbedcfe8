import HandCore

/// What a delta does, in one line for each item that it touches, for people.
package enum DeltaText {
    /// `+` inserted, `-` deleted, `>` moved, `~` edited; numbers are those of the new list, of the old one for `-`.
    ///
    /// - Precondition: `delta` takes `old` to `new`.
    package static func lines(_ delta: Delta, from old: Hand, to new: Hand) -> [String] {
        delta.placed.flatMap { step -> [String] in
            guard let mark = step.mark else { return [] }
            let (places, list) = mark == .deleted ? (step.old, old) : (step.new, new)
            return places.map { "\(mark.rawValue) \($0 + 1)  \(Printable.line(of: list[$0].content))" }
        }
    }
}
