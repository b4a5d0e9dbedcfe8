import HandWire

/// Limits the connections from one address, and the log entries about wrong tokens. A client with a valid token is
/// always let in, because many people may share an address.
///
/// Clients on this machine have no address, and are not counted. The memory for addresses is bounded.
struct ConnectionLimiter {
    private let limits: Limits
    private var present: [String: Present] = [:]
    private var failures: [String: Failures] = [:]
    /// The handshakes that an address may still make, for addresses that have made some.
    private var handshakes: [String: TokenBucket] = [:]

    /// The connections from one address.
    private struct Present {
        var count = 0
        /// The connections that have not said hello, the oldest first.
        var strangers: [ConnectionID] = []
    }

    private struct Failures {
        var count: Int
        /// When the first failure was, in milliseconds.
        let since: UInt64
    }

    /// The most addresses to remember. Counting would not stop an attacker who has more.
    private static let maxAddresses = 100_000
    /// Milliseconds after which failures are forgotten.
    static let period: UInt64 = 60_000

    init(_ limits: Limits) {
        self.limits = limits
    }

    /// Returns the connection that makes room for one more from the same address: the oldest that has not said hello;
    /// nil if there is room, or all have said hello.
    func givesWay(to connection: Connection) -> ConnectionID? {
        guard let present = connection.stream.origin.flatMap({ self.present[$0] }),
            present.count >= limits.connectionsPerAddress
        else { return nil }
        return present.strangers.first
    }

    /// Counts a connection under its address, or returns why it is turned away.
    mutating func enter(_ connection: Connection) -> String? {
        guard let address = connection.stream.origin else { return nil }
        if present[address, default: Present()].count >= limits.connectionsPerAddress {
            return "this server accepts at most \(limits.connectionsPerAddress) connections from one address"
        }
        present[address, default: Present()].count += 1
        present[address]?.strangers.append(connection.id)
        connection.hasEntered = true
        return nil
    }

    /// A client with a right to be here has said hello: it no longer makes room for others.
    mutating func know(_ connection: Connection) {
        guard let address = connection.countedAddress else { return }
        present[address]?.strangers.removeAll { $0 == connection.id }
    }

    /// Counts a connection no more under its address.
    mutating func leave(_ connection: Connection) {
        guard let address = connection.countedAddress else { return }
        know(connection)
        connection.hasEntered = false
        present[address]?.count -= 1
        if present[address]?.count == 0 { present[address] = nil }
    }

    /// Counts a client with a token that is not valid, or without one. Returns whether to log it.
    mutating func turnedAway(_ connection: Connection, now: UInt64) -> Bool {
        guard let address = connection.countedAddress else { return true }
        if let failed = failures[address], now < failed.since + Self.period {
            guard failed.count < limits.failedHellos else { return false }
            failures[address]?.count += 1
        } else if failures[address] != nil || failures.count < Self.maxAddresses {
            failures[address] = Failures(count: 1, since: now)
        }
        return true
    }

    /// Counts a TLS handshake if an address may still make one; nil is this machine. Returns whether it may.
    mutating func shakesHands(_ address: String?, now: UInt64) -> Bool {
        guard let address else { return true }
        var left = handshakes[address] ?? TokenBucket(rate: limits.handshakesPerAddress, now: now)
        left.fill(now: now)
        guard !left.isEmpty else { return false }
        left.spend(1, now: now)
        if handshakes[address] != nil || handshakes.count < Self.maxAddresses { handshakes[address] = left }
        return true
    }

    /// Forgets addresses that no longer count.
    mutating func sweep(now: UInt64) {
        if !failures.isEmpty { failures = failures.filter { now < $0.value.since + Self.period } }
        for address in handshakes.keys {
            handshakes[address]?.fill(now: now)
            if handshakes[address]?.isFull == true { handshakes[address] = nil }
        }
    }
}

extension Connection {
    /// The address under which the connection is counted, if it is.
    fileprivate var countedAddress: String? { hasEntered ? stream.origin : nil }
}
