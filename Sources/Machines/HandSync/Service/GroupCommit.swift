import HandCore

/// The writes that go to the store next. The commits that were numbered during the last write go into one transaction.
struct GroupCommit {
    /// Lists with numbered commits that were not handed over to the store. Those that are not `due` are skipped.
    private(set) var dirty: [HostedList] = []
    /// Other writes, which must not run beside a transaction on the same lists.
    var jobs: [WriteJob] = []
    var isWriting = false
    /// The lists of the batches that are being written, in their order.
    private var writing: [HostedList] = []
    /// The same of those that have been written, while the answer is handled. Kept so that its memory is used again.
    var written: [HostedList] = []
    /// Batches whose outcome the store could not tell. They are appended again at `retryAt`; until then, no other
    /// commits of their lists are handed over.
    var unsettled: [(hosted: HostedList, batch: CommitBatch)] = []
    var retryAt: UInt64?
    /// The number of commits that were numbered in this turn.
    var numbered = 0
    /// Whether the last write was a job. Then the next one is a batch of commits, if there is one.
    var wasJob = false

    var isIdle: Bool { !isWriting && dirty.isEmpty && jobs.isEmpty && unsettled.isEmpty }

    /// When batches are to be appended again. While a write is under way, its end leads to that.
    var deadline: UInt64 { isWriting ? .max : retryAt ?? .max }

    /// Adds a list whose commits are to be written.
    mutating func add(_ hosted: HostedList) {
        guard hosted.handover == .idle else { return }
        hosted.handover = .due
        dirty.append(hosted)
    }

    /// Removes a list that has no commits to write any more.
    mutating func remove(_ hosted: HostedList) {
        hosted.handover = .idle
        dirty.removeAll { $0 === hosted }
        unsettled.removeAll { $0.hosted === hosted }
        if unsettled.isEmpty { retryAt = nil }
    }

    /// Takes the commits of dirty lists, and the batches that are to be appended again by now.
    mutating func takeBatches(now: UInt64) -> [CommitBatch] {
        var batches: [CommitBatch] = []
        // A list that has become unsettled is added again when it is settled, and may then be here twice.
        for hosted in dirty where hosted.handover == .due {
            hosted.handover = .idle
            guard hosted.authority.isBusy else { continue }
            writing.append(hosted)
            batches.append(hosted.authority.takeBatch())
        }
        dirty.clear()
        if let time = retryAt, now >= time {
            for (hosted, batch) in unsettled {
                hosted.handover = .idle
                writing.append(hosted)
                batches.append(batch)
            }
            (unsettled, retryAt) = ([], nil)
        }
        return batches
    }

    /// The store has answered about the batches.
    mutating func endWriting() {
        isWriting = false
        swap(&writing, &written)
    }

    /// Keeps a batch whose outcome the store could not tell.
    mutating func keep(_ batch: CommitBatch, of hosted: HostedList, until time: UInt64) {
        hosted.handover = .unsettled
        unsettled.append((hosted, batch))
        retryAt = time
    }
}

/// Appends commits. Everything that waits is appended at once.
package struct AppendBatches: Sendable {
    package let batches: [CommitBatch]
    package let newcomers: [Newcomer]

    func run(on store: any CommitStore) throws -> [Appended] { try store.append(batches, by: newcomers) }
}
