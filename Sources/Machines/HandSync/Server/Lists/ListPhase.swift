/// Where a list in memory stands with the store. The transitions, which a test compares with the code:
///
///     | what happens            | ready    | due      | writing   | unsettled | behind   | adopting | editing | gone |
///     | a commit is numbered    | due      | due      | writing   | unsettled | behind   | adopting | editing | gone |
///     | a batch is handed over  | ready    | writing  | writing   | unsettled | behind   | adopting | editing | gone |
///     | written, nothing waits  | ready    | due      | ready     | unsettled | behind   | adopting | editing | gone |
///     | written, commits wait   | ready    | due      | due       | unsettled | behind   | adopting | editing | gone |
///     | the store cannot tell   | ready    | due      | unsettled | unsettled | behind   | adopting | editing | gone |
///     | it is handed over again | ready    | due      | writing   | writing   | behind   | adopting | editing | gone |
///     | others' commits win     | ready    | due      | behind    | unsettled | behind   | adopting | editing | gone |
///     | current, nothing waits  | ready    | due      | writing   | unsettled | ready    | adopting | editing | gone |
///     | current, commits wait   | ready    | due      | writing   | unsettled | due      | adopting | editing | gone |
///     | others' commits arrive  | adopting | adopting | writing   | unsettled | adopting | adopting | editing | gone |
///     | adopted, nothing waits  | ready    | due      | writing   | unsettled | behind   | ready    | editing | gone |
///     | adopted, commits wait   | ready    | due      | writing   | unsettled | behind   | due      | editing | gone |
///     | a large edit begins     | editing  | due      | writing   | unsettled | behind   | adopting | editing | gone |
///     | the large edit is made  | ready    | due      | writing   | unsettled | behind   | adopting | ready   | gone |
///     | the list is evicted     | gone     | gone     | gone      | gone      | gone     | gone     | gone    | gone |
package enum ListPhase: Sendable {
    /// No commit waits for the store.
    case ready
    /// Commits are handed over to the store next. The list is in `WriteQueue.due`.
    case due
    /// A batch is being written. More commits may be numbered meanwhile.
    case writing
    /// It is unknown whether the store has this batch. The batch is handed over again, and nothing else.
    case unsettled(CommitBatch)
    /// Others' commits came before a batch, and the store is asked how far the list is there.
    case behind
    /// Others' commits are being adopted, as soon as it is known which clients made them.
    case adopting
    /// A large edit is being made on a copy, on another thread. Nothing else changes the list meanwhile.
    case editing
    /// The list was evicted. A list that is loaded again is another object.
    case gone

    package mutating func numbered() { if case .ready = self { self = .due } }

    package mutating func handedOver() { if case .due = self { self = .writing } }

    /// - Parameter hasMore: whether commits were numbered since the batch was handed over.
    package mutating func written(hasMore: Bool) { if case .writing = self { self = hasMore ? .due : .ready } }

    package mutating func unknown(_ batch: CommitBatch) { if case .writing = self { self = .unsettled(batch) } }

    /// Returns the batch that is handed over again; nil if there is no batch with an unknown outcome.
    package mutating func handedOverAgain() -> CommitBatch? {
        guard case .unsettled(let batch) = self else { return nil }
        self = .writing
        return batch
    }

    package mutating func conflicted() { if case .writing = self { self = .behind } }

    package mutating func upToDate(hasMore: Bool) { if case .behind = self { self = hasMore ? .due : .ready } }

    /// Whether others' commits can be adopted now. A batch that is under way brings them, or finds that they came
    /// first.
    package var mayAdopt: Bool {
        switch self {
        case .ready, .due, .behind: true
        case .writing, .unsettled, .adopting, .editing, .gone: false
        }
    }

    package mutating func adopt() { if mayAdopt { self = .adopting } }

    package mutating func adopted(hasMore: Bool) { if case .adopting = self { self = hasMore ? .due : .ready } }

    package mutating func beginEdit() { if case .ready = self { self = .editing } }

    package mutating func endEdit() { if case .editing = self { self = .ready } }

    package mutating func evicted() { self = .gone }

    package var isReady: Bool { if case .ready = self { true } else { false } }
    package var isDue: Bool { if case .due = self { true } else { false } }
    package var isEditing: Bool { if case .editing = self { true } else { false } }
    package var isGone: Bool { if case .gone = self { true } else { false } }
}
