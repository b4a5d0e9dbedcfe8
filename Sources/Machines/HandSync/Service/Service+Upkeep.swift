import HandCore
import HandWire

/// Writes and questions that keep the store small and quick to load.
extension Service {
    func saveSnapshot(of hosted: HostedList) {
        hosted.saving.begin(at: hosted.authority.revision)
        writer.jobs.append(
            SaveSnapshot(
                list: hosted.reference, hand: hosted.authority.hand, revision: hosted.authority.revision,
                deck: hosted.authority.deck))
    }

    /// Trims all lists if the store is full. Otherwise nothing would trim them: no new commits are written then.
    func trimIfFull() {
        guard storeSize.isFull(limits), !retention.keepsEverything else { return }
        for number in hostedLists.keys.map(\.number).sorted() {
            guard let hosted = hostedLists[number], !hosted.trimming.isUnderWay else { continue }
            trim(hosted)
        }
    }

    /// Forgets commits that need not be kept, a part at a time. While the clock may be wrong, none is forgotten for its
    /// age.
    func trim(_ hosted: HostedList) {
        hosted.trimming.begin(at: hosted.authority.revision)
        let now = clock.isSteady(now: environment.now) ? environment.wallClock : 0
        writer.jobs.append(Trim(list: hosted.reference, retention: retention, now: now))
    }

    /// Asks how large the store is, if something was written since it was asked.
    func measureStore() {
        guard storeSize.isStale, !storeSize.isAsking else { return }
        storeSize.isStale = false
        storeSize.isAsking = true
        start(MeasureStore())
    }

    /// Milliseconds between two removals of lists that were deleted long enough ago.
    private static let removalInterval: UInt64 = 60_000
    /// The most that is counted at once of the time that passes.
    private static let countedInterval = removalInterval + sweepInterval
    /// The age at which deleted lists are removed. A deletion gets its place in the time that is counted at the next
    /// removal, which may be a whole interval later.
    private var removalAge: UInt64 { retention.deleted == 0 ? 0 : retention.deleted + Self.countedInterval }

    /// Removes lists that were deleted long enough ago, a part at a time. If the store is full, it also removes the
    /// list that was deleted first, and then the next one if the store is still full.
    func sweepDeleted(isDue: Bool = false) {
        let givesUpOldest = storeSize.isFull(limits) && storeSize.isNews && !removal.isMakingRoom
        guard isDue || givesUpOldest || environment.now >= removal.nextLook, !removal.isRunning, stage < .stopping
        else {
            return
        }
        removal.isRunning = true
        if givesUpOldest { removal.isMakingRoom = true }
        removal.nextLook = environment.now + Self.removalInterval
        let passed = min(environment.now - (removal.countedUntil ?? environment.now), Self.countedInterval)
        writer.jobs.append(
            SweepDeleted(kept: removalAge, passed: passed, now: environment.now, givesUpOldest: givesUpOldest))
    }

    fileprivate func swept(_ hasMore: Bool, by task: SweepDeleted) {
        removal.countedUntil = task.now
        if hasMore {
            storeSize.isStale = true
            sweepDeleted(isDue: true)
        } else if removal.isMakingRoom {
            removal.isMakingRoom = false
            storeSize.expectNews()
            measureStore()
        }
    }

    /// Makes the store free the space that it no longer needs, and remove deleted lists that need not be kept any
    /// longer. In the meantime, nothing else is written. At the end, `ServiceNote.compacted` is noted.
    package func compact() { writer.jobs.append(Compact(kept: removalAge)) }
}

private struct SaveSnapshot: WriteJob {
    let list: HostedList.Reference
    let hand: Hand
    let revision: Int
    let deck: Deck?

    func run(on store: any CommitStore) throws {
        try store.saveSnapshot(of: list.number, hand, revision: revision, deck: deck)
    }

    func wrote(_ answer: Result<Void, StoreError>, in service: Service) {
        // Loading works without it. After a failure, the next one is saved after the usual number of commits.
        if case .failure(let error) = answer { service.environment.note(.snapshotFailed(error)) }
        service.hosted(list)?.saving.end()
    }
}

private struct Trim: WriteJob {
    let list: HostedList.Reference
    let retention: Retention
    let now: UInt64

    func run(on store: any CommitStore) throws -> Trimmed {
        try store.trim(list.number, keeping: retention, now: now)
    }

    func wrote(_ answer: Result<Trimmed, StoreError>, in service: Service) {
        if case .success = answer { service.storeSize.isStale = true }
        guard let hosted = service.hosted(list) else { return }
        hosted.trimming.end()
        switch answer {
        case .success(let trimmed):
            hosted.storeFloor = trimmed.floor
            if trimmed.hasMore { service.trim(hosted) }
        case .failure(let error): service.environment.note(.trimFailed(error))
        }
    }
}

private struct MeasureStore: ServiceTask {
    func run(on store: any CommitStore) throws -> Int { try store.size() }

    func finished(_ answer: Result<Int, StoreError>, in service: Service) {
        service.storeSize.isAsking = false
        guard case .success(let bytes) = answer else { return }
        service.storeSize.bytes = bytes
        service.storeSize.looksToWait = max(0, service.storeSize.looksToWait - 1)
    }
}

private struct SweepDeleted: WriteJob {
    let kept: UInt64
    let passed: UInt64
    let now: UInt64
    let givesUpOldest: Bool

    func run(on store: any CommitStore) throws -> Bool {
        if givesUpOldest { _ = try store.purgeOldest(of: nil) }
        return try store.sweep(keeping: kept, passed: passed)
    }

    func wrote(_ answer: Result<Bool, StoreError>, in service: Service) {
        service.removal.isRunning = false
        switch answer {
        case .success(let hasMore): service.swept(hasMore, by: self)
        case .failure(let error): service.environment.note(.sweepFailed(error))
        }
    }
}

private struct Compact: WriteJob {
    let kept: UInt64

    func run(on store: any CommitStore) throws -> Compaction {
        while try store.sweep(keeping: kept) {}
        return try store.compact()
    }

    func wrote(_ answer: Result<Compaction, StoreError>, in service: Service) {
        service.storeSize.isStale = true
        service.environment.note(.compacted(answer))
    }
}

/// How large the store was when it was last asked. It may grow above the limit for a second.
struct StoreSize {
    var bytes = 0
    /// Whether something was written or forgotten since.
    var isStale = true
    var isAsking = false
    /// How many more measurements to wait for before another list is given up because the store is full.
    var looksToWait = 0

    var isNews: Bool { looksToWait == 0 }

    /// Waits for the measurement that shows the space that a removal has freed. A measurement that is under way may not
    /// show it.
    mutating func expectNews() {
        isStale = true
        looksToWait = isAsking ? 2 : 1
    }

    func isFull(_ limits: Limits) -> Bool { bytes >= limits.storeBytes }
}

/// The removal of deleted lists.
struct Removal {
    var isRunning = false
    /// Whether a list was given up because the store is full, and is not gone yet.
    var isMakingRoom = false
    /// When to look again whether there is something to remove.
    var nextLook: UInt64 = 0
    /// The time up to which the store has counted; nil before the first removal of this process.
    var countedUntil: UInt64?
}
