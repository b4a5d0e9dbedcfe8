import Dispatch
import Glibc
import Synchronization

/// Connects to whichever host of a database accepts connections. The pause between attempts grows with the number of
/// failures.
package final class PostgresConnector: Sendable {
    private struct State {
        /// The host that worked last, which is tried first.
        var best = 0
        var failures = 0
        var nextTry = ContinuousClock.now
        var isClosed = false
    }

    package let address: PostgresAddress
    /// The statements that every session runs first.
    private let setup: [PostgresCall]
    private let state = Mutex(State())
    private static let pauses: (shortest: Duration, longest: Duration) = (.milliseconds(20), .seconds(1))

    package init(to address: PostgresAddress, setup: [PostgresCall]) {
        self.address = address
        self.setup = setup
    }

    /// Tries all hosts repeatedly until the deadline.
    ///
    /// - Throws: the `PostgresError` of the last attempt. An error that another attempt cannot fix is thrown at once.
    package func connect(_ more: [PostgresCall], by deadline: Deadline) throws(PostgresError) -> PostgresConnection {
        var complaint = PostgresError(state: PostgresError.unreachable, "\(address.description) did not answer in time")
        while true {
            let (isClosed, pause) = state.withLock { ($0.isClosed, $0.nextTry - .now) }
            if isClosed { throw .init(state: PostgresError.unreachable, "the store is closed") }
            if pause > .zero {
                guard pause < deadline.left else { throw complaint }
                usleep(useconds_t(pause / .microseconds(1)))
            }
            do { return try connectOnce(setup + more, by: deadline) } catch {
                complaint = error
                // Another thread may have failed at the same moment; both count as one failure.
                state.withLock { state in
                    guard state.nextTry <= .now else { return }
                    let pause = min(Self.pauses.longest, Self.pauses.shortest * (1 << min(state.failures, 6)))
                    state.failures += 1
                    state.nextTry = .now + pause
                }
                if deadline.hasPassed || Self.isFinal(error) { throw complaint }
            }
        }
    }

    package func close() {
        state.withLock { $0.isClosed = true }
    }

    private func connectOnce(_ setup: [PostgresCall], by deadline: Deadline) throws(PostgresError) -> PostgresConnection
    {
        let best = state.withLock { $0.best }
        var complaints: [PostgresError] = []
        for offset in address.hosts.indices {
            let index = (best + offset) % address.hosts.count
            // A host that does not answer must not keep us from the others.
            let hostDeadline = deadline.within(address.hostTimeout)
            do {
                let connection = try PostgresConnection(to: address.hosts[index], of: address, by: hostDeadline)
                if !setup.isEmpty { _ = try connection.run(setup, by: hostDeadline) }
                state.withLock { state in
                    state.best = index
                    state.failures = 0
                }
                return connection
            } catch {
                complaints.append(error)
            }
            if deadline.hasPassed { break }
        }
        let text = complaints.map(\.message).joined(separator: "; ")
        throw .init(state: complaints.last?.state ?? PostgresError.unreachable, text)
    }

    /// Returns whether the server has answered and will give the same answer again. libpq gives only a text; if the
    /// text is not in English, the attempt is repeated like any other.
    private static func isFinal(_ error: PostgresError) -> Bool {
        error.state == PostgresError.wrongAddress
            || [
                "authentication failed", "no password supplied", "pg_hba.conf", "\" does not exist",
                "permission denied for", "does not support SSL", "certificate",
            ].contains { error.message.contains($0) }
    }
}

package final class PostgresPool: Sendable {
    private let connector: PostgresConnector
    private let setup: [PostgresCall]
    private let idle = Mutex<[PostgresConnection]>([])
    private let places: DispatchSemaphore
    private let isClosed = Atomic(false)

    /// - Parameters:
    ///   - size: the most connections at once. They are opened when they are needed.
    ///   - setup: statements that every session of this pool runs after the connector's statements.
    package init(_ connector: PostgresConnector, size: Int, setup: [PostgresCall] = []) {
        self.connector = connector
        self.setup = setup
        places = DispatchSemaphore(value: size)
    }

    /// Takes a connection, which nobody else uses until it is given back.
    package func take(by deadline: Deadline) throws(PostgresError) -> PostgresConnection {
        guard let connection = try takeAny(waiting: max(.zero, deadline.left), by: deadline) else {
            let database = connector.address.description
            throw .init(state: PostgresError.unreachable, "all connections to \(database) are in use")
        }
        return connection
    }

    /// Takes a connection if not all of them are in use. Does not wait for one.
    package func takeMore(by deadline: Deadline) throws(PostgresError) -> PostgresConnection? {
        try takeAny(waiting: .zero, by: deadline)
    }

    private func takeAny(
        waiting timeout: Duration, by deadline: Deadline
    ) throws(PostgresError) -> PostgresConnection? {
        guard places.wait(timeout: .now() + timeout / .seconds(1)) == .success else { return nil }
        while let connection = idle.withLock({ $0.popLast() }) {
            if connection.isIdle { return connection }
        }
        do { return try connector.connect(setup, by: deadline) } catch {
            places.signal()
            throw error
        }
    }

    /// Gives back a connection that was taken. A connection that cannot be used any more is closed.
    package func giveBack(_ connection: PostgresConnection) {
        if !isClosed.load(ordering: .relaxed), connection.isIdle { idle.withLock { $0.append(connection) } }
        places.signal()
    }

    package func with<Result>(
        by deadline: Deadline, _ body: (PostgresConnection) throws -> Result
    ) throws -> Result {
        let connection = try take(by: deadline)
        defer { giveBack(connection) }
        return try body(connection)
    }

    /// Closes the idle connections. From then on, connections that are given back are closed too.
    package func close() {
        isClosed.store(true, ordering: .relaxed)
        idle.withLock { $0 = [] }
    }
}
