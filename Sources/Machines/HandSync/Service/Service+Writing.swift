import HandCore
import HandWire

/// What goes to the store next: everything that came while the last write was under way goes into one transaction.
struct GroupCommit {
    /// Lists with commits that are numbered and not handed over, each once.
    private(set) var dirty: [HostedList] = []
    /// Other writes, which must not run beside a transaction on the same lists.
    var jobs: [() -> Void] = []
    var isWriting = false
    /// What is being written.
    var writing: [(hosted: HostedList, batch: CommitBatch)] = []
    /// Batches of which the store could not say whether it has them, to be appended once more at `retryAt`. No more of their lists
    /// is handed over before that is known.
    var unsettled: [(hosted: HostedList, batch: CommitBatch)] = []
    var retryAt: UInt64?
    /// Commits that were numbered in this turn.
    var numbered = 0
    /// Whether the last write was a job: then it is the commits' turn.
    var wasJob = false

    var isIdle: Bool { !isWriting && dirty.isEmpty && jobs.isEmpty && unsettled.isEmpty }

    /// When there is something to do that nothing else leads to: the end of a write does.
    var deadline: UInt64 { isWriting ? .max : retryAt ?? .max }

    /// A list has commits that are to be written.
    mutating func add(_ hosted: HostedList) {
        if hosted.isDirty || hosted.isUnsettled { return }
        hosted.isDirty = true
        dirty.append(hosted)
    }

    /// It has none any more.
    mutating func remove(_ hosted: HostedList) {
        (hosted.isDirty, hosted.isUnsettled) = (false, false)
        dirty.removeAll { $0 === hosted }
        unsettled.removeAll { $0.hosted === hosted }
        if unsettled.isEmpty { retryAt = nil }
    }

    /// What is to be written now: what was numbered, and batches that are due once more.
    mutating func takeBatches(now: UInt64) -> [CommitBatch] {
        for hosted in dirty {
            hosted.isDirty = false
            // Behind others' commits it is added again.
            guard !hosted.isUnsettled, hosted.authority.isBusy else { continue }
            writing.append((hosted, hosted.authority.takeBatch()))
        }
        dirty = []
        if let time = retryAt, now >= time {
            for (hosted, _) in unsettled { hosted.isUnsettled = false }
            writing += unsettled
            (unsettled, retryAt) = ([], nil)
        }
        return writing.map(\.batch)
    }

    /// The store could not say whether it has a batch.
    mutating func keep(_ batch: CommitBatch, of hosted: HostedList, until time: UInt64) {
        hosted.isUnsettled = true
        unsettled.append((hosted, batch))
        retryAt = time
    }
}

extension Service {
    /// Has the store asked.
    func ask<Value: Sendable>(
        _ body: @escaping @Sendable (any CommitStore) throws -> Value,
        then: @escaping (Result<Value, StoreError>) -> Void
    ) {
        world.ask(body, then: unlessFinal(then))
    }

    private func write<Value: Sendable>(
        _ body: @escaping @Sendable (any CommitStore) throws -> Value,
        then: @escaping (Result<Value, StoreError>) -> Void
    ) {
        world.write(body, then: unlessFinal(then))
    }

    private func unlessFinal<Value>(
        _ then: @escaping (Result<Value, StoreError>) -> Void
    ) -> (Result<Value, StoreError>) -> Void {
        { [unowned self] result in
            if case .failure(let error) = result, endsWith(error) { return }
            then(result)
        }
    }

    /// Hands over what there is, unless a write is under way.
    func writeBatch() {
        if writer.numbered > 0 {
            world.note(.numbered(commits: writer.numbered))
            writer.numbered = 0
        }
        guard !writer.isWriting else { return }
        if !writer.jobs.isEmpty, writer.dirty.isEmpty || !writer.wasJob {
            writer.isWriting = true
            writer.wasJob = true
            let job = writer.jobs.removeFirst()
            return job()
        }
        let isDue = writer.retryAt.map { world.now >= $0 } ?? false
        guard !writer.dirty.isEmpty || isDue else { return }
        writer.wasJob = false
        let batches = writer.takeBatches(now: world.now)
        if batches.isEmpty { return }
        writer.isWriting = true
        world.note(.writing)
        world.append(batches, by: newcomers.authors(of: batches), then: whenAppended)
    }

    /// What was handed over is durable, or lost.
    func appended(_ result: Result<[Appended], StoreError>) {
        let written = writer.writing
        writer.writing = []
        writer.isWriting = false
        switch result {
        case .success(let outcomes):
            figures.writes += 1
            storeSize.isStale = true
            world.note(.written)
            var spent: [Authority.Spent] = []
            for ((hosted, batch), outcome) in zip(written, outcomes) where isLoaded(hosted) {
                switch outcome {
                case .taken: if let large = wrote(batch, in: hosted) { spent.append(large) }
                case .missed(let frames): missed(frames, in: hosted)
                case .unknown: unsettled(batch, of: hosted)
                case .gone: vanished(hosted)
                }
            }
            if !spent.isEmpty { discard((spent, written.map(\.batch))) }
        case .failure(let error):
            if endsWith(error) { return }
            guard world.isShared else { return failed(error, written.map(\.hosted)) }
            // Whether an earlier attempt at these batches came through is not known by that.
            world.note(.storeFailed(error))
            for (hosted, batch) in written where isLoaded(hosted) { unsettled(batch, of: hosted) }
        }
    }

    /// Whether it was not let go of meanwhile: then its list may be loaded anew.
    private func isLoaded(_ hosted: HostedList) -> Bool { hostedLists[hosted.list.number] === hosted }

    /// If the disk did not confirm a flush, what it holds is unknown to everybody, so the process ends and starts again from the
    /// disk, whatever was being written; likewise if its files are no longer there.
    private func endsWith(_ error: StoreError) -> Bool {
        guard error.isFinal else { return false }
        world.note(.writeFailed(error))
        world.end(error)
        return true
    }

    /// Runs a write of another sort when none is under way; `body` runs on the thread pool.
    func writeAlone<Value: Sendable>(
        _ body: @escaping @Sendable (any CommitStore) throws -> Value,
        then: @escaping (Result<Value, StoreError>) -> Void
    ) {
        writer.jobs.append { [unowned self] in
            write(body) { [unowned self] result in
                writer.isWriting = false
                then(result)
            }
        }
    }

    /// Returns what is no longer needed, if letting go of it takes long.
    private func wrote(_ batch: CommitBatch, in hosted: HostedList) -> Authority.Spent? {
        let spent = hosted.authority.wrote()
        figures.commits += batch.entries.count
        if hosted.authority.isBusy { writer.add(hosted) }
        for entry in batch.entries {
            authors[entry.mark.author]?.submissionEnded()
            newcomers.forget(entry.mark.author)
        }
        for connection in hosted.subscribers { mark(connection) }
        hosted.written()
        if hosted.wantsSnapshot(limits) { saveSnapshot(of: hosted) }
        if !retention.keepsEverything, hosted.wantsTrim(limits) { trim(hosted) }
        return spent
    }

    /// Nothing of a failed write is acknowledged.
    private func failed(_ error: StoreError, _ written: [HostedList]) {
        world.note(.writeFailed(error))
        figures.failedWrites += 1
        for hosted in written {
            for (author, sequence) in loseCommits(of: hosted) {
                guard let connection = authors[author] else { continue }
                reject(.notStored, list: hosted.list.number, sequence, to: connection)
            }
            hosted.written()
        }
    }

    /// Nothing of what was numbered and is not durable is made. Returns whose submissions that were.
    func loseCommits(of hosted: HostedList) -> [(author: UInt64, sequence: UInt64)] {
        let lost = hosted.authority.writeFailed()
        for (author, _) in lost { lostCommit(of: author) }
        return lost
    }

    func lostCommit(of author: UInt64) {
        authors[author]?.submissionEnded()
        newcomers.release(author)
    }

    private func saveSnapshot(of hosted: HostedList) {
        hosted.isSavingSnapshot = true
        let (hand, revision, deck) = (hosted.authority.hand, hosted.authority.revision, hosted.authority.deck)
        let list = hosted.list.number
        writeAlone { store in
            try store.saveSnapshot(of: list, hand, revision: revision, deck: deck)
        } then: {
            [unowned self] result in
            hosted.isSavingSnapshot = false
            switch result {
            case .success: hosted.snapshotRevision = revision
            case .failure(let error):
                // The history is whole without it; it is tried again after as many commits as it was worth.
                hosted.snapshotRevision = revision
                world.note(.snapshotFailed(error))
            }
        }
    }

    /// What need not be kept makes room, where nothing new is written any more that would lead to it.
    func trimIfFull() {
        guard storeSize.isFull(limits), !retention.keepsEverything else { return }
        for number in hostedLists.keys.sorted() {
            guard let hosted = hostedLists[number], !hosted.isTrimming else { continue }
            trim(hosted)
        }
    }

    /// Forgets commits that need not be kept, a part at a time.
    private func trim(_ hosted: HostedList) {
        hosted.isTrimming = true
        hosted.trimmedAt = hosted.authority.revision
        let (list, retention, now) = (hosted.list.number, retention, world.wallClock)
        writeAlone { store in
            try store.trim(list, keeping: retention, now: now)
        } then: { [unowned self] result in
            hosted.isTrimming = false
            switch result {
            case .success(let trimmed):
                hosted.storeFloor = trimmed.floor
                storeSize.isStale = true
                if trimmed.hasMore, hostedLists[list] === hosted { trim(hosted) }
            case .failure(let error):
                if hostedLists[list] === hosted { world.note(.trimFailed(error)) }
            }
        }
    }

    // MARK: Size

    /// Asks how large the store is, if something was written since it was asked.
    func measureStore() {
        guard storeSize.isStale, !storeSize.isAsking else { return }
        storeSize.isStale = false
        storeSize.isAsking = true
        ask { store in
            try store.size()
        } then: { [unowned self] result in
            storeSize.isAsking = false
            guard case .success(let bytes) = result else { return }
            storeSize.bytes = bytes
            storeSize.looksToWait = max(0, storeSize.looksToWait - 1)
        }
    }
}

/// How large the store was when it was last asked: what is written meanwhile may be above the limit, for a second.
struct StoreSize {
    var bytes = 0
    /// Whether something was written or forgotten since.
    var isStale = true
    var isAsking = false
    /// Looks that are to be awaited before something is given up once more because the store is full.
    var looksToWait = 0

    var isNews: Bool { looksToWait == 0 }

    /// Something was given up: what that made room for is seen by the next look, unless one is under way.
    mutating func expectNews() {
        isStale = true
        looksToWait = isAsking ? 2 : 1
    }

    func isFull(_ limits: Limits) -> Bool { bytes >= limits.storeBytes }
}
