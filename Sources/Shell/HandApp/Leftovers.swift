import HandFormats
import HandScreens

/// What the screens leave behind, for the user to know after the end.
struct Leftovers {
    /// Why edits and typed texts are lost.
    private(set) var losses: [String] = []
    /// Where typed texts are kept, and how many edits wait.
    private(set) var notes: [String] = []

    /// Writes the texts that are being typed to disk.
    ///
    /// - Parameter folder: nil if this client keeps nothing on disk.
    mutating func keep(_ drafts: [KeptDraft], in folder: DraftFolder?) {
        for draft in drafts {
            let place = "'\(Printable.clean(draft.list))'"
            do {
                guard let folder else { throw DraftFolder.Missing() }
                try folder.keep(draft)
                notes = ["what you were typing is kept; it is offered again when you open \(place)"]
            } catch {
                add(loss: "what you were typing in \(place) is lost (\(error)): \(Printable.clean(draft.text))")
            }
        }
    }

    mutating func add(loss: String?) { losses += loss.map { [$0] } ?? [] }

    /// Adds that edits were not sent, so that nobody leaves in the belief that others have them.
    mutating func add(waitingEdits waiting: Int) {
        guard waiting > 0, losses.isEmpty else { return }
        let (wait, them) = waiting == 1 ? ("waits", "it") : ("wait", "them")
        notes.append("\(Amount.count(waiting, "edit")) of yours \(wait) to be sent; 'hand sync' sends \(them)")
    }
}
