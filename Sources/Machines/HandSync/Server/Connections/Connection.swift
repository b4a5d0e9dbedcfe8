import HandCore
import HandWire

/// One client's stream, its session, and how far it has got in each list that it follows.
///
/// Commits are never queued for a connection: it has a cursor in each list's window.
///
/// Accesses to a connection never overlap: it is used on one thread, and no function that it calls during a change
/// calls the connection back. So the runtime need not check for overlaps, which would take a tenth of the cost of a
/// commit.
package final class Connection {
    /// Tells connections apart. Later ones have higher ids.
    package let id: ConnectionID
    // The fields that each delivery touches are next to each other, so that they take few cache lines.
    // Small fields stand where the field before them leaves room, because an idle connection must take little memory.
    package let stream: any ByteStream
    @exclusivity(unchecked) var cursors = CursorTable()
    @exclusivity(unchecked) var outbox = Outbox()
    /// The number of submissions that are numbered and not yet written.
    @exclusivity(unchecked) private(set) var pendingSubmissions: UInt32 = 0
    @exclusivity(unchecked) package private(set) var phase = Phase.open
    /// Whether the connection was counted under its stream's address.
    var hasEntered = false
    /// Whether the store does not know its author yet. The author becomes known with the first commit.
    @exclusivity(unchecked) private(set) var isNewcomer = false
    @exclusivity(unchecked) var session: ServerSession
    @exclusivity(unchecked) private var identity = Identity.unknown
    /// The person's name, once it is known.
    package private(set) var person = ""
    @exclusivity(unchecked) var access = Access.everything
    /// Bytes of a message that has begun to come, as they are counted in the account.
    var unfinished: UInt32 = 0
    @exclusivity(unchecked) var intake = Intake()
    @exclusivity(unchecked) private(set) var pace = Pace.free
    /// Its user's account; nil if its user is not counted.
    @exclusivity(unchecked) var account: Account? {
        willSet { account?.answerBytes -= outbox.bytes }
        didSet { account?.answerBytes += outbox.bytes }
    }

    /// How far the end of the connection has come. The transitions, which a test compares with the code:
    ///
    ///     | what happens           | open    | closing  | shutDown | closed |
    ///     | the server ends it     | closing | closing  | shutDown | closed |
    ///     | the last byte is taken | open    | shutDown | shutDown | closed |
    ///     | the client hangs up    | closed  | closed   | closed   | closed |
    ///     | the deadline passes    | open    | closed   | closed   | closed |
    package enum Phase: Sendable {
        case open
        /// Its last bytes wait to be taken. It is dropped at `deadline`, even if its client has not read the reason.
        case closing(ErrorCode, deadline: UInt64)
        /// The last bytes were taken. The client closes when it has read them; the connection is dropped at the
        /// deadline. `ignored` is the number of bytes of input that were ignored since.
        case shutDown(deadline: UInt64, ignored: UInt32)
        case closed
    }

    package init(id: ConnectionID, stream: any ByteStream, session: ServerSession) {
        self.id = id
        self.stream = stream
        self.session = session
    }

    /// Its number, for people: the server's first connection has number 1.
    package var number: UInt64 { id.rawValue >> ConnectionID.placeBits }

    // MARK: Who it is

    private enum Identity {
        case unknown
        case client(ClientID)
        case author(Author, ClientID)
    }

    /// The client under its name, once that is known.
    var author: Author? { if case .author(let author, _) = identity { author } else { nil } }

    /// Whether its client was welcomed.
    package var isLetIn: Bool { author != nil }

    /// The client, once it has said hello.
    var client: ClientID? {
        switch identity {
        case .unknown: nil
        case .client(let client), .author(_, let client): client
        }
    }

    /// Records who says hello, and what the user may do.
    func admit(_ hello: UpMessage.Hello, _ grant: Grant) {
        access = grant.access
        identity = .client(hello.client)
        person = grant.access.person(saying: hello.person)
    }

    func identify(as author: Author, isNewcomer: Bool) {
        if let client { identity = .author(author, client) }
        self.isNewcomer = isNewcomer
    }

    /// Records that an author is in the store from now on.
    func authorStored(_ stored: Author) {
        if author == stored { isNewcomer = false }
    }

    /// The newcomer that is stored together with the first commit; nil if the author is in the store already.
    var newcomer: Newcomer? {
        guard isNewcomer, case .author(let author, let client) = identity else { return nil }
        return Newcomer(author, client: client, person: person)
    }

    /// Records that one more submission waits to be written.
    func submissionNumbered() { pendingSubmissions += 1 }

    /// Records that one submission fewer waits to be written.
    func submissionEnded() { pendingSubmissions -= 1 }

    // MARK: What it holds

    /// What the server holds for this client: bytes of answers, messages that wait, lists being sent.
    package var held: (answerBytes: Int, messages: Int, transfers: Int) {
        (outbox.bytes, intake.count, outbox.transfers.count)
    }

    /// The number of lists whose newest commits were not sent to the client yet.
    var laggingCount: Int {
        cursors.indices.count {
            cursors[at: $0].snapshot != nil || cursors[at: $0].revision < cursors[at: $0].hosted.authority.revision
        }
    }

    /// The number of commits, of all its lists, that were not sent to the client yet.
    var behind: Int {
        cursors.indices.reduce(0) { sum, index in
            let cursor = cursors[at: index]
            return sum + cursor.hosted.authority.revision - cursor.revision
        }
    }

    /// Whether a list is on its way to the client.
    var isGettingLists: Bool {
        !outbox.transfers.isEmpty || cursors.indices.contains { cursors[at: $0].snapshot != nil }
    }

    /// The other end, for people.
    package var peerDescription: String { stream.peerDescription }

    package var requester: Requester { Requester(peer: peerDescription, person: person, tokenID: access.tokenID) }

    func setPace(_ pace: Pace) {
        self.pace = pace
        adjustReading()
    }

    // MARK: Ending

    var isClosed: Bool { if case .closed = phase { true } else { false } }

    /// Whether nothing more is done for it: it is closed, or only waits for its last bytes to be taken.
    var isEnding: Bool { if case .open = phase { false } else { true } }

    /// When a connection that is being closed is dropped.
    var closeDeadline: UInt64? {
        switch phase {
        case .open, .closed: nil
        case .closing(_, let deadline), .shutDown(let deadline, _): deadline
        }
    }

    /// Ends the stream once the kernel has taken everything in the outbox. The client closes when it has read
    /// everything.
    func closeWhenSent(_ code: ErrorCode, by deadline: UInt64) {
        phase = .closing(code, deadline: deadline)
        stream.stopReading()
        for index in cursors.indices { cursors[at: index].snapshot = nil }
        outbox.transfers = []
        intake.removeAll()
    }

    func close() {
        guard !isClosed else { return }
        phase = .closed
        outbox.transfers = []
        _ = takeAnswers()
        intake.removeAll()
        stream.close()
    }

    /// Ends the stream after the last byte. From then on, input is read and ignored: closing a socket with unread input
    /// would reset the connection, and the client might not get the reason.
    func finishIfSent() {
        guard case .closing(let code, let deadline) = phase, outbox.answers.isEmpty, !stream.isWriting else { return }
        phase = .shutDown(deadline: deadline, ignored: 0)
        stream.shutdown(because: code)
        stream.resumeReading()
    }

    /// Ignores input. Only as much input is read as may have been under way when the client was told (`maxIgnored`);
    /// further input waits for the deadline.
    func ignore(_ bytes: Int) {
        guard case .shutDown(let deadline, var ignored) = phase else { return }
        ignored += UInt32(bytes)
        phase = .shutDown(deadline: deadline, ignored: ignored)
        if ignored >= Self.maxIgnored { stream.stopReading() }
    }

    package static let maxIgnored = 64 << 10
}
