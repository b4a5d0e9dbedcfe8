import EventLoop
import Glibc
import HandSync
import HandWire
import Synchronization

/// Notifies other servers of appends, and receives their notifications: one session with a thread of its own, started
/// by the first hint.
///
/// Each hint is sent once, several lists at a time, in a separate transaction: a notification inside the append's
/// transaction would make all appends of the database wait for one another. Losing a hint does no harm.
final class PostgresFeed: Sendable {
    typealias Listener = @Sendable (StoreHint) -> Void

    private struct State {
        /// The newest revision of each list that is still to be sent.
        var heads: [ListNumber: Int] = [:]
        /// The other hints that are still to be sent.
        var others: Set<StoreHint> = []
        var listener: Listener?
        var isRunning = false
        var isClosed = false
    }

    private let connector: PostgresConnector
    private let channel: String
    private let timeout: Duration
    private let state = Mutex(State())
    private let wake: WakePipe

    init(_ connector: PostgresConnector, channel: String, timeout: Duration) {
        self.connector = connector
        self.channel = channel
        self.timeout = timeout
        wake = WakePipe()
    }

    /// Sends hints to other servers. Does not wait.
    func tell(_ hints: [StoreHint]) {
        guard !hints.isEmpty else { return }
        start { state in
            for hint in hints {
                if case .commits(let list, let revision) = hint {
                    state.heads[list] = max(revision, state.heads[list] ?? 0)
                } else {
                    state.others.insert(hint)
                }
            }
        }
    }

    func listen(_ listener: @escaping Listener) {
        start { $0.listener = listener }
    }

    /// Ends the thread soon.
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
        Threads.start("hints") { self.run() }
    }

    private var isClosed: Bool { state.withLock { $0.isClosed } }

    private func run() {
        while !isClosed {
            // A lost connection is opened again. Hints are not needed for correctness, so there is no hurry.
            do { try follow(try connector.connect([], by: Deadline(in: timeout))) } catch {
                // These hints are outdated when the connection is back.
                state.withLock { $0.others = [] }
                usleep(200_000)
            }
        }
    }

    /// Sends and receives hints until the connection is lost or the store is closed.
    private func follow(_ connection: PostgresConnection) throws {
        var isListening = false
        while true {
            let (hints, listener, isClosed) = state.withLock { state in
                defer { (state.heads, state.others) = ([:], []) }
                let heads = state.heads.map { StoreHint.commits(list: $0, revision: $1) }
                return (heads + state.others, state.listener, state.isClosed)
            }
            if isClosed { return }
            if listener != nil, !isListening {
                _ = try connection.run(PostgresCall("LISTEN \(channel)", isKept: false), by: Deadline(in: timeout))
                isListening = true
            }
            try send(hints, on: connection)
            for hint in try connection.takeNotifications() where hint.backend != connection.backend {
                if let listener { StoreHint.read(hint.payload).forEach(listener) }
            }
            _ = connection.wait(for: Int16(POLLIN), by: Deadline(in: .seconds(60)), or: wake.reader)
            wake.drain()
        }
    }

    /// The most hints in one payload, which has room for 8,000 characters.
    private static let maxHints = 150

    private func send(_ hints: [StoreHint], on connection: PostgresConnection) throws {
        guard !hints.isEmpty else { return }
        let calls = stride(from: 0, to: hints.count, by: Self.maxHints).map { start in
            let payload = StoreHint.payload(hints[start..<min(start + Self.maxHints, hints.count)])
            return PostgresCall("SELECT pg_notify($1, $2)", [.text(channel), .text(payload)])
        }
        _ = try connection.run(calls, by: Deadline(in: timeout))
    }
}

extension StoreHint {
    /// Encodes hints as words: `1@27` is list 1 at revision 27, `1` is the presence on list 1, `~5` is a client.
    fileprivate static func payload(_ hints: some Sequence<StoreHint>) -> String {
        hints.map { hint in
            switch hint {
            case .commits(let list, let revision): "\(list)@\(revision)"
            case .presence(let list): "\(list)"
            case .client(let key): "~\(key.bits)"
            }
        }.joined(separator: " ")
    }

    /// Decodes a payload. Anybody may send a payload, so words that are not hints are skipped.
    fileprivate static func read(_ payload: String) -> [StoreHint] {
        payload.split(separator: " ").compactMap { word in
            if word.first == "~" { return UInt64(word.dropFirst()).map { .client(Key(bits: $0)) } }
            let numbers = word.split(separator: "@", omittingEmptySubsequences: false)
            guard let list = UInt64(numbers[0]).map(ListNumber.init(rawValue:)) else { return nil }
            if numbers.count == 1 { return .presence(list: list) }
            return Int(numbers[1]).map { .commits(list: list, revision: $0) }
        }
    }
}

/// Wakes a thread that waits for a socket.
final class WakePipe: Sendable {
    let reader: Int32
    private let writer: Int32

    init() {
        // Without a pipe, hints wait until something arrives on the socket, or for a minute.
        let pipe = try? SystemPipe(blocks: false)
        (reader, writer) = (pipe?.reader ?? -1, pipe?.writer ?? -1)
    }

    deinit {
        for end in [reader, writer] where end >= 0 { close(end) }
    }

    func signal() {
        var byte: UInt8 = 0
        // A full pipe wakes the thread too.
        _ = write(writer, &byte, 1)
    }

    func drain() {
        var bytes = [UInt8](repeating: 0, count: 64)
        while read(reader, &bytes, bytes.count) == bytes.count {}
    }
}

extension PostgresStore {
    package func listen(_ onHint: @escaping @Sendable (StoreHint) -> Void) { feed.listen(onHint) }

    package func tell(_ hint: StoreHint) { feed.tell([hint]) }

    package func heads(of lists: [ListNumber]) throws -> [StoredHead] {
        let sql = """
            SELECT number, name, log_id, revision, digest FROM lists JOIN names ON list = number WHERE number = ANY ($1)
            """
        return try ask(sql, .numbers(lists)) { rows in
            try rows.map { row in
                StoredHead(
                    list: try row.number(0), name: try row.text(1), logID: try row.bits(2),
                    revision: try row.integer(3),
                    digest: try row.bits(4))
            }
        }
    }
}
