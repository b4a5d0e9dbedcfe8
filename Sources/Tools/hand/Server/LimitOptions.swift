import ArgumentParser
import HandWire

/// Every bound of a server that is a number; `Limits` says what they mean.
struct LimitOptions: ParsableArguments {
    @Option(help: "Connections at one time.") var maxConnections = Limits().connections
    @Option(help: "Connections from one address, this machine's own aside.")
    var maxConnectionsPerAddress = Limits().connectionsPerAddress
    @Option(help: "Wrong tokens from one address in a minute that are written down.")
    var maxFailures = Limits().failedHellos
    @Option(help: "TLS handshakes with one address in a second; ten times as many at once.")
    var maxHandshakes = Limits().handshakesPerAddress
    @Option(help: "Bytes of one frame.") var maxFrame = Limits().frameBytes
    @Option(help: "Bytes of a frame before the hello is accepted.") var maxHello = Limits().helloBytes
    @Option(help: "Items of one list.") var maxItems = Limits().listItems
    @Option(help: "Bytes of one item.") var maxItemSize = Limits().itemBytes
    @Option(help: "Lists on the server.") var maxLists = Limits().lists
    @Option(help: "Lists that one connection follows.") var maxSubscriptions = Limits().subscriptions
    @Option(
        help:
            "Requests of one user in a second, edits among them. Here and below, this machine's guests are not counted."
    )
    var maxUserRequests = Limits().userRequests
    @Option(help: "Bytes from one user in a second.") var maxUserBytes = Limits().userBytes
    @Option(
        help: "Steps of work for one user in a second: parts of edits that are looked at, about 100 nanoseconds each.")
    var maxUserWork = Limits().userWork
    @Option(help: "Steps of work for one edit that was made long ago; beyond, its client has to catch up first.")
    var maxEditWork = Limits().submissionWork
    @Option(help: "Steps of work for one edit that everybody waits for; a larger one is made on a thread of its own.")
    var inlineWork = Limits().inlineWork
    @Option(help: "Bytes of messages that one user has begun to send.")
    var maxUserUnfinished = Limits().userUnfinishedBytes
    @Option(help: "Bytes of answers that wait for one user.") var maxUserAnswers = Limits().userAnswerBytes
    @Option(help: "Lists that all connections of one user follow.")
    var maxUserSubscriptions = Limits().userSubscriptions
    @Option(help: "Items of all lists that one user's connections follow, which stay in memory.")
    var maxUserItems = Limits().userItems
    @Option(help: "Lists that one user has made.") var maxUserLists = Limits().userLists
    @Option(help: "Bytes of the store, at which edits are no longer taken.") var maxStore = Limits().storeBytes
    @Option(help: "Bytes of answers that wait for one client, at which it is no longer read.")
    var maxAnswers = Limits().answerBytes
    @Option(help: "Past states on their way to one client, at which it is no longer read.")
    var maxTransfers = Limits().transfers
    @Option(help: "Past states in memory for all clients; who asks beyond that waits.")
    var maxPastRevisions = Limits().pastRevisions
    @Option(help: "Edits of one connection that wait to be written.") var maxPending = Limits().pendingSubmissions
    @Option(help: "Bytes of commits kept in memory for each list.") var window = Limits().windowBytes
    @Option(help: "Commits after which a list is kept as a whole again, or a quarter of its items if that is more.")
    var snapshotCommits = Limits().snapshotCommits
    @Option(help: "Commits in one page of history.") var historyPage = Limits().historyCommits
    @Option(help: "Bytes of items in one chunk of a list, about.") var chunk = Limits().chunkBytes
    @Option(help: "Names in one page of lists.") var listsPage = Limits().listsPage

    /// What the largest edit takes that a client sends as one, with room to spare.
    private static let smallestFrame = 5 << 20
    /// What the largest hello takes.
    private static let smallestHello = 512
    /// Of those that may be larger than 2³¹, or are made room for at once.
    private static let largest = [
        "max-store": 1 << 50, "max-user-bytes": 1 << 40, "max-user-unfinished": 1 << 40, "max-user-answers": 1 << 40,
        "window": 1 << 40,
        "max-answers": 1 << 40, "chunk": 16 << 20, "lists-page": 100_000, "history-page": 1_000_000,
    ]

    /// Each option by its name, and the limit that it sets.
    static var all: [(name: String, option: KeyPath<Self, Int>, limit: WritableKeyPath<Limits, Int>)] {
        [
            ("max-connections", \.maxConnections, \.connections),
            ("max-connections-per-address", \.maxConnectionsPerAddress, \.connectionsPerAddress),
            ("max-failures", \.maxFailures, \.failedHellos),
            ("max-handshakes", \.maxHandshakes, \.handshakesPerAddress),
            ("max-frame", \.maxFrame, \.frameBytes), ("max-hello", \.maxHello, \.helloBytes),
            ("max-items", \.maxItems, \.listItems),
            ("max-item-size", \.maxItemSize, \.itemBytes), ("max-lists", \.maxLists, \.lists),
            ("max-subscriptions", \.maxSubscriptions, \.subscriptions),
            ("max-user-requests", \.maxUserRequests, \.userRequests),
            ("max-user-bytes", \.maxUserBytes, \.userBytes),
            ("max-user-work", \.maxUserWork, \.userWork), ("max-edit-work", \.maxEditWork, \.submissionWork),
            ("inline-work", \.inlineWork, \.inlineWork),
            ("max-user-unfinished", \.maxUserUnfinished, \.userUnfinishedBytes),
            ("max-user-answers", \.maxUserAnswers, \.userAnswerBytes),
            ("max-user-subscriptions", \.maxUserSubscriptions, \.userSubscriptions),
            ("max-user-items", \.maxUserItems, \.userItems), ("max-user-lists", \.maxUserLists, \.userLists),
            ("max-store", \.maxStore, \.storeBytes),
            ("max-answers", \.maxAnswers, \.answerBytes), ("max-transfers", \.maxTransfers, \.transfers),
            ("max-past-revisions", \.maxPastRevisions, \.pastRevisions),
            ("max-pending", \.maxPending, \.pendingSubmissions), ("window", \.window, \.windowBytes),
            ("snapshot-commits", \.snapshotCommits, \.snapshotCommits),
            ("history-page", \.historyPage, \.historyCommits), ("chunk", \.chunk, \.chunkBytes),
            ("lists-page", \.listsPage, \.listsPage),
        ]
    }

    func validate() throws {
        for (name, option, _) in Self.all {
            let (value, most) = (self[keyPath: option], Self.largest[name] ?? Int(Int32.max))
            guard (1...most).contains(value) else {
                throw ValidationError("--\(name): expected a number from 1 to \(most), found \(value)")
            }
        }
        for (name, value, least, why) in [
            ("max-frame", maxFrame, Self.smallestFrame, "so that a client's largest edit fits"),
            ("max-hello", maxHello, Self.smallestHello, "so that a hello with a token fits"),
        ] where value < least {
            throw ValidationError("--\(name): expected at least \(least), \(why); found \(value)")
        }
    }

    func set(_ limits: inout Limits) {
        for (_, option, limit) in Self.all { limits[keyPath: limit] = self[keyPath: option] }
    }
}

/// Every bound of a server that is a time, in seconds.
struct TimeOptions: ParsableArguments {
    @Option(help: "Seconds that a new connection has for its hello.") var handshakeTimeout = 10.0
    @Option(help: "Seconds of silence before a client counts as gone.") var idleTimeout = 45.0
    @Option(help: "Seconds in which a client takes a sixteenth of a past state at least, while others wait for theirs.")
    var stallTimeout = 10.0
    @Option(help: "Seconds that a client has to read why it is closed.") var drainTimeout = 3.0
    @Option(help: "Seconds after which a user who sends too fast, and is read more slowly, is told.")
    var tooFastNotice = 5.0
    @Option(help: "Seconds after which the connections of a user who sends too fast are closed.")
    var tooFastTimeout = 60.0
    @Option(help: "Seconds between two messages about who is where in a list.") var presenceInterval = 0.1
    @Option(help: "Seconds that a list which nobody follows stays in memory.") var unloadAfter = 60.0

    private static let day = 86_400.0

    /// Each option by its name, and the limit that it sets.
    static var all: [(name: String, option: KeyPath<Self, Double>, limit: WritableKeyPath<Limits, UInt64>)] {
        [
            ("handshake-timeout", \.handshakeTimeout, \.handshakeDeadline),
            ("idle-timeout", \.idleTimeout, \.idleDeadline), ("stall-timeout", \.stallTimeout, \.stallDeadline),
            ("drain-timeout", \.drainTimeout, \.drainDeadline),
            ("too-fast-notice", \.tooFastNotice, \.tellingDelay),
            ("too-fast-timeout", \.tooFastTimeout, \.tooFastDeadline),
            ("presence-interval", \.presenceInterval, \.presenceInterval),
            ("unload-after", \.unloadAfter, \.unloadDelay),
        ]
    }

    func validate() throws {
        for (name, option, _) in Self.all {
            let value = self[keyPath: option]
            guard value >= 0.001, value <= Self.day else {
                throw ValidationError("--\(name): expected 0.001 to \(Int(Self.day)) seconds, found \(value)")
            }
        }
        // Clients cannot ping more often than that.
        guard idleTimeout >= 1 else {
            throw ValidationError("--idle-timeout: expected at least 1 second, found \(idleTimeout)")
        }
    }

    func set(_ limits: inout Limits) {
        for (_, option, limit) in Self.all { limits[keyPath: limit] = UInt64(self[keyPath: option] * 1_000) }
    }
}
