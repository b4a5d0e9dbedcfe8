import HandWire

/// A user's use of the server, over all their connections.
final class Account {
    let user: String
    var connections = 0
    private(set) var subscriptions = 0
    /// Items of the lists that the user's connections follow, as counted when each list was subscribed to.
    private(set) var followedItems = 0
    /// The number of past states that are kept in memory for the user.
    var pastHolds = 0
    /// Bytes of answers that the user's clients have not read.
    var answerBytes = 0
    /// Bytes of unfinished messages.
    var unfinished = 0
    /// The user's work in this turn.
    var share = TurnShare()
    private var requests: TokenBucket
    private var bytes: TokenBucket
    private var work: TokenBucket
    /// Connections that are not read until the user has budget again. The one that has waited longest comes first.
    private(set) var waiting: [Connection] = []
    /// Whether the account is in `Budgets.slowed`.
    var isListed = false
    /// When the user began to send too much, in milliseconds; nil again once half of each budget has come back.
    private(set) var tooFastSince: UInt64?
    /// The connections that were warned since `tooFastSince`.
    private var warned: Set<ConnectionID> = []

    init(_ user: String, _ limits: Limits, now: UInt64) {
        self.user = user
        requests = TokenBucket(rate: limits.userRequests, now: now)
        bytes = TokenBucket(rate: limits.userBytes, now: now)
        work = TokenBucket(rate: limits.userWork, now: now)
    }

    func spend(_ cost: Budgets.Cost, now: UInt64) {
        fill(now: now)
        requests.spend(cost.requests, now: now)
        bytes.spend(cost.bytes, now: now)
        work.spend(cost.work, now: now)
    }

    func fill(now: UInt64) {
        requests.fill(now: now)
        bytes.fill(now: now)
        work.fill(now: now)
        if tooFastSince != nil, requests.isHalfFull, bytes.isHalfFull, work.isHalfFull {
            tooFastSince = nil
            warned = []
        }
    }

    /// Whether more was spent than the budget had.
    var isOverdrawn: Bool { requests.isOverdrawn || bytes.isOverdrawn || work.isOverdrawn }
    /// Whether the account equals a new one.
    var isIdle: Bool {
        connections == 0 && waiting.isEmpty && requests.isFull && bytes.isFull && work.isFull
    }
    /// Milliseconds until the next waiting connection is read again.
    var wait: UInt64 { max(requests.wait, bytes.wait, work.wait) }

    /// Records that a connection is told that its user is too fast. Returns whether it is the first time.
    func isFirstWarning(to connection: Connection) -> Bool { warned.insert(connection.id).inserted }

    func enqueue(_ connection: Connection, now: UInt64) {
        if tooFastSince == nil { tooFastSince = now }
        waiting.append(connection)
    }

    /// Returns the connection that goes on next, as long as the budget lasts.
    func dequeue() -> Connection? { isOverdrawn || waiting.isEmpty ? nil : waiting.removeFirst() }

    /// The connection no longer waits.
    func remove(_ connection: Connection) { waiting.removeAll { $0 === connection } }

    // MARK: Lists

    /// Returns why the user may not follow one more list with so many items; nil if the user may.
    func refusal(following items: Int, _ limits: Limits) -> String? {
        if subscriptions >= limits.userSubscriptions {
            return "your connections may follow \(limits.userSubscriptions) lists together"
        }
        // A user may follow one list of any length.
        if followedItems > 0, followedItems + items > limits.userItems {
            return "the lists that your connections follow may have \(limits.userItems) items together"
        }
        return nil
    }

    func follow(items: Int) {
        subscriptions += 1
        followedItems += items
    }

    func unfollow(items: Int) {
        subscriptions -= 1
        followedItems -= items
    }

    // MARK: Ending

    /// A connection is gone.
    func close(_ connection: Connection) {
        connections -= 1
        warned.remove(connection.id)
    }

    /// Returns which invariant is broken; nil if none is.
    ///
    /// - Parameter mine: the user's connections.
    func brokenInvariant(_ mine: [Connection]) -> String? {
        if pastHolds > 1 { return "it holds \(pastHolds) past revisions" }
        if connections != mine.count { return "it counts \(connections) of \(mine.count) connections" }
        let subscribed = mine.reduce(0) { $0 + $1.cursors.count }
        if subscriptions != subscribed { return "it counts \(subscriptions) of \(subscribed) subscriptions" }
        let items = mine.reduce(0) { sum, connection in
            connection.cursors.indices.reduce(sum) { $0 + connection.cursors[at: $1].items }
        }
        if followedItems != items { return "it counts \(followedItems) of \(items) followed items" }
        let bytes = mine.reduce(0) { $0 + Int($1.unfinished) }
        if unfinished != bytes { return "it counts \(unfinished) of \(bytes) bytes" }
        let answers = mine.reduce(0) { $0 + $1.held.answerBytes }
        if answerBytes != answers { return "it counts \(answerBytes) of \(answers) bytes of answers" }
        if Set(waiting.map(\.id)) != Set(mine.filter { $0.isSlowed }.map(\.id)) {
            return "the waiting connections are not the slowed ones"
        }
        return waiting.isEmpty || isListed ? nil : "connections wait, but the account is not listed as slowed"
    }
}
