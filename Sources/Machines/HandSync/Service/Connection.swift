import HandCore
import HandWire

/// One client's stream, its session, and how far it has got in each list that it follows.
///
/// Commits are never queued for a connection: it has a cursor in each list's window.
public final class Connection {
    /// Tells connections apart; in the order of their coming.
    let number: UInt64
    let stream: any ByteStream
    var session: ServerSession
    /// The client under its name, once it has said hello.
    var author: Author?
    var client: ClientID?
    /// The person's name, once it is known.
    public internal(set) var person = ""
    var access = Access.everything
    /// Whether it was counted in under its stream's address.
    var hasEntered = false
    /// Its user's account; nil if its user is not counted.
    var account: Account? {
        willSet { account?.answerBytes -= outboxBytes }
        didSet { account?.answerBytes += outboxBytes }
    }
    /// Bytes of a message that has begun to come, as they are counted in the account.
    var unfinished: UInt32 = 0
    /// Whether it is not read because its user has used up a share.
    private(set) var isSlowed = false
    /// Its hello, if that waits for a share of its user's.
    var heldHello: UpMessage.Hello?
    /// The id of its access grant; nil if there is none.
    public internal(set) var grantID: String?
    var hasPresence = false
    var cursors = CursorTable()
    /// Answers, in order, that go out before anything else.
    private var outbox: [FrameRun] = []
    private var outboxBytes = 0 {
        didSet { account?.answerBytes += outboxBytes - oldValue }
    }
    /// Lists at a past revision that were asked for and are on their way.
    var transfers: [Transfer] = []
    /// Submissions that are numbered and not yet written.
    var pendingSubmissions = 0
    /// Whether the server has it on its list of connections to flush at the end of this turn.
    var isMarked = false
    private(set) var isClosed = false
    private var closesWhenSent = false
    /// When a connection that is being closed is dropped, whether its client has read the reason or not.
    private(set) var closeDeadline: UInt64?
    private var isShutDown = false
    /// Whether a request is being carried out that takes the store; what comes behind it waits, so that a client's messages
    /// are carried out in their order, and one that asks without reading the answers is not served ahead of the others.
    private var isBusy = false
    private var backlog: [Input?] = []
    /// How many of the backlog have been handled; they are removed together.
    private var handled = 0
    private var isWorking = false
    private var isReading = true

    /// About how many bytes go to the socket at a time.
    static let burst = 256 << 10

    init(number: UInt64, stream: any ByteStream, session: ServerSession) {
        self.number = number
        self.stream = stream
        self.session = session
    }

    /// One submission less waits to be written. It may have come over an earlier connection of the client.
    func submissionEnded() {
        pendingSubmissions = max(0, pendingSubmissions - 1)
    }

    /// Whether nothing more is done for it: it is closed, or only waits for its last bytes to be taken.
    var isEnding: Bool { closesWhenSent || isClosed }

    /// What the server holds for this client: bytes of answers, messages that wait, lists being sent. For tests.
    package var held: (answerBytes: Int, messages: Int, transfers: Int) {
        (outboxBytes, backlog.count - handled, transfers.count)
    }

    /// Lists whose newest commits it has not been sent.
    var laggingCount: Int {
        cursors.indices.count {
            cursors[at: $0].snapshot != nil || cursors[at: $0].revision < cursors[at: $0].room.authority.revision
        }
    }

    /// Commits that it has not been sent, of all its lists.
    var behind: Int {
        cursors.indices.reduce(0) { sum, index in
            let cursor = cursors[at: index]
            return sum + cursor.room.authority.revision - cursor.revision
        }
    }

    // MARK: Output

    /// Whether a list is on its way to it.
    var isGettingLists: Bool { !transfers.isEmpty || cursors.indices.contains { cursors[at: $0].snapshot != nil } }

    var isWriting: Bool { stream.isWriting }
    /// The other end, for people.
    public var peerDescription: String { stream.peerDescription }

    /// Nothing may follow the error that ends the connection, not even the answer to an earlier request.
    func enqueue(_ run: FrameRun) {
        guard !isEnding, !run.range.isEmpty else { return }
        outbox.append(run)
        outboxBytes += run.range.count
        adjustReading()
    }

    /// Whether the client is read: not while a request of its is being carried out, nor while it does not read its answers.
    private var mayRead: Bool { !isBusy && !isSlowed && backlog.isEmpty && hasRoom }

    /// Whether answers to one more request may wait for this client.
    private var hasRoom: Bool {
        outboxBytes <= session.limits.answerBytes && transfers.count < session.limits.transfers
            && !(stream.isWriting && !transfers.isEmpty)
    }

    private func adjustReading() {
        guard !closesWhenSent, !isClosed, isReading != mayRead else { return }
        isReading = mayRead
        if isReading { stream.resumeReading() } else { stream.stopReading() }
    }

    // MARK: Input

    /// What a client has sent.
    enum Input {
        case message(UpMessage)
        /// The body of a message that is still to be read.
        case body([UInt8])
    }

    /// Takes a message: it is handled now, or when those before it have been.
    ///
    /// - Parameter isNext: it comes before those that wait, as it was begun before them.
    func take(_ input: Input, isNext: Bool = false, handle: (Input) -> Void) {
        guard !isEnding else { return }
        backlog.insert(input, at: isNext ? handled : backlog.count)
        work(handle)
    }

    /// Handles what waits, as far as possible. Handling may end at once and call this again; the loop then goes on here, so
    /// that the stack does not grow with the backlog.
    func work(_ handle: (Input) -> Void) {
        guard !isWorking else { return }
        isWorking = true
        while mayHandle, let input = backlog[handled].take() {
            handled += 1
            handle(input)
        }
        if handled >= backlog.count {
            backlog = []
            handled = 0
        }
        isWorking = false
        adjustReading()
    }

    private var mayHandle: Bool {
        !isBusy && !isSlowed && !isEnding && handled < backlog.count && hasRoom
    }

    /// Whether the server does not read from it, for reasons of its own.
    var isUnheard: Bool { isBusy || isSlowed }

    /// A request that takes the store begins or has ended.
    func setBusy(_ isBusy: Bool) {
        self.isBusy = isBusy
    }

    /// Its user has used up a share, or has one again.
    func setSlowed(_ isSlowed: Bool) {
        self.isSlowed = isSlowed
        adjustReading()
    }

    /// Ends the stream once all that was enqueued has been taken by the kernel. The client closes when it has read that.
    func closeWhenSent(by deadline: UInt64) {
        closesWhenSent = true
        closeDeadline = deadline
        stream.stopReading()
        for index in cursors.indices { cursors[at: index].snapshot = nil }
        transfers = []
        backlog = []
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        transfers = []
        outbox = []
        outboxBytes = 0
        backlog = []
        stream.close()
    }

    /// Sends what there is, as much as the socket takes in one write.
    ///
    /// - Parameter read: is asked for commits that are no longer in a list's window.
    func flush(chunkBytes: Int, read: (Connection, UInt64) -> Void) -> Flushed {
        var flushed = Flushed()
        guard !isClosed, !stream.isWriting else { return flushed }
        flushed.buffers = outbox
        outbox = []
        outboxBytes = 0
        if !closesWhenSent { gather(&flushed, chunkBytes: chunkBytes, read) }
        if !flushed.buffers.isEmpty, !stream.write(flushed.buffers) {
            flushed.hasMore = false
            return flushed
        }
        finishIfSent()
        return flushed
    }

    /// What is sent in one write.
    struct Flushed {
        fileprivate var buffers: [FrameRun] = []
        /// Bytes among it that were made for this connection alone, but for answers.
        fileprivate(set) var ownBytes = 0
        /// Commits among it that came from memory.
        fileprivate(set) var commits = 0
        /// Whether there is more to send at once.
        fileprivate(set) var hasMore = false

        var bytes: Int { buffers.reduce(0) { $0 + $1.range.count } }

        /// Whether enough is made for this connection alone: a client that does not read makes the server hold no more.
        fileprivate func isFull(_ chunkBytes: Int) -> Bool { ownBytes >= chunkBytes }

        fileprivate mutating func add(_ frame: [UInt8]) {
            buffers.append(FrameRun(frame))
            ownBytes += frame.count
        }
    }

    private func gather(_ flushed: inout Flushed, chunkBytes: Int, _ read: (Connection, UInt64) -> Void) {
        if !transfers.isEmpty {
            flushed.add(transfers[0].next(about: chunkBytes))
            if transfers[0].isDone { transfers.removeFirst() }
            flushed.hasMore = true
        }
        var behind: Int?
        for index in cursors.indices {
            if cursors[at: index].isBehind {
                behind = behind ?? index
            } else {
                Self.gather(&cursors[at: index], &flushed, chunkBytes: chunkBytes)
            }
        }
        // One after the other: what was read is held until it is sent.
        if let behind, !cursors.indices.contains(where: { cursors[at: $0].isReading }) {
            cursors[at: behind].isReading = true
            read(self, cursors[at: behind].room.list.number)
        }
        if !outbox.isEmpty { flushed.hasMore = true }
    }

    /// What one list has for this connection.
    private static func gather(_ cursor: inout Cursor, _ flushed: inout Flushed, chunkBytes: Int) {
        if let snapshot = cursor.snapshot {
            flushed.hasMore = true
            if flushed.isFull(chunkBytes) { return }
            flushed.add(snapshot.next(about: chunkBytes))
            if snapshot.isDone { cursor.snapshot = nil }
        } else if !cursor.isReading, cursor.revision < cursor.room.authority.revision {
            let (runs, revision) = cursor.room.authority.frames(after: cursor.revision, about: burst)
            flushed.buffers += runs
            flushed.commits += revision - cursor.revision
            cursor.revision = revision
            if revision < cursor.room.authority.revision { flushed.hasMore = true }
        }
        gatherPresence(&cursor, &flushed, chunkBytes: chunkBytes)
    }

    /// Who has moved, come or gone since the client was told, as far as it is time to tell it.
    private static func gatherPresence(_ cursor: inout Cursor, _ flushed: inout Flushed, chunkBytes: Int) {
        let room = cursor.room
        guard cursor.presence.told < cursor.presence.owed, !cursor.presence.isLost(room.presence) else { return }
        while cursor.presence.told < cursor.presence.owed, !flushed.isFull(chunkBytes) {
            let (entries, end) = room.presence.entries(
                after: cursor.presence.told, through: cursor.presence.owed, knownGone: cursor.presence.knownGone,
                atMost: Service.presencePage)
            if !entries.isEmpty { flushed.add(DownMessage.presence(list: room.list.number, entries).frame) }
            cursor.presence.told = end
        }
        if cursor.presence.told < cursor.presence.owed { flushed.hasMore = true }
    }

    /// It is time to tell its client of the changes of a list's presence since the ones that were told last.
    ///
    /// - Parameter frame: tells them, and is the same for everybody; nil if it would be too large.
    /// - Returns: false if its client knows of people of whom nobody remembers by now that they have gone.
    func owePresence(of room: Room, since before: Int, _ frame: FrameRun?) -> Bool {
        guard let index = cursors.index(of: room.list.number) else { return true }
        if cursors[at: index].presence.isLost(room.presence) { return false }
        cursors[at: index].presence.owed = room.presence.taken
        guard let frame, cursors[at: index].presence.told >= before, !isWriting else { return true }
        cursors[at: index].presence.told = room.presence.taken
        enqueue(frame)
        return true
    }

    /// The kernel has taken what was written.
    func drained() {
        finishIfSent()
    }

    /// Ends the stream after the last byte. What the client still sends is read and forgotten: closing on unread bytes would
    /// reset the connection, and the reason might be lost on its way.
    private func finishIfSent() {
        guard closesWhenSent, outbox.isEmpty, !stream.isWriting, !isClosed, !isShutDown else { return }
        isShutDown = true
        stream.shutdown()
        stream.resumeReading()
    }
}
