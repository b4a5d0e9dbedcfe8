import HandCore

/// What a delta does, in one line for each item that it touches, for people.
package enum DeltaText {
    /// `+` inserted, `-` deleted, `>` moved, `~` edited; numbers are those of the new list, of the old one for `-`.
    ///
    /// - Precondition: `delta` takes `old` to `new`.
    package static func lines(_ delta: Delta, from old: Hand, to new: Hand) -> [String] {
        var lines: [String] = []
        var before = 0
        var after = 0
        for component in delta.components {
            switch component {
            case .keep(let count):
                before += count
                after += count
            case .edit:
                lines.append(line("~", after, new))
                before += 1
                after += 1
            case .delete(let count):
                for index in before..<before + count { lines.append(line("-", index, old)) }
                before += count
            case .pick(let count): before += count
            case .insert(let items, _):
                for index in after..<after + items.count { lines.append(line("+", index, new)) }
                after += items.count
            case .drop(let slots, _, _):
                for index in after..<after + slots.count { lines.append(line(">", index, new)) }
                after += slots.count
            }
        }
        return lines
    }

    private static func line(_ mark: String, _ index: Int, _ list: Hand) -> String {
        "\(mark) \(index + 1)  \(Printable.line(of: list[index].content))"
    }
}
