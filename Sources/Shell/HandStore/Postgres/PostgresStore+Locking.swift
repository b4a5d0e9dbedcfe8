import HandSync
import HandWire
import Synchronization

/// Knows which lists are too contended to race for, and which of these lists are locked.
///
/// If a server's batches come too late several times in a row, the server locks the list when it reads the commits that
/// it has missed, and keeps the lock while its caller prepares the next batch, which then succeeds. The database takes
/// the lock back from a server that does not come back.
final class Contention: Sendable {
    /// The number of late attempts in a row after which the list is locked.
    private static let timeout = 6
    /// The most lists that are locked at once; batches for other lists race. Each lock takes one of the connections.
    private static let maxLocks = 4
    private struct Lock {
        let connection: PostgresConnection
        let deadline: Deadline
    }

    private struct State {
        var failures: [ListNumber: Int] = [:]
        var locks: [ListNumber: Lock] = [:]
    }

    /// How long a lock is kept while the caller prepares the next batch.
    let lockTime: Duration
    private let state = Mutex(State())

    init(lockTime: Duration) {
        self.lockTime = lockTime
    }

    func isLocking(_ list: ListNumber) -> Bool {
        state.withLock { state in
            guard state.failures[list, default: 0] >= Self.timeout else { return false }
            return state.locks[list] != nil || state.locks.count < Self.maxLocks
        }
    }

    func note(_ result: Appended, _ list: ListNumber) {
        state.withLock { state in
            switch result {
            case .conflict: state.failures[list, default: 0] += 1
            case .taken, .gone: state.failures[list] = nil
            case .unknown, .refused: break
            }
        }
    }

    /// Takes the connection that holds the lock of a list; nobody else uses the connection then.
    func takeLock(of list: ListNumber) -> PostgresConnection? {
        state.withLock { $0.locks.removeValue(forKey: list)?.connection }
    }

    /// Keeps a lock; returns whether there is room for it.
    func keep(_ connection: PostgresConnection, of list: ListNumber) -> Bool {
        state.withLock { state in
            guard state.locks[list] == nil, state.locks.count < Self.maxLocks else { return false }
            state.locks[list] = Lock(connection: connection, deadline: Deadline(in: lockTime))
            return true
        }
    }

    /// Releases all locks, or those that nobody came back for. The pool closes a connection with an open transaction,
    /// and this ends the transaction.
    func release(to pool: PostgresPool, onlyOld: Bool) {
        let due = state.withLock { state in
            let due = state.locks.filter { !onlyOld || $0.value.deadline.hasPassed }
            for list in due.keys { state.locks[list] = nil }
            return due.values.map(\.connection)
        }
        for connection in due { pool.giveBack(connection) }
    }
}

extension PostgresStore {
    /// Appends a batch under the lock that the last attempt for its list kept, and releases the lock.
    ///
    /// - Returns: nil if there is no lock, or the database took it back before anything was done.
    func appendLocked(_ attempt: Attempt) -> Result<Appended, StoreError>? {
        guard let connection = contention.takeLock(of: attempt.batch.list) else { return nil }
        defer { writers.giveBack(connection) }
        let calls = [attempt.insertion, attempt.missedAtEnd, PostgresCall("COMMIT")]
        let outcome = connection.run([calls], by: Deadline(in: timeout))[0]
        if case .unknown(let error) = outcome, error.state == PostgresError.idleInTransaction { return nil }
        return result(of: attempt, outcome)
    }

    /// Locks a list, and appends if no commits were missed; otherwise keeps the lock for the next attempt.
    func lock(_ attempt: Attempt) -> Result<Appended, StoreError> {
        StoreError.catching { try translating { try tryLocking(attempt) } }
    }

    private func tryLocking(_ attempt: Attempt) throws -> Appended {
        let list = attempt.batch.list
        let connection = try writers.take(by: Deadline(in: timeout))
        var isKept = false
        defer { if !isKept { writers.giveBack(connection) } }
        let calls = [
            PostgresCall("BEGIN"),
            PostgresCall(
                "SELECT set_config('idle_in_transaction_session_timeout', $1, true)",
                [.text("\(Int(contention.lockTime / .milliseconds(1)))")]),
            PostgresCall("SELECT 1 FROM lists WHERE number = $1 FOR NO KEY UPDATE", [.init(list)]),
            attempt.missed,
        ]
        let outcome = connection.run([calls], by: Deadline(in: timeout))[0]
        guard case .done(let rows, _) = outcome else { return try result(of: attempt, outcome).get() }
        if rows[3].isEmpty {
            let rest = [attempt.insertion, attempt.missedAtEnd, PostgresCall("COMMIT")]
            return try result(of: attempt, connection.run([rest], by: Deadline(in: timeout))[0]).get()
        }
        let frames = try CommitRow.frames(rows[3], of: list, after: attempt.batch.expected)
        guard !attempt.isThere(frames) else {
            PostgresSession(connection: connection, timeout: timeout).rollBack()
            return try conflict(of: attempt, rows[3])
        }
        isKept = contention.keep(connection, of: list)
        return .conflict(frames)
    }
}
