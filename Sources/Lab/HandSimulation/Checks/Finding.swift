package struct Finding: Equatable, Sendable {
    package enum Checker: String, CaseIterable, Sendable {
        /// The state of a machine is inconsistent.
        case invariant
        /// Two clients saw different commits at the same revision.
        case order
        /// A submission was committed twice or skipped.
        case exactlyOnce = "exactly-once"
        /// Something seen or acknowledged is not durable, or something durable is gone.
        case durability
        /// A list differs from what its commits produce, by the naive reading of their deltas.
        case digest
        /// A commit is not the merge of its submission with the commits before it.
        case merge
        /// A list's rules were broken.
        case rules
        /// An item is missing although nobody deleted it, occurs twice, or comes from nowhere.
        case intention
        /// Words are gone without a notice to their author; or an undo removed somebody else's words.
        case words
        /// A list's reported changes do not lead to the displayed list.
        case view
        /// A client cannot read back what its journal kept.
        case journal
        /// Somebody is shown who is not present, or somebody present is not shown.
        case presence
        /// One side sends what Protocol.md forbids, or refuses what Protocol.md allows.
        case `protocol`
        /// A real store answers differently from the simulated one.
        case store
        /// A message made the server do more work than it may.
        case work
        /// After the end of all faults, the clients did not reach the same list.
        case convergence

        /// Whether the promise still holds after the store has lost acknowledged commits: inserted items are gone then,
        /// and clients that have seen the lost commits notice the loss with the next commit.
        var outlivesLoss: Bool {
            switch self {
            case .invariant, .rules, .view, .journal, .presence, .store, .convergence: true
            case .order, .exactlyOnce, .durability, .digest, .merge, .intention, .words, .protocol, .work: false
            }
        }
    }

    package let checker: Checker
    package let text: String
    /// Simulated time in milliseconds.
    package let time: UInt64
}
