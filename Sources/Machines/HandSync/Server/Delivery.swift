import HandCore
import HandWire

/// Who gets what at the end of a turn.
///
/// Nearly all subscribers of a list get the same bytes, its newest commits, and nothing else: these bytes go out by
/// `deliver`. All other output goes out by `flush`, which puts it together for one connection.
struct Delivery {
    private let chunkBytes: Int
    /// Lists with commits that their subscribers get at the end of this turn, each once.
    private var news: [ListMachine] = []
    /// Other connections that may have output at the end of this turn.
    private var marked: [Connection] = []
    /// Marked connections that get whole lists. The first to wait comes first.
    private var receiving = Queue<Connection>()
    /// The newest commits of one list, while its subscribers get them; a reused buffer.
    private var latest: [FrameRun] = []
    /// The output that is sent to a connection; a reused buffer. Afterwards it tells what was sent.
    private(set) var output = Connection.Output()

    /// Lists whose changed presence is to be sent.
    private var listsWithNewPresence: Set<ListNumber> = []
    private let presenceInterval: UInt64
    /// When changed presence is to be sent.
    private(set) var presenceDue: UInt64?

    init(_ limits: Limits) { (chunkBytes, presenceInterval) = (limits.chunkBytes, limits.presenceInterval) }

    /// Whether nothing is to be sent in this turn.
    var isIdle: Bool { news.isEmpty && !hasMore }
    /// Whether another turn must follow at once.
    var hasMore: Bool { !marked.isEmpty || !receiving.isEmpty }

    /// Schedules a connection's output to be sent at the end of this turn.
    mutating func mark(_ connection: Connection) {
        guard !connection.outbox.isMarked, !connection.isClosed else { return }
        connection.outbox.isMarked = true
        marked.append(connection)
    }

    /// Schedules a list's commits to be sent to its subscribers at the end of this turn.
    mutating func publish(_ hosted: ListMachine) {
        guard !hosted.hasNews else { return }
        hosted.hasNews = true
        news.append(hosted)
    }

    // MARK: Presence

    /// Schedules a list's changed presence for the end of the interval. Returns false if that was done already.
    mutating func announce(_ list: ListNumber, now: UInt64) -> Bool {
        if listsWithNewPresence.isEmpty { presenceDue = now + presenceInterval }
        return listsWithNewPresence.insert(list).inserted
    }

    /// Returns the lists whose changed presence is to be sent now, in ascending order.
    mutating func takeAnnounced() -> [ListNumber] {
        defer { (listsWithNewPresence, presenceDue) = ([], nil) }
        return listsWithNewPresence.sorted()
    }

    // MARK: Lists

    /// Sends the newest commits of all lists that have some. Subscribers that get something else as well are marked.
    ///
    /// - Returns: the bytes that were sent, and the commits, each counted once for each subscriber.
    mutating func deliver() -> (bytes: Int, commits: Int) {
        var sent = (bytes: 0, commits: 0)
        while let hosted = news.popLast() {
            hosted.hasNews = false
            let (count, bytes, commits) = deliver(hosted)
            sent.bytes += count * bytes
            sent.commits += count * commits
        }
        return sent
    }

    private mutating func deliver(_ hosted: ListMachine) -> (count: Int, bytes: Int, commits: Int) {
        guard let newest = hosted.authority.latest else {
            for connection in hosted.subscribers { mark(connection) }
            return (0, 0, 0)
        }
        latest.append(newest.run)
        let revision = hosted.authority.revision
        var count = 0
        for connection in hosted.subscribers where !connection.outbox.isMarked {
            if connection.awaitsOnly(commitsAfter: newest.base) {
                connection.write(latest, upTo: revision)
                count += 1
            } else {
                mark(connection)
            }
        }
        latest.clear()
        return (count, newest.run.range.count, revision - newest.base)
    }

    // MARK: Connections

    /// Returns the marked connections. What is marked from now on has its turn next.
    mutating func takeMarked() -> [Connection] { exchange(&marked, with: []) }

    /// Lets a marked connection wait if it gets whole lists. Only a few chunks are sent in a turn, so that commits need
    /// not wait for many chunks.
    mutating func waitsForChunks(_ connection: Connection) -> Bool {
        guard connection.isGettingLists, !connection.isSlowed else { return false }
        receiving.append(connection)
        return true
    }

    /// Returns the next connection that gets a chunk in this turn; nil if there is none, or enough was made.
    ///
    /// - Parameter made: the bytes of chunks that were made in this turn.
    mutating func nextReceiver(after made: Int) -> Connection? {
        made < chunkBytes ? receiving.next() : nil
    }

    /// Sends a connection its waiting output. Afterwards `output` tells what was sent.
    mutating func flush(_ connection: Connection) {
        connection.outbox.isMarked = false
        connection.flush(&output, chunkBytes: chunkBytes)
        if output.hasMore { mark(connection) }
    }

    /// Frees the output now, instead of holding it until something else is sent.
    mutating func endTurn() { if !output.runs.isEmpty { output.removeAll() } }
}
