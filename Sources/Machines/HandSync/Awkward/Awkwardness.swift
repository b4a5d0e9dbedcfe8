import HandCore
import HandWire

/// A server that does what is allowed and rare, for who writes a client: tiny limits, people who edit and move about in
/// between, and an `AwkwardWire` on every connection. All chance comes from one seed.
package final class Awkwardness {
    private let service: Service
    private var random: SplitMix64
    private let guests: [AwkwardGuest]
    /// How often a client was told that it has connected again. More than three times a minute would mean something else.
    private var replacements = 0

    package init(_ service: Service, seed: UInt64) {
        self.service = service
        random = SplitMix64(seed: seed)
        var seeds = SplitMix64(seed: random.next())
        guests = ["Bob", "Eve", "Zoë"].map { AwkwardGuest($0, seed: seeds.next()) }
    }

    /// Limits so small that what is rare is not.
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

    /// Little of the history is kept.
    package static let retention = Retention(commits: 30)

    /// What happens to the next connection.
    package func wire() -> AwkwardWire { AwkwardWire(seed: random.next()) }

    package func mayReplace() -> Bool {
        replacements += 1
        return replacements <= 2
    }

    /// Somebody asks for a list: the others come too.
    package func enter(_ name: String) {
        for guest in guests { guest.enter(name) }
    }

    /// The others edit the list that a client is to edit or asks for, and move about on it.
    package func editFirst(_ frame: AwkwardWire.Received) {
        for guest in guests { guest.edit { $0 == frame.wanted || $1 == frame.list } }
    }

    /// Hands over what others say and are told. Returns whether there was anything. Not to be called from within the service.
    package func pump() -> Bool {
        var hasWorked = false
        for guest in guests where guest.pump(service) { hasWorked = true }
        return hasWorked
    }
}
