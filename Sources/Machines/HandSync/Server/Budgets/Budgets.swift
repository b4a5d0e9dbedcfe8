import HandWire

/// The budgets of users, who share the server. Each user has one for all their connections, and waits when it is spent.
///
/// What is called for each message is mutating even where nothing is changed: a call that only reads would copy all of
/// this out of the machine first.
struct Budgets {
    private let limits: Limits
    private var accounts: [String: Account] = [:]
    /// Accounts with at least one waiting connection.
    private var slowed: [Account] = []
    /// When the next slowed account has budget again.
    private(set) var due: UInt64?
    /// For connections that are gone: the users who pay for the requests that are still under way, and until when.
    private var departed: [ConnectionID: (user: String, until: UInt64)] = [:]
    /// The number of the turn.
    private var turn: UInt32 = 1
    /// Connections that wait for the next turn.
    private var paused: [Connection] = []
    /// The work for all clients together, as it is charged.
    private(set) var workDone = 0
    /// The most work that was charged at once, apart from submissions.
    private(set) var heaviest = 0

    init(_ limits: Limits) { self.limits = limits }

    /// Whether connections wait for the next turn.
    var hasPaused: Bool { !paused.isEmpty }
    /// Users whose recent use is counted.
    var accountCount: Int { accounts.count }
    /// Connections that wait until their user has budget again.
    var slowedCount: Int { slowed.reduce(0) { $0 + $1.waiting.count } }

    // MARK: Charging

    struct Cost {
        var requests = 0
        var bytes = 0
        /// The server's work, as the number of components of deltas that could be examined in the same time.
        var work = 0
    }

    /// What follows from a charge.
    enum Verdict {
        case goesOn
        /// The connection is not read until its user has budget again.
        case slowed
        /// The connection is slowed, and its client is told so, after some time of being too fast.
        case warned(String)
        /// The connection is closed, and its client is told why.
        case closed(String)
    }

    /// Counts work that is charged to nobody, or by `charge(_:_:now:)`.
    mutating func count(_ work: Int, isSubmission: Bool) {
        workDone += work
        if !isSubmission { heaviest = max(heaviest, work) }
    }

    /// Charges a connection's user. A connection whose user has overdrawn the budget is not read for a while. If that
    /// continues, its client is told, and finally the connection is closed.
    mutating func charge(_ connection: Connection, _ cost: Cost, now: UInt64) -> Verdict {
        guard let account = connection.account else { return .goesOn }
        // Nothing more is done for a connection that is ending.
        if !connection.isEnding, account.answerBytes > limits.userAnswerBytes {
            return .closed(
                "your connections leave \(account.answerBytes) bytes of answers unread; \(limits.userAnswerBytes) may wait"
            )
        }
        account.spend(cost, now: now)
        if connection.isEnding || connection.isSlowed || !account.isOverdrawn { return .goesOn }
        return slow(connection, account, now: now)
    }

    private mutating func slow(_ connection: Connection, _ account: Account, now: UInt64) -> Verdict {
        let since = account.tooFastSince ?? now
        let rates =
            "\(limits.userRequests) requests, \(limits.userBytes) bytes and \(limits.userWork) steps of work a second "
            + "are taken from one user"
        if now >= since + limits.tooFastDeadline { return .closed("you sent too much for too long: \(rates)") }
        if !account.isListed {
            account.isListed = true
            slowed.append(account)
        }
        account.enqueue(connection, now: now)
        connection.setPace(.slowed)
        due = min(due ?? .max, now + max(1, account.wait))
        // Before the welcome, the only error that may be sent is one that closes the connection.
        let isWarned =
            now >= since + limits.tellingDelay && connection.isLetIn && account.isFirstWarning(to: connection)
        return isWarned ? .warned("you are slowed down: \(rates)") : .slowed
    }

    /// Charges work to the user of a connection that has gone: the user has caused the work all the same.
    mutating func charge(departed connection: ConnectionID, work: Int, now: UInt64) {
        guard let user = departed[connection]?.user else { return }
        account(of: user, now: now).spend(Cost(work: work), now: now)
    }

    /// Counts the bytes of an unfinished message. Many connections that each send most of a large message must not fill
    /// the memory.
    ///
    /// - Returns: why the connection is to be closed; nil if it goes on.
    mutating func countUnfinished(of connection: Connection) -> String? {
        guard let account = connection.account, !connection.isEnding else { return nil }
        let unfinished = UInt32(clamping: connection.session.unfinishedBytes)
        guard unfinished != connection.unfinished else { return nil }
        account.unfinished += Int(unfinished) - Int(connection.unfinished)
        connection.unfinished = unfinished
        guard unfinished > 0, account.unfinished > limits.userUnfinishedBytes else { return nil }
        return "your unfinished messages take \(account.unfinished) bytes; the limit is \(limits.userUnfinishedBytes)"
    }

    // MARK: Turns

    /// Whether a connection, or its user, has used up the share of this turn. Then the connection goes on in the next
    /// turn.
    mutating func pausesIfUsedUp(_ connection: Connection) -> Bool {
        guard (connection.account?.share ?? connection.intake.share).isUsedUp(in: turn) else { return false }
        if !connection.isEnding, !connection.isUnheard {
            connection.setPaused(true)
            paused.append(connection)
        }
        return true
    }

    /// Counts work of this turn.
    mutating func spend(_ work: Int, for connection: Connection) {
        if let account = connection.account {
            account.share.spend(work, in: turn)
        } else {
            connection.intake.share.spend(work, in: turn)
        }
    }

    /// Begins the next turn. Connections may have waited for it: see `takePaused`.
    mutating func beginTurn() { turn &+= 1 }

    /// Returns the connections that have waited for this turn. They go on.
    mutating func takePaused() -> [Connection] {
        defer { paused = [] }
        for connection in paused { connection.setPaused(false) }
        return paused
    }

    // MARK: Time

    /// Returns the slowed accounts that have budget again. Their connections go on, as long as the budget lasts; then
    /// call `endRelease`.
    func released(now: UInt64) -> [Account] {
        slowed.filter { account in
            account.fill(now: now)
            return account.wait == 0
        }
    }

    mutating func endRelease(now: UInt64) {
        slowed.removeAll { account in
            account.isListed = !account.waiting.isEmpty
            return !account.isListed
        }
        due = slowed.map { now + max(1, $0.wait) }.min()
    }

    /// Forgets accounts that equal new ones.
    mutating func sweep(now: UInt64) {
        for account in accounts.values { account.fill(now: now) }
        accounts = accounts.filter { !$0.value.isIdle }
        departed = departed.filter { now < $0.value.until }
    }

    // MARK: Connections

    /// Counts a connection under its user; nil for a user who is not counted.
    mutating func open(_ connection: Connection, of user: String?, now: UInt64) {
        guard let user else { return }
        connection.account = account(of: user, now: now)
        connection.account?.connections += 1
    }

    private mutating func account(of user: String, now: UInt64) -> Account {
        if let account = accounts[user] { return account }
        let account = Account(user, limits, now: now)
        accounts[user] = account
        return account
    }

    /// A connection ends: it no longer waits, and its unfinished message no longer counts.
    func endWaiting(of connection: Connection) {
        guard let account = connection.account else { return }
        if connection.isSlowed {
            account.remove(connection)
            connection.setPace(.free)
        }
        account.unfinished -= Int(connection.unfinished)
        connection.unfinished = 0
    }

    /// Milliseconds after which a request that a client made before it left is not charged any more.
    private static let longestTask: UInt64 = 60_000

    /// Takes a connection out of its user's account.
    mutating func close(_ connection: Connection, now: UInt64) {
        endWaiting(of: connection)
        if connection.isBusy, let user = connection.account?.user {
            departed[connection.id] = (user, now + Self.longestTask)
        }
        connection.account?.close(connection)
        connection.account = nil
    }

    // MARK: Invariants

    /// Returns which invariant is broken; nil if none is. For tests: O(everything).
    func brokenInvariant(_ connections: ConnectionSet) -> String? {
        for connection in connections {
            if let account = connection.account, accounts[account.user] !== account {
                return "the account of \(account.user), who is connected, is forgotten"
            }
        }
        for account in accounts.values {
            let mine = connections.filter { $0.account === account }
            if let problem = account.brokenInvariant(mine) { return "\(account.user): \(problem)" }
            let listed = slowed.count { $0 === account }
            if listed != (account.isListed ? 1 : 0) {
                return "\(account.user): it is \(listed) times in the list of slowed accounts"
            }
        }
        return nil
    }
}
