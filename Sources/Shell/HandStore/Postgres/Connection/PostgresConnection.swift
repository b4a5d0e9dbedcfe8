import CLibpq
import Glibc

/// One session with one server. Every wait has a deadline; a connection that missed a deadline cannot be used any more.
///
/// `@unchecked Sendable` is safe: a connection is used by one thread at a time, which opened the connection or took it
/// from the pool.
package final class PostgresConnection: @unchecked Sendable {
    let handle: OpaquePointer
    package let host: String
    /// The server's names of prepared statements, by the statements' text.
    var prepared: [String: String] = [:]
    private let notices = Notices()
    /// Whether an answer is missing, so that a later answer would be mistaken for it.
    var isAbandoned = false
    /// The transactions that were sent and not answered.
    var underWay = UnderWay(counts: [])

    struct UnderWay {
        var counts: [Int]
        /// The number of statements that are prepared first.
        var prepared = 0
        /// The reason why not everything was sent.
        var complaint: PostgresError?
    }

    /// The server's notices.
    private final class Notices {
        static let maxKept = 16
        var all: [PostgresError] = []
    }

    /// Connects to a host.
    ///
    /// - Throws: `PostgresError` if connecting did not succeed before the deadline. The system's host name lookup may
    ///   take longer.
    init(to host: PostgresAddress.Host, of address: PostgresAddress, by deadline: Deadline) throws(PostgresError) {
        let words = try address.words(for: host)
        handle = try Self.start(words)
        self.host = host.name
        try finishConnecting(by: deadline)
        guard PQenterPipelineMode(handle) == 1, PQsetnonblocking(handle, 1) == 0 else { throw failure() }
        let context = Unmanaged.passUnretained(notices).toOpaque()
        _ = PQsetNoticeReceiver(handle, Self.takeNotice, context)
    }

    deinit {
        PQfinish(handle)
    }

    private static func start(_ words: [String: String]) throws(PostgresError) -> OpaquePointer {
        let pairs = words.map { (strdup($0.key), strdup($0.value)) }
        defer {
            for (key, value) in pairs {
                free(key)
                free(value)
            }
        }
        let keys = pairs.map { UnsafePointer($0.0) } + [nil]
        let values = pairs.map { UnsafePointer($0.1) } + [nil]
        guard let handle = PQconnectStartParams(keys, values, 0) else {
            throw .init(state: PostgresError.unreachable, "there is no memory for a connection")
        }
        // Without a receiver, early notices would go to standard error.
        _ = PQsetNoticeReceiver(handle, { _, _ in }, nil)
        return handle
    }

    private func finishConnecting(by deadline: Deadline) throws(PostgresError) {
        guard PQstatus(handle) != CONNECTION_BAD else { throw refusal() }
        var state = PGRES_POLLING_WRITING
        while state != PGRES_POLLING_OK {
            let events = state == PGRES_POLLING_READING ? POLLIN : POLLOUT
            guard wait(for: Int16(events), by: deadline) else {
                throw .init(state: PostgresError.unreachable, "\(host) does not answer")
            }
            state = PQconnectPoll(handle)
            if state == PGRES_POLLING_FAILED { throw refusal() }
        }
    }

    private func refusal() -> PostgresError {
        let text = PostgresError.line(String(cString: PQerrorMessage(handle)))
        return PostgresError(state: PostgresError.unreachable, text.isEmpty ? "\(host) cannot be reached" : text)
    }

    private static let takeNotice: PQnoticeReceiver = { context, result in
        guard let context, let result else { return }
        let notices = Unmanaged<Notices>.fromOpaque(context).takeUnretainedValue()
        if notices.all.count < Notices.maxKept { notices.all.append(PostgresError(result: result)) }
    }

    /// Returns the first few notices since the last call.
    func takeNotices() -> [PostgresError] { exchange(&notices.all, with: []) }

    /// The server's process for this session.
    package var backend: Int32 { PQbackendPID(handle) }

    /// Returns a setting that the server reports to every client; nil for other settings.
    package func parameter(_ name: String) -> String? {
        PQparameterStatus(handle, name).map { String(cString: $0) }
    }

    /// Whether the connection can be used: no transaction is open, and the server has not closed it. Does not wait.
    package var isIdle: Bool {
        guard !isAbandoned, PQstatus(handle) == CONNECTION_OK else { return false }
        if wait(for: Int16(POLLIN), by: Deadline(in: .zero)) {
            guard PQconsumeInput(handle) == 1 else { return false }
            // A server that stops sends a message before it closes the connection.
            if PQstatus(handle) != CONNECTION_OK || wait(for: Int16(POLLIN), by: Deadline(in: .zero)) { return false }
        }
        return PQtransactionStatus(handle) == PQTRANS_IDLE
    }

    func failure() -> PostgresError {
        let text = PostgresError.line(String(cString: PQerrorMessage(handle)))
        return .lost(text.isEmpty ? "the connection to \(host) was lost" : text)
    }

    // MARK: Waiting

    /// Returns whether the socket became ready for any of the events.
    func wait(for events: Int16, by deadline: Deadline, or other: Int32? = nil) -> Bool {
        var sockets = [pollfd(fd: PQsocket(handle), events: events, revents: 0)]
        if let other { sockets.append(pollfd(fd: other, events: Int16(POLLIN), revents: 0)) }
        while true {
            let ready = poll(&sockets, nfds_t(sockets.count), deadline.milliseconds)
            if ready > 0 { return true }
            if ready == 0 || errno != EINTR { return false }
        }
    }

    // MARK: Notifications

    package struct Notification: Sendable {
        package let payload: String
        /// The server process of the session that sent the notification.
        package let backend: Int32
    }

    /// Returns the notifications that have arrived for the channels of this session. Does not wait.
    package func takeNotifications() throws(PostgresError) -> [Notification] {
        guard PQconsumeInput(handle) == 1 else { throw failure() }
        var found: [Notification] = []
        while let next = PQnotifies(handle) {
            found.append(Notification(payload: String(cString: next.pointee.extra), backend: next.pointee.be_pid))
            PQfreemem(next)
        }
        guard PQstatus(handle) == CONNECTION_OK else { throw failure() }
        return found
    }
}
