import ArgumentParser
import HandWire

/// The value of an option that sets one of a server's limits.
struct Bound: Sendable {
    let value: ServeSetting.Value
    /// What is wrong with the value; nil if it is valid.
    let problem: String?
    let set: @Sendable (inout Limits) -> Void
}

private func count(
    _ field: WritableKeyPath<Limits, Int> & Sendable, _ help: String, upTo maximum: Int = Int(Int32.max),
    atLeast least: Int = 1, _ why: String = ""
) -> Option<Bound> {
    @Sendable func bound(_ value: Int) -> Bound {
        let problem: String? =
            if !(1...maximum).contains(value) {
                "expected a number from 1 to \(maximum), found \(value)"
            } else {
                value < least ? "expected at least \(least), \(why); found \(value)" : nil
            }
        return Bound(value: .number(value), problem: problem) { $0[keyPath: field] = value }
    }
    return option(Limits()[keyPath: field], help, Int.init, bound)
}

/// An option in seconds for a limit in milliseconds.
private func time(
    _ field: WritableKeyPath<Limits, UInt64> & Sendable, _ help: String, atLeast least: Double = 0.001
) -> Option<Bound> {
    @Sendable func bound(_ value: Double) -> Bound {
        let problem: String? =
            if !(0.001...86_400).contains(value) {
                "expected 0.001 to 86400 seconds, found \(value)"
            } else {
                value < least ? "expected at least \(Int(least)) second, found \(value)" : nil
            }
        return Bound(value: .decimal(value), problem: problem) { $0[keyPath: field] = UInt64(value * 1_000) }
    }
    return option(Double(Limits()[keyPath: field]) / 1_000, help, Double.init, bound)
}

private func option<Value: Sendable>(
    _ standard: Value, _ help: String, _ read: @escaping @Sendable (String) -> Value?,
    _ bound: @escaping @Sendable (Value) -> Bound
) -> Option<Bound> {
    Option(wrappedValue: bound(standard), help: "\(help) (default: \(standard))") { text in
        guard let value = read(text) else { throw ValidationError("expected a number") }
        return bound(value)
    }
}

/// Options that each set a limit.
protocol BoundOptions: ParsableArguments {}

extension BoundOptions {
    private var bounds: [(name: String, bound: Bound)] {
        Mirror(reflecting: self).children.compactMap { child in
            guard let label = child.label, let option = child.value as? Option<Bound> else { return nil }
            return (ServeSetting.name(of: label), option.wrappedValue)
        }
    }

    func validate() throws {
        for (name, bound) in bounds {
            if let problem = bound.problem { throw ValidationError("--\(name): \(problem)") }
        }
    }

    func set(_ limits: inout Limits) {
        for (_, bound) in bounds { bound.set(&limits) }
    }
}

/// The limits of a server that are counts; `Limits` documents them.
struct LimitOptions: BoundOptions {
    var maxConnections = count(\.connections, "Connections at the same time.")
    var maxConnectionsPerAddress = count(
        \.connectionsPerAddress, "Connections from one address, except from this machine.")
    var maxFailures = count(
        \.failedHellos, "Wrong tokens from one address that are logged per minute; all of this machine's are.")
    var maxHandshakes = count(
        \.handshakesPerAddress,
        "TLS handshakes with one address per second, except with this machine; bursts may have ten times as many.")
    var maxFrame = count(\.frameBytes, "Bytes of one frame.", atLeast: 5 << 20, "so that a client's largest edit fits")
    var maxHello = count(
        \.helloBytes,
        "Bytes of a frame before the hello is accepted.", atLeast: 512, "so that a hello with a token fits")
    var maxItems = count(\.listItems, "Items of one list.")
    var maxListSize = count(
        \.listBytes, "Bytes of the items of one list; the list takes about twice as much memory.", upTo: 1 << 50)
    var maxItemSize = count(\.itemBytes, "Bytes of one item, whatever a list's own limit (--max-size) is.")
    var maxLists = count(\.lists, "Lists on the server; for another one, the deleted list that is the oldest goes.")
    var maxSubscriptions = count(\.subscriptions, "Lists that one connection follows.")
    var maxUserRequests = count(
        \.userRequests,
        "Requests of one user per second, including edits. The limits per user do not apply to guests on this machine."
    )
    var maxUserBytes = count(\.userBytes, "Bytes from one user per second.", upTo: 1 << 40)
    var maxUserWork = count(
        \.userWork,
        "Steps of work for one user per second; a step is part of processing an edit, about 100 nanoseconds.")
    var maxEditWork = count(
        \.submissionWork,
        "Steps of work for one edit of an old revision; beyond that, its client must catch up first.")
    var inlineWork = count(
        \.inlineWork,
        "Steps of work for one edit on the main thread; a larger edit is processed on another thread.")
    var maxUserUnfinished = count(
        \.userUnfinishedBytes, "Bytes of incomplete messages of one user.", upTo: 1 << 40)
    var maxUserAnswers = count(\.userAnswerBytes, "Bytes of answers that wait to be sent to one user.", upTo: 1 << 40)
    var maxUserSubscriptions = count(\.userSubscriptions, "Lists that all connections of one user follow together.")
    var maxUserItems = count(
        \.userItems, "Items in all lists that one user's connections follow; these stay in memory.")
    var maxUserLists = count(
        \.userLists, "Lists made by one user; for another one, the deleted list of that user that is the oldest goes.")
    var maxStore = count(\.storeBytes, "Bytes of the store beyond which edits are refused.", upTo: 1 << 50)
    var maxAnswers = count(
        \.answerBytes, "Bytes of waiting answers beyond which the server stops reading from a client.", upTo: 1 << 40)
    var maxTransfers = count(\.transfers, "Past states being sent beyond which the server stops reading from a client.")
    var maxPastRevisions = count(\.pastRevisions, "Past states in memory, for all clients; further requests wait.")
    var maxPending = count(\.pendingSubmissions, "Edits of one connection that wait to be stored.")
    var window = count(\.windowBytes, "Bytes of commits kept in memory for each list.", upTo: 1 << 40)
    var snapshotCommits = count(
        \.snapshotCommits,
        "Commits between two stored snapshots of a list; at least a quarter of the list's number of items.")
    var historyPage = count(\.historyCommits, "Commits in one page of history.", upTo: 1_000_000)
    var chunk = count(\.chunkBytes, "Approximate bytes of items in one chunk of a list.", upTo: 16 << 20)
    var listsPage = count(\.listsPage, "Names in one page of lists.", upTo: 100_000)
}

/// The limits of a server that are times, in seconds.
struct TimeOptions: BoundOptions {
    var handshakeTimeout = time(\.handshakeDeadline, "Seconds in which a new connection must send its hello.")
    // Clients cannot ping more often than once per second.
    var idleTimeout = time(
        \.idleDeadline, "Seconds without data from a client after which it is disconnected.", atLeast: 1)
    var longestIdleTimeout = time(
        \.longestIdleDeadline, "The same for clients that ask for more, such as hidden tabs of a browser.", atLeast: 1)
    var stallTimeout = time(
        \.stallDeadline,
        "Seconds in which a client must read at least a sixteenth of a past state while others wait for theirs.")
    var drainTimeout = time(\.drainDeadline, "Seconds in which a client can read why its connection is being closed.")
    var tooFastNotice = time(
        \.tellingDelay, "Seconds after which a user who sends too fast is notified.")
    var tooFastTimeout = time(
        \.tooFastDeadline, "Seconds after which the connections of a user who sends too fast are closed.")
    var presenceInterval = time(\.presenceInterval, "Seconds between two messages about which items people are on.")
    var unloadAfter = time(\.unloadDelay, "Seconds that a list stays in memory after its last follower has left.")
}
