import HandSync
import HandWire

/// How batches are appended: a transaction for each list, all of them sent before the first answer. Each transaction
/// raises the list's row from the expected revision, and adds the commits if that succeeded; then it reads the commits
/// that others have added, if there are any. So a batch that comes too late gets the missed commits in the same round
/// trip, and does not make others wait for the disk. If a server's batches for a list come too late several times in a
/// row, the server locks the list (`PostgresStore+Locking.swift`).
extension PostgresStore {
    /// The number of lists that justify another connection.
    private static let listsPerConnection = 4

    @discardableResult
    package func append(_ batches: [CommitBatch], by newcomers: [Newcomer]) throws -> [Appended] {
        contention.release(to: writers, onlyOld: true)
        let (unique, random) = (batches.filter { !$0.entries.isEmpty }, UInt64.random(in: .min ... .max))
        precondition(Set(unique.map(\.list)).count == unique.count, "two batches of one list at once")
        var results: [ListNumber: Result<Appended, StoreError>] = [:]
        do {
            // An author that a commit names must be stored before the commit, whatever happens next.
            try keep(newcomers)
            let attempts = unique.map { Attempt($0, nonce: random) }
            // The locked lists first: other servers may be waiting for them.
            for attempt in attempts { results[attempt.batch.list] = appendLocked(attempt) }
            let left = attempts.filter { results[$0.batch.list] == nil }
            let hot = Set(left.map(\.batch.list).filter { contention.isLocking($0) })
            for (batch, result) in try race(left.filter { !hot.contains($0.batch.list) }) {
                results[batch.list] = result
            }
            for attempt in left where hot.contains(attempt.batch.list) { results[attempt.batch.list] = lock(attempt) }
        } catch {
            if unique.isEmpty { throw error }
            let error = error as? StoreError ?? .failed("\(error)")
            for batch in unique where results[batch.list] == nil { results[batch.list] = .failure(error) }
        }
        return conclude(batches, results)
    }

    /// Returns the results in the batches' order, and passes them on to `contention` and to other servers.
    private func conclude(
        _ batches: [CommitBatch], _ results: [ListNumber: Result<Appended, StoreError>]
    ) -> [Appended] {
        let appended = batches.map { batch -> Appended in
            if batch.entries.isEmpty { return .taken }
            switch results[batch.list] {
            case .success(let appended): return appended
            // The connection may have been lost after the database had everything.
            case .failure(let error):
                if case .unreachable = error { return .unknown(error) }
                return .refused(error)
            case nil: return .unknown(.unreachable(place, why: "it was not asked"))
            }
        }
        for (batch, result) in zip(batches, appended) where !batch.entries.isEmpty {
            contention.note(result, batch.list)
        }
        feed.tell(
            zip(batches, appended).compactMap { batch, result in
                guard result == .taken, let last = batch.entries.last else { return nil }
                return .commits(list: batch.list, revision: last.mark.revision)
            })
        return appended
    }

    // MARK: Racing

    /// Sends all batches, over several connections if there are many batches: the connections share the waits for the
    /// disk.
    private func race(_ attempts: [Attempt]) throws -> [(CommitBatch, Result<Appended, StoreError>)] {
        guard !attempts.isEmpty else { return [] }
        return try translating {
            let deadline = Deadline(in: timeout)
            var lanes = [try writers.take(by: deadline)]
            defer { for lane in lanes { writers.giveBack(lane) } }
            while lanes.count * Self.listsPerConnection < attempts.count,
                let lane = try? writers.takeMore(by: deadline)
            {
                lanes.append(lane)
            }
            let shares = lanes.indices.map { lane in
                stride(from: lane, to: attempts.count, by: lanes.count).map { attempts[$0] }
            }
            for (lane, share) in zip(lanes, shares) { lane.start(share.map { [$0.insertion, $0.missedAtEnd] }) }
            return zip(lanes, shares).flatMap { lane, share in
                // Each answer has its own time, so that many lists do not cause a timeout.
                let outcomes = lane.finish(by: Deadline(in: timeout + .milliseconds(100) * share.count))
                return zip(share, outcomes).map { ($0.batch, result(of: $0, $1)) }
            }
        }
    }

    /// Returns what an outcome means for a batch.
    func result(of attempt: Attempt, _ outcome: PostgresOutcome) -> Result<Appended, StoreError> {
        switch outcome {
        case .unknown(let error): .success(.unknown(translated(error)))
        case .failed(let error): .failure(translated(error))
        case .done(let rows, let notices):
            if let warning = notices.first(where: \.isUncertainty) {
                .success(.unknown(translated(.uncertain(warning))))
            } else if rows[0].changed > 0 {
                .success(.taken)
            } else {
                StoreError.catching { try translating { try conflict(of: attempt, rows[1]) } }
            }
        }
    }

    /// Returns the result for a batch that was not appended.
    ///
    /// - Parameter rows: the rows of `Attempt.missed`.
    func conflict(of attempt: Attempt, _ rows: PostgresRows) throws -> Appended {
        let batch = attempt.batch
        let frames = try CommitRow.frames(rows, of: batch.list, after: batch.expected)
        if attempt.isThere(frames) { return try confirm(batch) }
        if !frames.isEmpty { return .conflict(frames) }
        let row = try read { try PostgresListRow.find(batch.list, $0) }
        guard let row, !row.isDeleted, batch.logID == nil || batch.logID == row.list.logID else { return .gone }
        // Commits were added or read between the two statements, or the list has not reached the expected revision. The
        // next attempt finds out.
        return .conflict(try self.frames(of: batch.list, after: batch.expected, about: 1 << 20))
    }

    /// Confirms a batch that an earlier attempt has added, although the answer to that attempt was lost. A later update
    /// of the list's row is durable only if the batch is durable.
    private func confirm(_ batch: CommitBatch) throws -> Appended {
        let call = PostgresCall("UPDATE lists SET revision = revision WHERE number = $1", [.init(batch.list)])
        let outcome = try writers.with(by: Deadline(in: timeout)) { connection in
            connection.run([[call]], by: Deadline(in: timeout))[0]
        }
        switch outcome {
        case .failed(let error), .unknown(let error): return .unknown(translated(error))
        case .done(_, let notices):
            return notices.first(where: \.isUncertainty).map { .unknown(translated(.uncertain($0))) } ?? .taken
        }
    }
}

/// The first or a later attempt to append a batch.
struct Attempt {
    let batch: CommitBatch
    /// Distinguishes the rows of this attempt from all others.
    private let nonce: UInt64
    private let rows: [FrameRow]

    /// The number of other servers' rows that are read at once; more if the batch has more rows, because an earlier
    /// attempt may have added the batch.
    private static let maxMissed = 64

    init(_ batch: CommitBatch, nonce: UInt64) {
        self.batch = batch
        self.nonce = nonce
        rows = FrameRow.rows(of: batch)
    }

    /// The insertion. Its number of changed rows is the number of rows added to `commits`: 0 if the list is not at the
    /// expected revision.
    var insertion: PostgresCall {
        PostgresCall(
            """
            WITH raised AS (
                UPDATE lists SET revision = $2, count = $3, digest = $4, bytes = bytes + $5
                WHERE number = $1 AND revision = $6 AND NOT is_deleted
                    AND ($7::bigint IS NULL OR log_id = $7) AND ($8::bigint IS NULL OR digest = $8)
                RETURNING number
            )
            INSERT INTO commits (list, last, first, nonce, frames)
            SELECT number, rows.last, rows.first, $9, rows.frames
            FROM raised, unnest($10::bigint[], $11::bigint[], $12::bytea[]) AS rows (last, first, frames)
            """,
            [
                .init(batch.list), .init(batch.entries.last?.mark.revision ?? 0),
                .init(batch.entries.last?.count ?? 0), .init(bits: batch.entries.last?.digest ?? 0),
                .init(rows.reduce(0) { $0 + $1.frames.count }),
                .init(batch.expected), .init(bits: batch.logID), .init(bits: batch.digest), .init(bits: nonce),
                .integers(rows.map { Int64($0.last) }), .integers(rows.map { Int64($0.first) }),
                .rows(rows.map(\.frames)),
            ])
    }

    /// Selects the rows that other servers, or an earlier attempt, have added.
    var missed: PostgresCall { missed(andThen: "") }

    /// The statement `missed` for the end of a transaction. If the statement finds rows, the transaction has changed
    /// nothing, and need not wait for the disk.
    var missedAtEnd: PostgresCall { missed(andThen: ", set_config('synchronous_commit', 'off', true)") }

    private func missed(andThen more: String) -> PostgresCall {
        PostgresCall(
            """
            SELECT last, first, frames\(more) FROM commits
            WHERE list = $1 AND last > $2 AND nonce <> $3 AND EXISTS (
                SELECT 1 FROM lists WHERE number = $1 AND NOT is_deleted AND ($4::bigint IS NULL OR log_id = $4))
            ORDER BY last LIMIT $5
            """,
            [
                .init(batch.list), .init(batch.expected), .init(bits: nonce), .init(bits: batch.logID),
                .init(max(Self.maxMissed, rows.count)),
            ])
    }

    /// Returns whether frames after the expected revision begin with this batch. A client's submission is committed
    /// once, so equal frames are this batch, not another batch that looks the same.
    func isThere(_ frames: [StoredFrame]) -> Bool {
        frames.first?.revision == batch.expected + 1 && batch.isPrefix(of: frames)
    }
}
