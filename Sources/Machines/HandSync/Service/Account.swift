import HandWire

/// What one user takes of a server, over all connections together.
final class Account {
    let user: String
    var connections = 0
    var subscriptions = 0
    /// Bytes of messages that have begun to come.
    var unfinished = 0
    private var requests: TokenBucket
    private var bytes: TokenBucket
    /// Connections that are not read until there is a share for them again; in the order of their waiting.
    private(set) var waiting: [Connection] = []
    /// Since when more comes than is taken, in milliseconds: until what may be taken at once is half there again.
    private(set) var tooFastSince: UInt64?

    init(_ user: String, _ limits: Limits, now: UInt64) {
        self.user = user
        requests = TokenBucket(rate: limits.userRequests, now: now)
        bytes = TokenBucket(rate: limits.userBytes, now: now)
    }

    func spend(requests count: Int = 0, bytes size: Int = 0, now: UInt64) {
        fill(now: now)
        requests.spend(count, now: now)
        bytes.spend(size, now: now)
    }

    func fill(now: UInt64) {
        requests.fill(now: now)
        bytes.fill(now: now)
        if requests.isHalfFull, bytes.isHalfFull { tooFastSince = nil }
    }

    /// Whether more was taken than there was.
    var isOverdrawn: Bool { requests.isOverdrawn || bytes.isOverdrawn }
    /// Whether nobody would notice if it were forgotten.
    var isIdle: Bool { connections == 0 && waiting.isEmpty && requests.isFull && bytes.isFull }
    /// Milliseconds until the next of those who wait goes on.
    var wait: UInt64 { max(requests.wait, bytes.wait) }

    func enqueue(_ connection: Connection, now: UInt64) {
        if tooFastSince == nil { tooFastSince = now }
        waiting.append(connection)
    }

    func dequeue() -> Connection { waiting.removeFirst() }

    func remove(_ connection: Connection) {
        waiting.removeAll { $0 === connection }
    }
}

extension Service {
    /// The account of somebody who has said hello; nil for who is not counted.
    func account(of user: String?) -> Account? {
        guard let user else { return nil }
        if let account = accounts[user] { return account }
        let account = Account(user, limits, now: world.now)
        accounts[user] = account
        return account
    }

    /// Charges a connection's user. Who has overdrawn is slowed down, by not being read; who goes on like that is told, and at
    /// last closed.
    func charge(_ connection: Connection, requests: Int = 0, bytes: Int = 0) {
        guard let account = connection.account else { return }
        account.spend(requests: requests, bytes: bytes, now: world.now)
        guard account.isOverdrawn, !connection.isSlowed, !connection.isEnding else { return }
        let since = account.tooFastSince ?? world.now
        let rates = "\(limits.userRequests) requests and \(limits.userBytes) bytes a second are taken from one user"
        if world.now >= since + limits.tooFastDeadline {
            return fail(connection, .tooFast, "more came for too long: \(rates)", retryAfter: 10_000)
        }
        if connection.toldOf != since, world.now >= since + limits.tellingDelay {
            connection.toldOf = since
            refuse(connection, 0, .slowedDown, "you are slowed down: \(rates)")
        }
        figures.slowings += 1
        if account.waiting.isEmpty { slowed.append(account) }
        account.enqueue(connection, now: world.now)
        connection.setSlowed(true)
        scheduleSlowed()
    }

    /// Many connections that each send most of a large message must not fill the memory.
    func countUnfinished(of connection: Connection) {
        guard let account = connection.account else { return }
        let now = UInt32(clamping: connection.session.unfinishedBytes)
        guard now != connection.unfinished else { return }
        account.unfinished += Int(now) - Int(connection.unfinished)
        connection.unfinished = now
        guard now > 0, account.unfinished > limits.userUnfinishedBytes else { return }
        let text =
            "your connections have begun to send \(account.unfinished) bytes; \(limits.userUnfinishedBytes) are taken"
        fail(connection, .tooFast, text, retryAfter: 10_000)
    }

    /// Those go on who have waited long enough.
    func releaseSlowed() {
        for account in slowed {
            account.fill(now: world.now)
            guard account.wait == 0 else { continue }
            while !account.isOverdrawn, !account.waiting.isEmpty { release(account.dequeue()) }
        }
        slowed.removeAll { $0.waiting.isEmpty }
        scheduleSlowed()
    }

    private func release(_ connection: Connection) {
        connection.setSlowed(false)
        // It was silent because it was not heard.
        drive(connection) { session, effect in session.received(.init(start: nil, count: 0), now: world.now, effect) }
        connection.work { [unowned self] in handle($0, from: connection) }
    }

    private func scheduleSlowed() {
        slowedDue = slowed.map { world.now + max(1, $0.wait) }.min()
    }

    /// Forgets accounts that are as new ones would be.
    func sweepAccounts() {
        if accounts.isEmpty { return }
        for account in accounts.values { account.fill(now: world.now) }
        accounts = accounts.filter { !$0.value.isIdle }
    }

    /// A connection is no longer its user's.
    func closeAccount(of connection: Connection) {
        guard let account = connection.account else { return }
        account.connections -= 1
        account.unfinished -= Int(connection.unfinished)
        account.remove(connection)
        connection.account = nil
    }
}
