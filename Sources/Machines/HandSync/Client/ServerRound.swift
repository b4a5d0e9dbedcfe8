/// Which of the servers of an address is tried, and how long it has to answer.
///
/// A host's name may stand for several network addresses; each counts as a server of its own. In a *round* each is tried once, one
/// directly after the other. A round that nobody has answered ends with a wait (`Backoff`), and the next one begins at the home.
///
/// Those who do not answer at all would hold a client up. So where there is somebody else to try, they have a second at first. If that
/// was too short for one of them, the next round follows without a wait and gives twice as long, up to the time that a single server has.
public struct ServerRound: Sendable {
    /// What is to be tried now.
    public struct Target: Hashable, Sendable {
        /// The index of the host.
        public let host: Int
        /// Which of the addresses that were found for it; nil if they are to be found first.
        public let address: Int?
        /// Milliseconds to connect or to find the addresses; nil for as many as the system takes.
        public let patience: UInt64?

        package init(host: Int, address: Int?, patience: UInt64?) {
            self.host = host
            self.address = address
            self.patience = patience
        }
    }

    /// What follows a failure.
    package enum Step: Equatable, Sendable {
        /// The new target is tried at once.
        case goOn
        /// The round is over. Nobody is to be tried sooner than so many milliseconds from now, beside the client's own wait.
        case wait(notBefore: UInt64, reason: String)
    }

    /// What came of the round so far.
    private struct Outcome {
        var failures: [(host: Int, reason: String)] = []
        var notBefore: UInt64 = 0
        /// Whether somebody might have answered, had it had more time.
        var wasHasty = false
    }

    /// How the hosts are called in messages.
    private let names: [String]
    private let others: Int
    private let home: Int
    private let most: UInt64
    private var host: Int
    private var address: Int?
    /// How many addresses the host has, as far as is known.
    private var addresses = 1
    /// How many of them, and how many other hosts, the round has before it.
    private var addressesLeft = 0
    private var hostsLeft: Int
    private var outcome = Outcome()
    private var patience = Self.firstPatience

    /// Milliseconds.
    static let firstPatience: UInt64 = 1_000
    /// A connection that was there for so many milliseconds counts as a success when it is lost.
    static let lasting: UInt64 = 1_000

    /// - Parameters:
    ///   - names: of the hosts; none is one host, which needs no name.
    ///   - list: decides at which host a round begins; nil for the first.
    ///   - most: how many milliseconds a server has to answer if it need not be hurried.
    package init(_ names: [String], list: String?, most: UInt64) {
        self.names = names
        self.most = most
        others = max(0, names.count - 1)
        home = if let list { Self.home(of: list, among: others + 1) } else { 0 }
        host = home
        hostsLeft = others
    }

    /// The host at which those who work on a list meet, the same for clients of all versions: FNV-1a with 64 bits of the name's
    /// UTF-8, its upper half XORed to its lower one (both as in RFC 9923 of Fowler, Noll, Vo and others), modulo the number of hosts.
    /// O(length of the name).
    package static func home(of list: String, among hosts: Int) -> Int {
        let hash = list.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
        return Int((hash >> 32 ^ hash & 0xFFFF_FFFF) % UInt64(hosts))
    }

    package var target: Target { Target(host: host, address: address, patience: hurry) }

    /// How long the target has for each of its answers; nil if there is nobody else to try.
    package var hurry: UInt64? { others > 0 || addresses > 1 ? min(patience, most) : nil }

    /// How the target is called; nil if there is one host only.
    package var name: String? { others > 0 ? names[host] : nil }

    /// The host has so many addresses; the first is the target now.
    package mutating func found(addresses count: Int) {
        addresses = count
        address = 0
        addressesLeft = count - 1
    }

    /// The target has let the client in.
    package mutating func succeeded() {
        outcome = Outcome()
        patience = Self.firstPatience
    }

    /// Begins a round at the home. What is known of addresses may be out of date by now.
    package mutating func begin() {
        host = home
        (address, addresses, addressesLeft) = (nil, 1, 0)
        hostsLeft = others
        outcome = Outcome()
    }

    /// The target was not reached, or was lost.
    ///
    /// - Parameters:
    ///   - notBefore: milliseconds that the server wants to be left alone.
    ///   - isHasty: whether it might have answered, had it had more time.
    ///   - lasted: milliseconds for which the client was let in. After a short time, the round goes on where it was: otherwise servers
    ///     that let everybody in and soon send them away would be tried without end. After a longer one, it is a new round, with the
    ///     lost server as its first.
    package mutating func failed(
        _ reason: String, notBefore asked: UInt64 = 0, isHasty: Bool = false, lasted: UInt64 = 0
    ) -> Step {
        if lasted >= Self.lasting {
            addressesLeft = addresses - 1
            hostsLeft = others
        }
        outcome.failures.append((host, reason))
        outcome.notBefore = max(outcome.notBefore, asked)
        if isHasty, patience < most { outcome.wasHasty = true }
        if goOn() { return .goOn }
        let (outcome, reason) = (outcome, summary)
        begin()
        patience = outcome.wasHasty ? patience * 2 : Self.firstPatience
        return outcome.wasHasty && outcome.notBefore == 0 ? .goOn : .wait(notBefore: outcome.notBefore, reason: reason)
    }

    /// Turns to who comes next in this round; false if all were tried.
    private mutating func goOn() -> Bool {
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

    /// Why nobody was reached: each reason once, with those whom it is about.
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
