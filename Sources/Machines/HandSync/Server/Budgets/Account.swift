import HandWire

/// A user's use of the server, over all their connections.
final class Account {
    let user: String
    var connections = 0
    var subscriptions = 0
    /// Items of the lists that the user's connections follow, as counted when each list was subscribed to.
    var followedItems = 0
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
    /// Whether the account is in `ServerMachine.slowed`.
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

    func spend(requests count: Int, bytes size: Int, work amount: Int, now: UInt64) {
        fill(now: now)
        requests.spend(count, now: now)
        bytes.spend(size, now: now)
        work.spend(amount, now: now)
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

    func dequeue() -> Connection { waiting.removeFirst() }

    /// The connection no longer waits.
    func remove(_ connection: Connection) {
        waiting.removeAll { $0 === connection }
    }

    /// A connection is gone.
    func close(_ connection: Connection) {
        connections -= 1
        warned.remove(connection.id)
    }
}
