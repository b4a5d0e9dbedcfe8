import HandFormats
import HandScreens

/// What the screens leave behind: typed texts, edits that wait, edits that are lost. The user is told after the end.
struct Leftovers {
    /// The reason why edits are lost, or nil if no edits are lost.
    private(set) var loss: String?
    /// What else the user should know: where typed text is kept, and how many edits wait; nil if there is neither.
    private(set) var note: String?

    /// Writes the texts that are being typed to disk.
    ///
    /// - Parameter folder: nil if this client keeps nothing on disk.
    mutating func keep(_ drafts: [KeptDraft], in folder: DraftFolder?) {
        for draft in drafts {
            let place = "'\(Printable.clean(draft.list))'"
            do {
                guard let folder else { throw Unkept() }
                try folder.keep(draft)
                note = "what you were typing is kept; it is offered again when you open \(place)"
            } catch {
                loss = "what you were typing in \(place) is lost (\(error)): \(Printable.clean(draft.text))"
            }
        }
    }

    private struct Unkept: Error, CustomStringConvertible {
        let description = "this client keeps nothing on disk"
    }

    /// Adds that edits were not sent, so that nobody leaves in the belief that others have them.
    mutating func add(waitingEdits waiting: Int) {
        guard waiting > 0, loss == nil else { return }
        let (wait, them) = waiting == 1 ? ("waits", "it") : ("wait", "them")
        let edits = "\(Amount.count(waiting, "edit")) of yours \(wait) to be sent; 'hand sync' sends \(them)"
        note = [note, edits].compactMap(\.self).joined(separator: "\n")
    }

    mutating func add(loss more: String?) {
        loss = [loss, more].compactMap(\.self).joined(separator: "\n")
        if loss?.isEmpty == true { loss = nil }
    }
}
