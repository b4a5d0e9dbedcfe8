import HandCore
import HandWire

/// One client's stream, its session, and how far it has got in each list that it follows.
///
/// Commits are never queued for a connection: it has a cursor in each list's window.
///
/// The run time need not check that accesses to what it holds do not overlap: it is used on one thread, and nothing that it
/// calls while it changes something calls it back. The checks would be a tenth of what a commit costs.
package final class Connection {
    /// Tells connections apart; in the order of their coming.
    let number: UInt64
    let stream: any ByteStream
    @exclusivity(unchecked) var session: ServerSession
    /// The client under its name, once it has said hello.
    @exclusivity(unchecked) var author: Author?
    var client: ClientID?
    /// The person's name, once it is known.
    package internal(set) var person = ""
    var access = Access.everything
    /// Whether it was counted in under its stream's address.
    var hasEntered = false
    /// Its user's account; nil if its user is not counted.
    @exclusivity(unchecked) var account: Account? {
        willSet { account?.answerBytes -= outboxBytes }
        didSet { account?.answerBytes += outboxBytes }
    }
    /// Bytes of a message that has begun to come, as they are counted in the account.
    var unfinished: UInt32 = 0
    /// Whether it is not read because its user has used up a share.
    @exclusivity(unchecked) private(set) var isSlowed = false
    /// Its hello, if that waits for a share of its user's.
    var heldHello: UpMessage.Hello?
    /// The id of its access grant; nil if there is none.
    package internal(set) var grantID: String?
    var hasPresence = false
    /// Whether it compares its lists' digests when it comes back.
    var hasDigest = false
    @exclusivity(unchecked) var cursors = CursorTable()
    /// Answers, in order, that go out before anything else.
    @exclusivity(unchecked) private var outbox: [FrameRun] = []
    @exclusivity(unchecked) private var outboxBytes = 0 {
        didSet { account?.answerBytes += outboxBytes - oldValue }
    }
    /// Lists at a past revision that were asked for and are on their way.
    @exclusivity(unchecked) var transfers: [Transfer] = []
    /// Submissions that are numbered and not yet written.
    @exclusivity(unchecked) var pendingSubmissions = 0
    /// Whether the server has it on its list of connections to flush at the end of this turn.
    @exclusivity(unchecked) var isMarked = false
    @exclusivity(unchecked) private var phase = Phase.open
    @exclusivity(unchecked) private var backlog = Backlog()
    /// Whether a request is being carried out that takes the store; what comes behind it waits, so that a client's messages
    /// are carried out in their order, and one that asks without reading the answers is not served ahead of the others.
    @exclusivity(unchecked) private var isBusy = false
    @exclusivity(unchecked) private var isReading = true

    /// How far its end has come.
    private enum Phase {
        case open
        /// Its last bytes wait to be taken. It is dropped at `deadline`, whether its client has read the reason or not.
        case closing(deadline: UInt64)
        /// They have been taken; the client closes when it has read them, or at the deadline.
        case shutDown(deadline: UInt64)
        case closed
    }

    init(number: UInt64, stream: any ByteStream, session: ServerSession) {
        self.number = number
        self.stream = stream
        self.session = session
    }

    var isClosed: Bool { if case .closed = phase { true } else { false } }

    /// Whether nothing more is done for it: it is closed, or only waits for its last bytes to be taken.
    var isEnding: Bool { if case .open = phase { false } else { true } }

    /// When a connection that is being closed is dropped.
    var closeDeadline: UInt64? {
        switch phase {
        case .open, .closed: nil
        case .closing(let deadline), .shutDown(let deadline): deadline
        }
    }

    /// One submission less waits to be written. It may have come over an earlier connection of the client.
    func submissionEnded() {
        pendingSubmissions = max(0, pendingSubmissions - 1)
    }

    /// What the server holds for this client: bytes of answers, messages that wait, lists being sent. For tests.
    package var held: (answerBytes: Int, messages: Int, transfers: Int) {
        (outboxBytes, backlog.count, transfers.count)
    }

    /// Lists whose newest commits it has not been sent.
    var laggingCount: Int {
        cursors.indices.count {
            cursors[at: $0].snapshot != nil || cursors[at: $0].revision < cursors[at: $0].hosted.authority.revision
        }
    }

    /// Commits that it has not been sent, of all its lists.
    var behind: Int {
        cursors.indices.reduce(0) { sum, index in
            let cursor = cursors[at: index]
            return sum + cursor.hosted.authority.revision - cursor.revision
        }
    }

    /// Whether a list is on its way to it.
    var isGettingLists: Bool { !transfers.isEmpty || cursors.indices.contains { cursors[at: $0].snapshot != nil } }

    /// The other end, for people.
    package var peerDescription: String { stream.peerDescription }

    package var requester: Requester { Requester(peer: peerDescription, person: person, grantID: grantID) }

    // MARK: Reading

    /// Whether the client is read: not while a request of its is being carried out, nor while it does not read its answers.
    private var mayRead: Bool { backlog.isEmpty && mayHandle }

    private var mayHandle: Bool { !isBusy && !isSlowed && !isEnding && hasRoom }

    /// Whether answers to one more request may wait for this client.
    private var hasRoom: Bool {
        outboxBytes <= session.limits.answerBytes
            && (transfers.isEmpty || transfers.count < session.limits.transfers && !stream.isWriting)
    }

    private func adjustReading() {
        guard !isEnding, isReading != mayRead else { return }
        isReading = mayRead
        if isReading { stream.resumeReading() } else { stream.stopReading() }
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
        if backlog.isIdle, mayHandle {
            backlog.isWorking = true
            handle(input)
            backlog.isWorking = false
        } else {
            backlog.add(input, isNext: isNext)
        }
        work(handle)
    }

    /// Handles what waits, as far as possible. Handling may end at once and call this again; the loop then goes on here, so
    /// that the stack does not grow with the backlog.
    func work(_ handle: (Input) -> Void) {
        guard !backlog.isWorking else { return }
        backlog.isWorking = true
        while mayHandle, let input = backlog.next() { handle(input) }
        backlog.isWorking = false
        adjustReading()
    }

    /// Messages that wait for those before them to be carried out.
    private struct Backlog {
        private var inputs: [Input?] = []
        /// How many of them have been handled; they are removed together.
        private var handled = 0
        /// Whether one is being handled right now.
        var isWorking = false

        var count: Int { inputs.count - handled }
        var isEmpty: Bool { inputs.isEmpty }
        /// Whether nothing waits, and nothing is being handled.
        var isIdle: Bool { inputs.isEmpty && !isWorking }

        mutating func add(_ input: Input, isNext: Bool) {
            inputs.insert(input, at: isNext ? handled : inputs.count)
        }

        mutating func next() -> Input? {
            guard handled < inputs.count else { return nil }
            let input = inputs[handled].take()
            handled += 1
            if handled == inputs.count {
                inputs = []
                handled = 0
            }
            return input
        }

        mutating func removeAll() {
            inputs = []
            handled = 0
        }
    }

    // MARK: Output

    /// Nothing may follow the error that ends the connection, not even the answer to an earlier request.
    func enqueue(_ run: FrameRun) {
        guard !isEnding, !run.range.isEmpty else { return }
        outbox.append(run)
        outboxBytes += run.range.count
        adjustReading()
    }

    /// Sends what there is, as much as the socket takes in one write.
    ///
    /// - Parameters:
    ///   - output: memory to put it together in; afterwards it tells what was sent.
    ///   - read: is asked for commits that are no longer in a list's window.
    func flush(_ output: inout Output, chunkBytes: Int, read: (Connection, UInt64) -> Void) {
        output.removeAll()
        guard !isClosed, !stream.isWriting else { return }
        if !outbox.isEmpty {
            output.add(outbox)
            outbox = []
            outboxBytes = 0
        }
        if !isEnding { gather(&output, chunkBytes: chunkBytes, read) }
        if !outbox.isEmpty { output.hasMore = true }
        if !output.runs.isEmpty, !stream.write(output.runs) {
            output.hasMore = false
        } else if isEnding {
            finishIfSent()
        }
    }

    /// It is time to tell its client of the changes of a list's presence since the ones that were told last.
    ///
    /// - Parameter frame: tells them, and is the same for everybody; nil if it would be too large.
    /// - Returns: false if its client knows of people of whom nobody remembers by now that they have gone.
    func owePresence(of hosted: HostedList, since before: Int, _ frame: FrameRun?) -> Bool {
        guard let index = cursors.index(of: hosted.list.number) else { return true }
        if cursors[at: index].presence.isLost(hosted.presence) { return false }
        cursors[at: index].presence.owed = hosted.presence.taken
        guard let frame, cursors[at: index].presence.told >= before, !stream.isWriting else { return true }
        cursors[at: index].presence.told = hosted.presence.taken
        enqueue(frame)
        return true
    }

    // MARK: Ending

    /// Ends the stream once all that was enqueued has been taken by the kernel. The client closes when it has read that.
    func closeWhenSent(by deadline: UInt64) {
        phase = .closing(deadline: deadline)
        stream.stopReading()
        for index in cursors.indices { cursors[at: index].snapshot = nil }
        transfers = []
        backlog.removeAll()
    }

    func close() {
        guard !isClosed else { return }
        phase = .closed
        transfers = []
        outbox = []
        outboxBytes = 0
        backlog.removeAll()
        stream.close()
    }

    /// The kernel has taken what was written.
    func drained() {
        finishIfSent()
    }

    /// Ends the stream after the last byte. What the client still sends is read and forgotten: closing on unread bytes would
    /// reset the connection, and the reason might be lost on its way.
    private func finishIfSent() {
        guard case .closing(let deadline) = phase, outbox.isEmpty, !stream.isWriting else { return }
        phase = .shutDown(deadline: deadline)
        stream.shutdown()
        stream.resumeReading()
    }
}
