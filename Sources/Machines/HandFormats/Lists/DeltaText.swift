import HandCore

/// A delta as text for people: one line for each item that the delta touches.
package enum DeltaText {
    /// Returns lines with `+` for inserted, `-` for deleted, `>` for moved and `~` for edited items. Numbers refer to
    /// the new list, or to the old list for `-`. An edited text is shown with its changes marked, even if it moved.
    ///
    /// - Precondition: `delta` takes `old` to `new`.
    package static func lines(
        _ delta: Delta, from old: Hand, to new: Hand, _ marks: ChangeMarks = .plain
    ) -> [Printable] {
        let steps = delta.placed
        var former: [ItemID: Item] = [:]
        for step in steps {
            if case .pick = step.component { for place in step.old { former[old[place].id] = old[place] } }
        }
        return steps.flatMap { step -> [Printable] in
            guard let mark = step.mark else { return [] }
            if mark == .edited {
                return zip(step.old, step.new).map { line(.edited, $1 + 1, new[$1], from: old[$0], marks) }
            }
            let (places, list) = mark == .deleted ? (step.old, old) : (step.new, new)
            return places.map { line(mark, $0 + 1, list[$0], from: former[list[$0].id], marks) }
        }
    }

    /// Returns the line of one item.
    ///
    /// - Parameter former: the item before the edit; nil if the line does not show what the edit changed.
    package static func line(
        _ mark: Delta.Mark, _ number: Int, _ item: Item, from former: Item? = nil, _ marks: ChangeMarks = .plain
    ) -> Printable {
        let start: Printable = "\(mark.rawValue) \(number)  "
        guard let former else { return start + "\(Printable.line(of: item.content))" }
        let text = Printable.line(of: item.content, from: former.content, marks)
        let (level, before) = (item.level, former.level)
        return start + text
            + (level == before ? "" : " (level \(marks.text(from: "\(before)", to: "\(level)")))")
    }
}
