/// Every bound of a server in one place. A limit stands before each allocation that a client could cause.
public struct Limits: Equatable, Sendable {
    /// Connections at one time; further ones are told `tooManyConnections` and closed.
    public var connections = 20_000
    /// Connections from one address at a time; those from this machine are not counted.
    public var connectionsPerAddress = 200
    /// Hellos without a valid token from one address within a minute that are written down. All get the same answer, and a valid
    /// token always gets in.
    public var failedHellos = 20
    /// TLS handshakes with one address in a second: on average, and those of ten seconds at once. Who wants more is closed.
    public var handshakesPerAddress = 20
    /// Bytes of one frame, from its type to its end.
    public var frameBytes = 8 << 20
    /// Bytes of a frame before the hello has been accepted.
    public var helloBytes = 1024
    /// Items of one list, whatever its rules say.
    public var listItems = 10_000_000
    /// Bytes of one item's content, whatever the rules say.
    public var itemBytes = 1 << 20
    /// Lists on the server.
    public var lists = 100_000
    /// Lists that one connection may be subscribed to.
    public var subscriptions = 64
    /// Requests of one user in a second, edits among them: on average, and those of ten seconds at once. Who is faster is slowed
    /// down. Who is on this machine without a token is not counted, here and in what follows of one user.
    public var userRequests = 1_000
    /// Bytes from one user in a second, likewise.
    public var userBytes = 4 << 20
    /// What the server does for one user in a second, likewise, in components of deltas that could be looked at in the same time:
    /// a fifth of a processor.
    public var userWork = 2_000_000
    /// Bytes of frames that one user has begun and not finished, on all connections; beyond that one is closed.
    public var userUnfinishedBytes = 64 << 20
    /// Bytes of answers that may wait for one user, on all connections, whatever each may leave unread; beyond that one that asks
    /// for more is closed.
    public var userAnswerBytes = 64 << 20
    /// Milliseconds that somebody is too fast, and slowed down, before they are told.
    public var tellingDelay: UInt64 = 5_000
    /// Milliseconds that somebody is too fast before the connection is closed.
    public var tooFastDeadline: UInt64 = 60_000
    /// Lists that all connections of one user may be subscribed to, each counted once for each.
    public var userSubscriptions = 1_000
    /// Items of the lists that all connections of one user are subscribed to, counted when each subscribes: such lists stay in
    /// memory.
    public var userItems = 50_000_000
    /// Lists on the server that one user has made.
    public var userLists = 1_000
    /// Bytes that the store may take; then edits are rejected and lists are not made. Looked at once a second.
    public var storeBytes = 64 << 30
    /// Bytes of answers that may wait for a client that does not read; then nothing more is read from it.
    public var answerBytes = 1 << 20
    /// Lists at a past revision that may be on their way to one client; then nothing more is read from it.
    public var transfers = 8
    /// Lists at past revisions in memory at a time, for all clients: those who ask for the same one share it, each user has
    /// one, and who asks beyond that waits.
    public var pastRevisions = 4
    /// Submissions of one connection that may wait to be written.
    public var pendingSubmissions = 64
    /// Components of deltas that are looked at to carry one submission over the commits since its base; one that takes more is
    /// `stale`: its client has those commits, and submits it anew on the newest. About 20 milliseconds.
    public var submissionWork = 200_000
    /// About how much of that is done for one edit while everybody waits, reading and making it included, where a byte counts as
    /// one. A larger edit is made aside, and other edits of the same list wait for it.
    public var inlineWork = 20_000
    /// Bytes of encoded commits that each list keeps in memory for those who lag or resume.
    public var windowBytes = 8 << 20
    /// Commits after which a list is kept as a whole again, or a quarter of its items if that is more.
    public var snapshotCommits = 1_000
    /// Commits in one page of history.
    public var historyCommits = 1_000
    /// Bytes of items in one chunk of a snapshot.
    public var chunkBytes = 64 << 10
    /// Names in one page of lists.
    public var listsPage = 500
    /// Milliseconds from the accepting of a connection to its hello.
    public var handshakeDeadline: UInt64 = 10_000
    /// Milliseconds without a byte from a client before it counts as gone. Clients send a ping three times as often.
    public var idleDeadline: UInt64 = 45_000
    /// Milliseconds in which somebody takes a sixteenth of a past revision at least, while others wait for theirs.
    public var stallDeadline: UInt64 = 10_000
    /// Milliseconds that a closing server gives its clients to take what is written.
    public var drainDeadline: UInt64 = 3_000
    /// Milliseconds between two presence frames of one list.
    public var presenceInterval: UInt64 = 100
    /// Milliseconds that a list without subscribers stays in memory.
    public var unloadDelay: UInt64 = 60_000

    public init() {}

    /// Selections in one request for an excerpt.
    public static let selections = 1_000

    /// Bytes of a list's name.
    public static let nameBytes = 128
    /// Bytes of a person's name, and of a program's.
    public static let personBytes = 64
    /// Bytes of a token.
    public static let tokenBytes = 128
}
