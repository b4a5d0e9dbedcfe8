import HandCore
import HandWire

/// Writes and questions that keep the store small and quick to load.
extension ServerMachine {
    func saved(_ task: SaveSnapshot, _ result: Result<Void, StoreError>) {
        // Loading works without the snapshot. After a failure, the next snapshot is saved after the usual number of
        // commits.
        if case .failure(let error) = result { note(.snapshotFailed(error)) }
        lists[task.list]?.endSaving()
    }

    /// Trims all lists if the store is full. Otherwise nothing would trim them: no new commits are written to a full
    /// store.
    func trimIfFull() {
        guard upkeep.isFull, !upkeep.retention.keepsEverything else { return }
        for number in lists.numbers { lists[number].map { trim($0) } }
    }

    /// Forgets commits that need not be kept, a part at a time.
    ///
    /// - Parameter limits: nil to begin even if it is not due yet.
    func trim(_ hosted: ListMachine, _ limits: Limits? = nil) {
        if let trim = hosted.beginTrimming(upkeep.retention, limits, now: upkeep.trimTime(time)) {
            writer.add(StoreTask(trim) { $0.trimmed($1, $2) })
        }
    }

    func trimmed(_ task: Trim, _ result: Result<Trimmed, StoreError>) {
        if case .success = result { upkeep.storeChanged() }
        guard let hosted = lists[task.list] else { return }
        hosted.endTrimming()
        switch result {
        case .success(let trimmed):
            hosted.forgotten(upTo: trimmed.floor)
            if trimmed.hasMore { trim(hosted) }
        case .failure(let error): note(.trimFailed(error))
        }
    }

    /// Asks how large the store is, if something was written since the last measurement.
    func measureStore() { if upkeep.beginMeasurement() { start(Measure()) { $0.measured($2) } } }

    func measured(_ size: Result<Int, StoreError>) { upkeep.endMeasurement(try? size.get()) }

    /// Removes lists that were deleted long enough ago. See `Upkeep.beginRemoval`.
    func sweepDeleted(isDue: Bool = false) {
        guard stage < .stopping, let sweep = upkeep.beginRemoval(isDue: isDue, now: now) else { return }
        writer.add(StoreTask(sweep) { $0.swept($1, $2) })
    }

    func swept(_ task: SweepDeleted, _ result: Result<Sweep, StoreError>) {
        switch result {
        case .success(let sweep): noteRemoved(sweep.names)
        case .failure(let error): note(.sweepFailed(error))
        }
        switch upkeep.endRemoval(task, hasMore: try? result.get().hasMore) {
        case .nothing: break
        case .removeMore: sweepDeleted(isDue: true)
        case .measure: measureStore()
        }
    }

    func noteRemoved(_ names: [String]) {
        for name in names { note(.removed(list: name)) }
    }

    /// Makes the store free the space that it no longer needs, and remove deleted lists that need not be kept any
    /// longer. In the meantime, nothing else is written. At the end, `ServerNote.compacted` is noted.
    package func compact() {
        writer.add(StoreTask(Compact(kept: upkeep.removalAge)) { $0.compacted($2) })
        awaitsTurn = true
    }

    func compacted(_ result: Result<Compact.Answer, StoreError>) {
        upkeep.storeChanged()
        if case .success(let outcome) = result { noteRemoved(outcome.removed) }
        note(.compacted(result.map(\.compaction)))
    }
}

struct Measure: StoreQuestion {
    func run(on store: any CommitStore) throws -> Int { try store.size() }
}

package struct SaveSnapshot: StoreQuestion {
    let list: ListMachine.Reference
    let hand: Hand
    let revision: Int
    let deck: Deck?

    func run(on store: any CommitStore) throws {
        try store.saveSnapshot(of: list.number, hand, revision: revision, deck: deck)
    }
}

package struct Trim: StoreQuestion {
    let list: ListMachine.Reference
    let retention: Retention
    let now: UInt64

    func run(on store: any CommitStore) throws -> Trimmed {
        try store.trim(list.number, keeping: retention, now: now)
    }
}

package struct SweepDeleted: StoreQuestion {
    let kept: UInt64
    let passed: UInt64
    let now: UInt64
    let givesUpOldest: Bool

    func run(on store: any CommitStore) throws -> Sweep {
        let oldest = givesUpOldest ? try store.purgeOldest(of: nil) : nil
        var sweep = try store.sweep(keeping: kept, passed: passed)
        if let oldest { sweep.names.insert(oldest, at: 0) }
        return sweep
    }
}

package struct Compact: StoreQuestion {
    package typealias Answer = (removed: [String], compaction: Compaction)

    let kept: UInt64

    func run(on store: any CommitStore) throws -> Answer {
        var removed: [String] = []
        var sweep: Sweep
        repeat {
            sweep = try store.sweep(keeping: kept)
            removed += sweep.names
        } while sweep.hasMore
        return (removed, try store.compact())
    }
}
