import HandWire

/// Users share the server. Each user has a budget for all their connections, and waits when it is spent.
extension ServerMachine {
    /// Returns the account of a user; nil for a user who is not counted.
    func account(of user: String?) -> Account? {
        guard let user else { return nil }
        if let account = accounts[user] { return account }
        let account = Account(user, limits, now: now)
        accounts[user] = account
        return account
    }

    /// Charges a connection's user. A connection whose user has overdrawn the budget is not read for a while. If that
    /// continues, its client is told, and finally the connection is closed.
    ///
    /// - Parameter work: the server's work, as the number of components of deltas that could be examined in the same
    ///   time.
    func charge(_ connection: Connection, requests: Int = 0, bytes: Int = 0, work: Int = 0) {
        workDone += work
        heaviest = max(heaviest, work)
        chargeUser(of: connection, requests: requests, bytes: bytes, work: work)
    }

    /// Charges work for a connection that may have gone meanwhile: its user has caused the work all the same.
    func charge(_ connection: ConnectionID, work: Int) {
        if let connection = connections[connection] { return charge(connection, work: work) }
        workDone += work
        heaviest = max(heaviest, work)
        account(of: departed[connection]?.user)?.spend(requests: 0, bytes: 0, work: work, now: now)
    }

    /// Charges a submission.
    func charge(_ connection: Connection, submissionWork work: Int) {
        workDone += work
        chargeUser(of: connection, work: work)
    }

    /// Charges work that is counted in `workDone` by the caller.
    func chargeUser(of connection: Connection, requests: Int = 0, bytes: Int = 0, work: Int) {
        guard let account = connection.account else { return }
        // Nothing more is done for a connection that is ending.
        if connection.isEnding {
            return account.spend(requests: requests, bytes: bytes, work: work, now: now)
        }
        if account.answerBytes > limits.userAnswerBytes {
            let text =
                "your connections leave \(account.answerBytes) bytes of answers unread; \(limits.userAnswerBytes) may wait"
            return fail(connection, .tooFast, text, retryAfter: 10_000)
        }
        account.spend(requests: requests, bytes: bytes, work: work, now: now)
        guard account.isOverdrawn, !connection.isSlowed else { return }
        let since = account.tooFastSince ?? now
        let rates =
            "\(limits.userRequests) requests, \(limits.userBytes) bytes and \(limits.userWork) steps of work a second are taken from one user"
        if now >= since + limits.tooFastDeadline {
            return fail(connection, .tooFast, "you sent too much for too long: \(rates)", retryAfter: 10_000)
        }
        // Before the welcome, the only error that may be sent is one that closes the connection.
        if now >= since + limits.tellingDelay, connection.author != nil,
            account.isFirstWarning(to: connection)
        {
            refuse(connection, 0, .slowedDown, "you are slowed down: \(rates)")
        }
        slow(connection, account)
    }

    private func slow(_ connection: Connection, _ account: Account) {
        figures.slowings += 1
        if !account.isListed {
            account.isListed = true
            slowed.append(account)
        }
        account.enqueue(connection, now: now)
        connection.setPace(.slowed)
        slowedDue = min(slowedDue ?? .max, now + max(1, account.wait))
    }

    /// Counts the bytes of an unfinished message. Many connections that each send most of a large message must not fill
    /// the memory.
    func countUnfinished(of connection: Connection) {
        guard let account = connection.account, !connection.isEnding else { return }
        let now = UInt32(clamping: connection.session.unfinishedBytes)
        guard now != connection.unfinished else { return }
        account.unfinished += Int(now) - Int(connection.unfinished)
        connection.unfinished = now
        guard now > 0, account.unfinished > limits.userUnfinishedBytes else { return }
        let text =
            "your unfinished messages take \(account.unfinished) bytes; the limit is \(limits.userUnfinishedBytes)"
        fail(connection, .tooFast, text, retryAfter: 10_000)
    }

    // MARK: Turns

    /// Whether a connection, or its user, has used up the share of this turn. Then the connection goes on in the next
    /// turn.
    func pausesIfUsedUp(_ connection: Connection) -> Bool {
        guard (connection.account?.share ?? connection.intake.share).isUsedUp(in: turn) else { return false }
        if !connection.isEnding, !connection.isUnheard {
            connection.setPaused(true)
            paused.append(connection)
        }
        return true
    }

    /// Counts work of this turn.
    func spend(_ work: Int, for connection: Connection) {
        if let account = connection.account {
            account.share.spend(work, in: turn)
        } else {
            connection.intake.share.spend(work, in: turn)
        }
    }

    /// Begins the next turn: connections that have waited for it go on.
    func beginTurn() {
        turn &+= 1
        if paused.isEmpty { return }
        let waiting = paused
        paused = []
        for connection in waiting {
            connection.setPaused(false)
            handleWaiting(of: connection)
        }
    }

    // MARK: Time

    /// Resumes reading from connections whose users have budget again.
    func releaseSlowed() {
        for account in slowed {
            account.fill(now: now)
            guard account.wait == 0 else { continue }
            while !account.isOverdrawn, !account.waiting.isEmpty { release(account.dequeue()) }
        }
        slowed.removeAll { account in
            account.isListed = !account.waiting.isEmpty
            return !account.isListed
        }
        slowedDue = slowed.map { now + max(1, $0.wait) }.min()
    }

    private func release(_ connection: Connection) {
        let pace = connection.pace
        connection.setPace(.free)
        if case .holding(let hello) = pace { return identify(hello, connection) }
        handleWaiting(of: connection)
        // The lists on their way to the connection have waited, too.
        mark(connection)
    }

    /// Forgets accounts that equal new ones.
    func sweepAccounts() {
        if accounts.isEmpty { return }
        for account in accounts.values { account.fill(now: now) }
        accounts = accounts.filter { !$0.value.isIdle }
        departed = departed.filter { now < $0.value.until }
    }

    // MARK: Ending

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
    func closeAccount(of connection: Connection) {
        endWaiting(of: connection)
        if connection.isBusy, let user = connection.account?.user {
            departed[connection.id] = (user, now + Self.longestTask)
        }
        connection.account?.close(connection)
        connection.account = nil
    }
}
