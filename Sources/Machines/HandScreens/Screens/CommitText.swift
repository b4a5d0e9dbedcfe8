import HandCore
import HandFormats

enum CommitText {
    /// Returns how many items the commit touched, and the first words that the commit itself contains.
    static func summary(_ commit: Commit) -> String {
        if commit.refusal != nil { return "an edit was refused" }
        let placed = commit.delta.placed
        let parts = [Delta.Mark.inserted, .deleted, .moved, .edited].compactMap { mark in
            let count = placed.reduce(0) { $0 + ($1.mark == mark ? max($1.old.count, $1.new.count) : 0) }
            return count > 0 ? "\(count) \(mark)" : nil
        }
        if parts.isEmpty { return "no changes left" }
        let words =
            commit.delta.insertedItems.first.map { Printable.line(of: $0.content) }
            ?? commit.delta.changes.first.map(text)
        return parts.joined(separator: ", ") + (words.map { "  \($0)" } ?? "")
    }

    private static func text(_ change: Change) -> String {
        if let splice = change.text.splices.first ?? change.url.splices.first {
            return Printable.clean(splice.inserted.isEmpty ? splice.removed : splice.inserted)
        }
        if let done = change.done { return done ? "ticked" : "unticked" }
        return change.card?.description ?? ""
    }

    /// Returns what a change of one item did: `ticked`, or the removed and the inserted words.
    static func words(_ change: Change) -> String {
        var parts = (change.text.splices + change.url.splices).map { splice in
            let (removed, inserted) = (Printable.clean(splice.removed), Printable.clean(splice.inserted))
            return (removed.isEmpty ? "" : "[-\(removed)-]") + (inserted.isEmpty ? "" : "{+\(inserted)+}")
        }
        if let done = change.done { parts.append(done ? "ticked" : "unticked") }
        if let card = change.card { parts.append("\(card)") }
        if let level = change.level { parts.append("level \(level)") }
        return parts.isEmpty ? "edited" : parts.joined(separator: ", ")
    }

    /// Returns the first item that the commit touched, and how many more items it touched.
    ///
    /// - Precondition: the commit takes `old` to `new`.
    static func summary(_ commit: Commit, from old: Hand, to new: Hand) -> String {
        var (first, count): (String?, Int) = (nil, 0)
        for step in commit.delta.placed {
            guard let mark = step.mark else { continue }
            let (places, list) = mark == .deleted ? (step.old, old) : (step.new, new)
            count += places.count
            if first == nil, let place = places.first { first = text(list[place].content, mark) }
        }
        guard let first else { return summary(commit) }
        return count > 1 ? "\(Wrapping.lines(first, width: 60, limit: 1)[0])  and \(count - 1) more" : first
    }

    private static func text(_ content: Content, _ mark: Delta.Mark) -> String {
        // An edited item is shown without a sign, but with its box.
        if mark == .edited { return Printable.line(of: content) }
        if case .task(let text, _) = content { return "\(mark.rawValue) \(Printable.clean(text))" }
        return "\(mark.rawValue) \(Printable.line(of: content))"
    }
}
