/// Something that must never be, and was.
package struct Finding: Equatable, Sendable {
    /// Which promise was broken.
    package enum Checker: String, CaseIterable, Sendable {
        /// A machine contradicts itself.
        case invariant
        /// Two saw different commits at one revision.
        case order
        /// A submission was committed twice, or one was left out.
        case exactlyOnce = "exactly-once"
        /// Something was seen or acknowledged that is not durable, or something durable is gone.
        case durability
        /// A list is not what its commits make of it, by the plain reading of their deltas.
        case digest
        /// A commit is not the merge of what was submitted with what came before it.
        case merge
        /// The rules of a list were broken.
        case rules
        /// An item is missing that nobody deleted, is there twice, or comes from nowhere.
        case intention
        /// Words are gone, and who put them in was not told; or an undo took out somebody else's.
        case words
        /// A list's reported changes do not lead to what is shown.
        case view
        /// What a client kept does not read back.
        case journal
        /// Somebody is shown who is not there, or not shown who is.
        case presence
        /// One side says what Protocol.md does not allow, or refuses what it does.
        case `protocol`
        /// A real store answers something else than a plain one does.
        case store
        /// A message made the server do more than it may.
        case work
        /// When all faults were over, not everybody came to the same list.
        case convergence

        /// Whether the promise is kept when the store has lost commits that were acknowledged: what people put in is gone, and who has
        /// seen what is gone notices it with the next commit.
        var outlivesLoss: Bool {
            switch self {
            case .invariant, .rules, .view, .journal, .presence, .store, .convergence: true
            case .order, .exactlyOnce, .durability, .digest, .merge, .intention, .words, .protocol, .work: false
            }
        }
    }

    package let checker: Checker
    package let text: String
    /// Milliseconds of the simulated world.
    package let time: UInt64
}
