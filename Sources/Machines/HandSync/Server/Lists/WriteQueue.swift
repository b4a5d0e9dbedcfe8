import HandCore

/// The writes that go to the store next, in turn. The commits that were numbered during the last write go into one
/// transaction.
struct WriteQueue {
    /// Lists that became due. Lists that are in another phase by now are skipped; they are added again.
    private var due: [ListMachine] = []
    /// Other writes, which must not run beside a transaction on the same lists.
    private var jobs: [StoreTask] = []
    private var isWriting = false
    /// Whether the last write was a job. Then the next write is a batch of commits, if there is a batch.
    private var wasJob = false
    /// The lists of the batches that are being written, in their order.
    private var writing: [ListMachine] = []
    /// The lists of the batches whose outcomes are being handled, in their order; a reused buffer.
    private(set) var written: [ListMachine] = []
    /// Lists with a batch whose outcome the store could not tell. They are handed over again at `retryAt`.
    private var unsettled: [ListMachine] = []
    private var retryAt: UInt64?

    /// What is written next.
    enum Write {
        indirect case job(StoreTask)
        case batches([CommitBatch])
    }

    var isIdle: Bool { isUnsettledOnly && unsettled.isEmpty }

    /// Whether nothing is being written, and nothing waits except batches with an unknown outcome.
    var isUnsettledOnly: Bool { !isWriting && due.isEmpty && jobs.isEmpty }

    /// When batches are to be appended again. While a write is under way, they are appended after the end of that
    /// write.
    var deadline: UInt64 { isWriting ? .max : retryAt ?? .max }

    /// Adds a list that has become due.
    mutating func add(_ hosted: ListMachine) { due.append(hosted) }

    mutating func add(_ job: StoreTask) { jobs.append(job) }

    /// Forgets a list that is gone.
    mutating func remove(_ hosted: ListMachine) {
        due.removeAll { $0 === hosted }
        unsettled.removeAll { $0 === hosted }
        if unsettled.isEmpty { retryAt = nil }
    }

    /// Begins the next write. Returns nil while a write is under way, or if nothing waits.
    mutating func next(now: UInt64) -> Write? {
        if isWriting { return nil }
        let hasBatches = !due.isEmpty || retryAt.map { now >= $0 } == true
        if !jobs.isEmpty, !hasBatches || !wasJob {
            (isWriting, wasJob) = (true, true)
            return .job(jobs.removeFirst())
        }
        guard hasBatches else { return nil }
        wasJob = false
        let batches = takeBatches(now: now)
        if batches.isEmpty { return nil }
        isWriting = true
        return .batches(batches)
    }

    /// Takes the commits of the lists that are due, and the batches that are to be appended again by now.
    private mutating func takeBatches(now: UInt64) -> [CommitBatch] {
        var batches: [CommitBatch] = []
        for hosted in due {
            guard let batch = hosted.handOver() else { continue }
            writing.append(hosted)
            batches.append(batch)
        }
        due.clear()
        if let time = retryAt, now >= time {
            for hosted in unsettled {
                guard let batch = hosted.handOverAgain() else { continue }
                writing.append(hosted)
                batches.append(batch)
            }
            (unsettled, retryAt) = ([], nil)
        }
        return batches
    }

    mutating func endJob() { isWriting = false }

    /// The store has answered about the batches. Their lists are in `written` until `forgetWritten` is called.
    mutating func endBatches() {
        isWriting = false
        swap(&writing, &written)
    }

    mutating func forgetWritten() { written.clear() }

    /// Adds a list whose last batch has an outcome that the store could not tell.
    mutating func retry(_ hosted: ListMachine, at time: UInt64) {
        unsettled.append(hosted)
        retryAt = time
    }
}

/// Appends commits. Everything that waits is appended at once.
package struct AppendBatches: Sendable {
    package let batches: [CommitBatch]
    package let newcomers: [Newcomer]

    func run(on store: any CommitStore) throws -> [Appended] { try store.append(batches, by: newcomers) }
}
