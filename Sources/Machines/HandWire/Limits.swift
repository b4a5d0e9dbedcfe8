/// All limits of a server in one place. Every allocation that a client could cause is checked against a limit first.
public struct Limits: Equatable, Sendable {
    /// Simultaneous connections; further ones get `tooManyConnections` and are closed.
    public var connections = 20_000
    /// Simultaneous connections from one address; those from this machine are not counted.
    public var connectionsPerAddress = 200
    /// Failed hellos (without a valid token) from one address that are logged per minute. All get the same answer, and
    /// a hello with a valid token is always accepted.
    public var failedHellos = 20
    /// TLS handshakes with one address per second on average, with bursts of up to ten seconds' worth. Connections
    /// beyond that are closed.
    public var handshakesPerAddress = 20
    /// Bytes of one frame, without its length field.
    public var frameBytes = 8 << 20
    /// Bytes of a frame before the hello has been accepted.
    public var helloBytes = 1024
    /// Items of one list, regardless of its rules.
    public var listItems = 10_000_000
    /// Bytes of memory that the items of one list take, roughly. A list that takes more can only shrink.
    public var listBytes = 1 << 30
    /// Bytes of one item's content, regardless of the rules.
    public var itemBytes = 1 << 20
    /// Lists on the server.
    public var lists = 100_000
    /// Lists that one connection may subscribe to.
    public var subscriptions = 64
    /// Requests of one user, edits included, per second on average, with bursts of up to ten seconds' worth. A faster
    /// user is slowed down. Users on this machine without a token are exempt from this and the following limits per
    /// user.
    public var userRequests = 1_000
    /// Bytes from one user per second, with the same bursts.
    public var userBytes = 4 << 20
    /// Work of the server for one user per second, with the same bursts, as the number of components of deltas that
    /// could be examined in that time: a fifth of a processor.
    public var userWork = 2_000_000
    /// Bytes of incomplete frames from one user, on all connections; beyond that, a connection is closed.
    public var userUnfinishedBytes = 64 << 20
    /// Bytes of unsent answers to one user, on all connections, regardless of the limit for each connection; beyond
    /// that, a connection that requests more is closed.
    public var userAnswerBytes = 64 << 20
    /// Milliseconds that a user is too fast, and slowed down, before they are notified.
    public var tellingDelay: UInt64 = 5_000
    /// Milliseconds that a user is too fast before the connection is closed.
    public var tooFastDeadline: UInt64 = 60_000
    /// Subscriptions of one user on all connections; a list counts once per connection.
    public var userSubscriptions = 1_000
    /// Items of the lists that one user is subscribed to on all connections, counted at the time of subscribing: such
    /// lists stay in memory.
    public var userItems = 50_000_000
    /// Lists on the server that one user has created.
    public var userLists = 1_000
    /// Bytes of the store; beyond that, edits are rejected and no lists are created. Checked once per second.
    public var storeBytes = 64 << 30
    /// Bytes of unsent answers to a client that does not read; beyond that, the server stops reading from it.
    public var answerBytes = 1 << 20
    /// Lists at a past revision being sent to one client; beyond that, the server stops reading from it.
    public var transfers = 8
    /// Lists at past revisions in memory, for all clients. Requests for the same past revision share one list, each
    /// user gets one list at a time, and requests beyond the limit wait.
    public var pastRevisions = 4
    /// Submissions of one connection that are waiting to be written.
    public var pendingSubmissions = 64
    /// Components of deltas examined to transform one submission over the commits since its base. A submission that
    /// takes more is `stale`: its client has these commits, and submits the edit again on the newest. About 20
    /// milliseconds.
    public var submissionWork = 200_000
    /// Roughly how much work, in components, is done for one edit while everybody waits, including reading and applying
    /// the edit; each byte of it counts as one component, and so do 20 bytes of the items that it changes. A larger
    /// edit is processed in the background, and other edits of the same list wait for it.
    public var inlineWork = 20_000
    /// Bytes of encoded commits that each list keeps in memory for clients that lag or resume.
    public var windowBytes = 8 << 20
    /// Commits after which a new snapshot of a list is stored, or a quarter of its items if that is more.
    public var snapshotCommits = 1_000
    /// Commits in one page of history.
    public var historyCommits = 1_000
    /// Bytes of items in one chunk of a snapshot.
    public var chunkBytes = 64 << 10
    /// Names in one page of lists.
    public var listsPage = 500
    /// Milliseconds from accepting a connection to its hello.
    public var handshakeDeadline: UInt64 = 10_000
    /// Milliseconds without a byte from a client before it is considered gone. Clients send a ping three times as
    /// often.
    public var idleDeadline: UInt64 = 45_000
    /// The same for clients that ask for it because they cannot send more often, as in a hidden tab of a browser.
    public var longestIdleDeadline: UInt64 = 300_000
    /// Milliseconds in which a client must receive at least a sixteenth of a past revision while others wait for
    /// theirs.
    public var stallDeadline: UInt64 = 10_000
    /// Milliseconds in which a client whose connection is closed can receive what was written.
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
