import HandCore
import HandSync
import HandWire

/// What a simulated client has on disk, as the bytes that a real journal holds.
struct VirtualJournal {
    private struct Kept {
        var head: [UInt8]
        var items: [Item]
        var events: [[UInt8]] = []
    }

    private var lists: [String: Kept] = [:]

    var names: [String] { lists.keys.sorted() }

    mutating func append(_ events: [JournalEvent], to list: String) {
        lists[list]?.events += events.map(\.bytes)
    }

    mutating func checkpoint(_ replica: Replica, of list: String) {
        lists[list] = Kept(head: replica.checkpoint.bytes, items: Array(replica.confirmed))
    }

    mutating func forget(_ list: String) {
        lists[list] = nil
    }

    /// The replica of a list as it was kept.
    func load(_ list: String) throws -> Replica? {
        guard let kept = lists[list] else { return nil }
        let checkpoint = try kept.head.withUnsafeBytes { try Replica.Checkpoint($0) }
        var replica = try Replica(checkpoint, confirmed: Hand(kept.items, rules: checkpoint.rules))
        for event in kept.events { try replica.replay(event.withUnsafeBytes { try JournalEvent($0) }) }
        return replica
    }
}
