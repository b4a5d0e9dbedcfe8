import HandCore

/// A delta as text for people: one line for each item that the delta touches.
package enum DeltaText {
    /// Returns lines with `+` for inserted, `-` for deleted, `>` for moved and `~` for edited items. Numbers refer to
    /// the new list, or to the old list for `-`. An edited text is shown with its changes marked.
    ///
    /// - Precondition: `delta` takes `old` to `new`.
    package static func lines(
        _ delta: Delta, from old: Hand, to new: Hand, _ marks: ChangeMarks = .plain
    ) -> [Printable] {
        delta.placed.flatMap { step -> [Printable] in
            guard let mark = step.mark else { return [] }
            if mark == .edited {
                return zip(step.old, step.new).map { former, place in
                    let line = Printable.line(of: new[place].content, from: old[former].content, marks)
                    let (level, before) = (new[place].level, old[former].level)
                    let shift: Printable =
                        level == before ? "" : " (level \(marks.text(from: "\(before)", to: "\(level)")))"
                    return "\(mark.rawValue) \(place + 1)  \(line)\(shift)"
                }
            }
            let (places, list) = mark == .deleted ? (step.old, old) : (step.new, new)
            return places.map { "\(mark.rawValue) \($0 + 1)  \(Printable.line(of: list[$0].content))" }
        }
    }
}
