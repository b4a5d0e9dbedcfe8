import Foundation
import HandSync
import Postgres
import Synchronization

/// Tells other servers of appends, and hears of theirs: one session with a thread of its own, from the first hint on.
///
/// What is told is told once, some lists at a time, in a transaction of its own: inside an append's it would make all appends of the
/// database wait for one another. A hint that gets lost is no loss.
final class PostgresFeed: Sendable {
    typealias Listener = @Sendable (_ list: UInt64, _ revision: Int) -> Void

    private struct State {
        /// The newest revision of each list that others are to hear of.
        var news: [UInt64: Int] = [:]
        /// Lists of which others are to hear that somebody is elsewhere.
        var moved: Set<UInt64> = []
        var listener: Listener?
        var isRunning = false
        var isClosed = false
    }

    private let connector: PostgresConnector
    private let channel: String
    private let patience: Duration
    private let state = Mutex(State())
    private let wake: WakePipe

    init(_ connector: PostgresConnector, channel: String, patience: Duration) {
        self.connector = connector
        self.channel = channel
        self.patience = patience
        wake = WakePipe()
    }

    /// Has others hear that lists have come to revisions. Does not wait.
    func tell(_ heads: [(list: UInt64, revision: Int)]) {
        guard !heads.isEmpty else { return }
        start { state in
            for (list, revision) in heads { state.news[list] = max(revision, state.news[list] ?? 0) }
        }
    }

    /// Has others hear that it has changed who is where on lists. Does not wait.
    func tell(moved lists: [UInt64]) {
        if !lists.isEmpty { start { $0.moved.formUnion(lists) } }
    }

    func listen(_ listener: @escaping Listener) {
        start { $0.listener = listener }
    }

    /// Ends the thread, soon.
    func close() {
        state.withLock { $0.isClosed = true }
        wake.signal()
    }

    private func start(_ change: (inout State) -> Void) {
        let isFirst = state.withLock { state in
            change(&state)
            defer { state.isRunning = true }
            return !state.isRunning && !state.isClosed
        }
        guard isFirst else { return wake.signal() }
        let thread = Thread { self.run() }
        thread.name = "hints"
        thread.start()
    }

    private var isClosed: Bool { state.withLock { $0.isClosed } }

    private func run() {
        while !isClosed {
            // A connection that fails is made anew. Hints are no more than hints, so that has time.
            do { try follow(try connector.connect([], by: Deadline(in: patience))) } catch {
                Thread.sleep(forTimeInterval: 0.2)
            }
        }
    }

    /// Tells and hears until the connection is lost, or the store is closed.
    private func follow(_ connection: PostgresConnection) throws {
        var isListening = false
        while true {
            let (news, listener, isClosed) = state.withLock { state in
                defer { (state.news, state.moved) = ([:], []) }
                let heads = state.news.map { "\($0) \($1)" } + state.moved.map { "\($0) 0" }
                return (heads, state.listener, state.isClosed)
            }
            if isClosed { return }
            if listener != nil, !isListening {
                _ = try connection.run(PostgresCall("LISTEN \(channel)", isKept: false), by: Deadline(in: patience))
                isListening = true
            }
            try send(news, on: connection)
            for hint in try connection.takeNotifications() where hint.backend != connection.backend {
                for (list, revision) in Self.heads(in: hint.payload) { listener?(list, revision) }
            }
            connection.waitForInput(or: wake.reader, by: Deadline(in: .seconds(60)))
            wake.drain()
        }
    }

    // MARK: Payloads

    /// Lists of which one payload may tell: it has room for 8,000 characters.
    private static let mostHeads = 150

    private func send(_ heads: [String], on connection: PostgresConnection) throws {
        guard !heads.isEmpty else { return }
        let calls = stride(from: 0, to: heads.count, by: Self.mostHeads).map { start in
            let payload = heads[start..<min(start + Self.mostHeads, heads.count)].joined(separator: " ")
            return PostgresCall("SELECT pg_notify($1, $2)", [.text(channel), .text(payload)])
        }
        _ = try connection.run(calls, by: Deadline(in: patience))
    }

    /// What a payload says. Anybody may send one: what is no list and no revision is passed over.
    private static func heads(in payload: String) -> [(UInt64, Int)] {
        let words = payload.split(separator: " ")
        return stride(from: 0, to: words.count - 1, by: 2).compactMap { index in
            guard let list = UInt64(words[index]), let revision = Int(words[index + 1]) else { return nil }
            return (list, revision)
        }
    }
}

/// Gets a thread out of its wait for a socket.
final class WakePipe: Sendable {
    let reader: Int32
    private let writer: Int32

    init() {
        var ends: [Int32] = [-1, -1]
        // Without one, news wait for what comes on the socket, or a minute.
        if pipe(&ends) == 0 {
            for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) + fcntl(end, F_SETFD, FD_CLOEXEC) }
        }
        (reader, writer) = (ends[0], ends[1])
    }

    deinit {
        for end in [reader, writer] where end >= 0 { close(end) }
    }

    func signal() {
        var byte: UInt8 = 0
        // A full pipe wakes too.
        _ = write(writer, &byte, 1)
    }

    func drain() {
        var bytes = [UInt8](repeating: 0, count: 64)
        while read(reader, &bytes, bytes.count) == bytes.count {}
    }
}

extension PostgresStore {
    package func listen(_ onHint: @escaping @Sendable (_ list: UInt64, _ revision: Int) -> Void) {
        feed.listen(onHint)
    }

    package func heads(of lists: [UInt64]) throws -> [StoredHead] {
        let sql = """
            SELECT number, name, log_id, revision, digest FROM lists JOIN names ON list = number WHERE number = ANY ($1)
            """
        return try ask(sql, .integers(lists.map { Int64(bitPattern: $0) })) { rows in
            try rows.map { row in
                StoredHead(
                    list: try row.bits(0), name: try row.text(1), logID: try row.bits(2), revision: try row.integer(3),
                    digest: try row.bits(4))
            }
        }
    }
}
