import HandCore
import HandWire

/// Writes and questions that keep the store small and quick to load.
extension ServerMachine {
    func saveSnapshot(of hosted: ListMachine) {
        hosted.saving.begin(at: hosted.authority.revision)
        writer.jobs.append(
            .saveSnapshot(
                SaveSnapshot(
                    list: hosted.reference, hand: hosted.authority.hand, revision: hosted.authority.revision,
                    deck: hosted.authority.deck)))
    }

    func saved(_ task: SaveSnapshot, _ result: Result<Void, StoreError>) {
        // Loading works without the snapshot. After a failure, the next snapshot is saved after the usual number of
        // commits.
        if case .failure(let error) = result { note(.snapshotFailed(error)) }
        lists[task.list]?.saving.end()
    }

    /// Trims all lists if the store is full. Otherwise nothing would trim them: no new commits are written to a full
    /// store.
    func trimIfFull() {
        guard storeSize.isFull(limits), !retention.keepsEverything else { return }
        for number in lists.numbers {
            guard let hosted = lists[number], !hosted.trimming.isUnderWay else { continue }
            trim(hosted)
        }
    }

    /// Forgets commits that need not be kept, a part at a time. While the clock may be wrong, no commit is forgotten
    /// for its age.
    func trim(_ hosted: ListMachine) {
        hosted.trimming.begin(at: hosted.authority.revision)
        let now = clock.isSteady(now: now) ? wallClock : 0
        writer.jobs.append(.trim(Trim(list: hosted.reference, retention: retention, now: now)))
    }

    func trimmed(_ task: Trim, _ result: Result<Trimmed, StoreError>) {
        if case .success = result { storeSize.isStale = true }
        guard let hosted = lists[task.list] else { return }
        hosted.trimming.end()
        switch result {
        case .success(let trimmed):
            hosted.storeFloor = trimmed.floor
            if trimmed.hasMore { trim(hosted) }
        case .failure(let error): note(.trimFailed(error))
        }
    }

    /// Asks how large the store is, if something was written since the last measurement.
    func measureStore() {
        guard storeSize.isStale, !storeSize.isAsking else { return }
        storeSize.isStale = false
        storeSize.isAsking = true
        start(.measure)
    }

    func measured(_ size: Result<Int, StoreError>) {
        storeSize.isAsking = false
        guard case .success(let bytes) = size else { return }
        storeSize.bytes = bytes
        storeSize.looksToWait = max(0, storeSize.looksToWait - 1)
    }

    /// Milliseconds between two removals of lists that were deleted long enough ago.
    private static let removalInterval: UInt64 = 60_000
    /// The most passing time that is counted at once, in milliseconds.
    private static let countedInterval = removalInterval + sweepInterval
    /// The age at which deleted lists are removed. Time is counted only at removals, so the counted age of a list may
    /// include up to a whole interval before its deletion.
    private var removalAge: UInt64 { retention.deleted == 0 ? 0 : retention.deleted + Self.countedInterval }

    /// Removes lists that were deleted long enough ago, a part at a time. If the store is full, it also removes the
    /// list that was deleted first, and then the next one if the store is still full.
    func sweepDeleted(isDue: Bool = false) {
        let givesUpOldest = storeSize.isFull(limits) && storeSize.isNews && !removal.isMakingRoom
        guard isDue || givesUpOldest || now >= removal.nextLook, !removal.isRunning, stage < .stopping
        else {
            return
        }
        removal.isRunning = true
        if givesUpOldest { removal.isMakingRoom = true }
        removal.nextLook = now + Self.removalInterval
        let passed = min(now - (removal.countedUntil ?? now), Self.countedInterval)
        let sweep = SweepDeleted(kept: removalAge, passed: passed, now: now, givesUpOldest: givesUpOldest)
        writer.jobs.append(.sweep(sweep))
    }

    func swept(_ task: SweepDeleted, _ result: Result<Bool, StoreError>) {
        removal.isRunning = false
        let hasMore: Bool
        switch result {
        case .success(let answer): hasMore = answer
        case .failure(let error): return note(.sweepFailed(error))
        }
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
    /// longer. In the meantime, nothing else is written. At the end, `ServerNote.compacted` is noted.
    package func compact() { writer.jobs.append(.compact(Compact(kept: removalAge))) }

    func compacted(_ result: Result<Compaction, StoreError>) {
        storeSize.isStale = true
        note(.compacted(result))
    }
}

package struct SaveSnapshot: Sendable {
    let list: ListMachine.Reference
    let hand: Hand
    let revision: Int
    let deck: Deck?

    func run(on store: any CommitStore) throws {
        try store.saveSnapshot(of: list.number, hand, revision: revision, deck: deck)
    }
}

package struct Trim: Sendable {
    let list: ListMachine.Reference
    let retention: Retention
    let now: UInt64

    func run(on store: any CommitStore) throws -> Trimmed {
        try store.trim(list.number, keeping: retention, now: now)
    }
}

package struct SweepDeleted: Sendable {
    let kept: UInt64
    let passed: UInt64
    let now: UInt64
    let givesUpOldest: Bool

    func run(on store: any CommitStore) throws -> Bool {
        if givesUpOldest { _ = try store.purgeOldest(of: nil) }
        return try store.sweep(keeping: kept, passed: passed)
    }
}

package struct Compact: Sendable {
    let kept: UInt64

    func run(on store: any CommitStore) throws -> Compaction {
        while try store.sweep(keeping: kept) {}
        return try store.compact()
    }
}

/// How large the store was when it was last asked. The store may grow above the limit for a second.
struct StoreSize {
    var bytes = 0
    /// Whether something was written or forgotten since the last measurement.
    var isStale = true
    var isAsking = false
    /// How many more measurements to wait for before another list is given up because the store is full.
    var looksToWait = 0

    var isNews: Bool { looksToWait == 0 }

    /// Waits for the measurement that shows the space that a removal has freed. A measurement that is under way may not
    /// show that space.
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
