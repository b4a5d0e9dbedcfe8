/// Which of the servers of an address to try, and how long that server has to answer.
///
/// A host's name may stand for several network addresses; each counts as a server of its own. In a *round*, each is
/// tried once, one directly after the other. If no server answers in a round, the client waits (`Backoff`), and the
/// next round begins at the home.
///
/// A server that does not answer at all would delay the client. So if there is another server to try, each server has
/// one second at first. If that time was too short for a server, the next round follows without a wait and allows twice
/// as much time, up to the time that a single server has.
package struct ServerRound: Sendable {
    /// What follows a failure.
    package enum Step: Equatable, Sendable {
        /// Try the new target at once.
        case tryNext
        /// The round is over. Wait for at least `notBefore` milliseconds, and in addition for the client's own wait.
        case wait(notBefore: UInt64, reason: String)
    }

    /// The result of the round so far.
    private struct Outcome {
        var failures: [(host: Int, reason: String)] = []
        var notBefore: UInt64 = 0
        /// Whether some server might have answered given more time.
        var wasHasty = false
    }

    /// The names of the hosts in messages.
    private let names: [String]
    private let others: Int
    private let home: Int
    private let maxTimeout: UInt64
    private var host: Int
    private var address: Int?
    /// The number of addresses of the host, as far as known.
    private var addresses = 1
    /// How many more addresses, and how many other hosts, the round still has to try.
    private var addressesLeft = 0
    private var hostsLeft: Int
    private var outcome = Outcome()
    private var timeout = Self.firstTimeout

    /// Milliseconds.
    static let firstTimeout: UInt64 = 1_000
    /// A connection that lasted for at least this many milliseconds counts as a success.
    static let lasting: UInt64 = 1_000

    /// - Parameters:
    ///   - names: the names of the hosts; empty for one host without a name.
    ///   - list: determines the host at which a round begins; nil for the first.
    ///   - maxTimeout: the time limit for a server in milliseconds, if there is no other server to try.
    package init(_ names: [String], list: String?, maxTimeout: UInt64) {
        self.names = names
        self.maxTimeout = maxTimeout
        others = max(0, names.count - 1)
        home = if let list { Self.home(of: list, among: others + 1) } else { 0 }
        host = home
        hostsLeft = others
    }

    /// Returns the host where all clients of a list meet, the same for clients of all versions: 64-bit FNV-1a of the
    /// name's UTF-8, its upper half XORed with its lower half (both as in RFC 9923 by Fowler, Noll, Vo and others),
    /// modulo the number of hosts. O(length of the name).
    package static func home(of list: String, among hosts: Int) -> Int {
        let hash = list.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
        return Int((hash >> 32 ^ hash & 0xFFFF_FFFF) % UInt64(hosts))
    }

    package var target: ClientMachine.Target {
        ClientMachine.Target(host: host, address: address, timeout: answerTimeout)
    }

    /// The time limit for each answer of the target in milliseconds; nil if there is no other server to try.
    package var answerTimeout: UInt64? { others > 0 || addresses > 1 ? min(timeout, maxTimeout) : nil }

    /// The name of the target's host; nil if there is only one host.
    package var name: String? { others > 0 ? names[host] : nil }

    /// Sets the number of addresses of the host; the first one is now the target.
    package mutating func found(addresses count: Int) {
        addresses = count
        address = 0
        addressesLeft = count - 1
    }

    /// Call this when the target has accepted the client.
    package mutating func succeeded() {
        outcome = Outcome()
        timeout = Self.firstTimeout
    }

    /// Begins a round at the home. Known addresses are discarded, as they may be out of date.
    package mutating func begin() {
        host = home
        (address, addresses, addressesLeft) = (nil, 1, 0)
        hostsLeft = others
        outcome = Outcome()
    }

    /// Call this when the target was not reached, or was lost.
    ///
    /// - Parameters:
    ///   - notBefore: milliseconds for which the server does not want another attempt.
    ///   - isHasty: whether the server might have answered given more time.
    ///   - lasted: milliseconds for which the server accepted the client. After a short time, the round continues:
    ///     otherwise servers that accept everybody and soon close the connection would be tried without end. After a
    ///     longer time, a new round begins, with the lost server as its first.
    package mutating func failed(
        _ reason: String, notBefore asked: UInt64 = 0, isHasty: Bool = false, lasted: UInt64 = 0
    ) -> Step {
        if lasted >= Self.lasting {
            addressesLeft = addresses - 1
            hostsLeft = others
        }
        outcome.failures.append((host, reason))
        outcome.notBefore = max(outcome.notBefore, asked)
        if isHasty, timeout < maxTimeout { outcome.wasHasty = true }
        if moveToNext() { return .tryNext }
        let (outcome, reason) = (outcome, summary)
        begin()
        timeout = outcome.wasHasty ? timeout * 2 : Self.firstTimeout
        if outcome.wasHasty, outcome.notBefore == 0 { return .tryNext }
        return .wait(notBefore: outcome.notBefore, reason: reason)
    }

    /// Moves to the next target in this round; returns false if all were tried.
    private mutating func moveToNext() -> Bool {
        if addressesLeft > 0, let last = address {
            addressesLeft -= 1
            address = (last + 1) % addresses
            return true
        }
        guard hostsLeft > 0 else { return false }
        hostsLeft -= 1
        host = (host + 1) % (others + 1)
        (address, addressesLeft) = (nil, 0)
        return true
    }

    /// Why no server was reached: each reason once, with the hosts that it applies to.
    private var summary: String {
        var reasons: [String] = []
        for failure in outcome.failures where !reasons.contains(failure.reason) { reasons.append(failure.reason) }
        guard others > 0 else { return reasons.joined(separator: "; ") }
        let parts = reasons.map { reason in
            let hosts = Set(outcome.failures.filter { $0.reason == reason }.map(\.host)).sorted()
            return hosts.map { names[$0] }.joined(separator: ", ") + ": " + reason
        }
        return parts.joined(separator: "; ")
    }
}

extension ClientMachine {
    /// The server to try now.
    public struct Target: Hashable, Sendable {
        /// The index of the host.
        public let host: Int
        /// The index of the address among the host's addresses; nil if the addresses must be found first.
        public let address: Int?
        /// The time limit in milliseconds to connect or to find the addresses; nil for the system's own limit.
        public let timeout: UInt64?

        package init(host: Int, address: Int?, timeout: UInt64?) {
            self.host = host
            self.address = address
            self.timeout = timeout
        }
    }
}
