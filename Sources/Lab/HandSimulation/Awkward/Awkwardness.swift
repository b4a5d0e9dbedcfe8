import HandCore
import HandSync
import HandWire

/// What a server does to each connection once an edit was decided, to see whether the client stops.
package enum Provocation: String, CaseIterable, Sendable {
    /// It sends bytes that nobody understands.
    case unknown
    /// It welcomes the client in a version that the client did not offer.
    case version
    /// It says that another connection has the client's id, when no edit is pending.
    case replaced
}

/// A server's allowed but rare behavior, for developers of clients: tiny limits, other people who edit and move around
/// concurrently, and an `AwkwardWire` on every connection. All randomness comes from one seed.
package final class Awkwardness {
    private var random: SplitMix64
    package let guests: [AwkwardGuest]
    /// How often a client got the error `replaced`. More than three times a minute would have another meaning.
    private var replacements = 0
    private var connections = 0
    package var judge = Judge()
    private let provocation: Provocation?
    /// The bytes of a large frame's body.
    package let largeFrame: Int

    package init(seed: UInt64, provoking provocation: Provocation? = nil, largeFrame: Int = 16 << 20) {
        (self.provocation, self.largeFrame) = (provocation, largeFrame)
        random = SplitMix64(seed: seed)
        var seeds = SplitMix64(seed: random.next())
        guests = ["Bob", "Eve", "Zoë"].map { AwkwardGuest($0, seed: seeds.next()) }
    }

    /// Returns limits so small that rare events are frequent.
    package static func limits(_ limits: Limits) -> Limits {
        var limits = limits
        limits.windowBytes = 400
        limits.chunkBytes = 48
        limits.snapshotCommits = 8
        limits.historyCommits = 3
        limits.listsPage = 2
        limits.presenceInterval = 1
        limits.idleDeadline = 3_000
        return limits
    }

    /// The rules of the list that the server makes: so tight that some edits are refused.
    package static let rules = Rules(
        maximumCount: 60, allowedKinds: [.note, .task, unknownKind], maximumSize: 64, hasDeck: false, maximumLevel: 2)

    /// A kind of items that no program knows.
    static let unknownKind = Content.Kind(rawValue: 77)

    /// A retention that keeps only a short history.
    package static let retention = Retention(commits: 30)

    /// Returns the wire of one more connection. Only the first ones damage anything: after four times, a client stops.
    package func wire() -> AwkwardWire {
        connections += 1
        return AwkwardWire(seed: random.next(), mayDamage: connections <= 3)
    }

    /// What is due now.
    var provoked: Provocation? { judge.hasDecided ? provocation : nil }

    package func mayReplace() -> Bool {
        replacements += 1
        return replacements <= 2
    }

    /// Call this when a client requests a list: the guests open it too.
    package func enter(_ name: String) {
        for guest in guests { guest.enter(name) }
    }

    /// Makes the guests edit the list that a client is about to edit or requests, and move around on it.
    package func editFirst(_ frame: AwkwardWire.Received) {
        for guest in guests { guest.edit { $0 == frame.wanted || $1 == frame.list } }
    }
}
