import HandCore
import HandSync
import HandWire

/// The files of a simulated client, as the bytes that a real journal writes.
struct VirtualJournal {
    private struct Kept {
        var head: [UInt8]
        var items: [Item]
        var events: [[UInt8]] = []
    }

    private var lists: [String: Kept] = [:]
    /// Replicas with pending edits whose names other lists have taken. The simulation never returns to these replicas.
    private(set) var setAside: [Replica] = []
    private(set) var client: ClientID
    /// The last sequence used in each history that has no kept list.
    private(set) var used: [UInt64: SequenceNumber] = [:]
    /// Whether another program is known to use the same id.
    private(set) var isShared = false

    init(_ client: ClientID) {
        self.client = client
    }

    /// Takes another id, unless a submission is in flight under the present id. Returns whether the journal took the
    /// new id.
    mutating func take(_ fresh: ClientID) -> Bool {
        if names.contains(where: { (try? load($0))?.inFlight != nil }) { return false }
        (client, isShared, used) = (fresh, false, [:])
        return true
    }

    var names: [String] { lists.keys.sorted() }

    mutating func keep(_ write: JournalWrite) {
        switch write {
        case .append(let events, let list): lists[list]?.events += events.map(\.bytes)
        case .checkpoint(let replica, let list, let formerName):
            if let formerName {
                if let waiting = try? load(list), waiting.hasPending { setAside.append(waiting) }
                lists[formerName] = nil
            }
            lists[list] = Kept(head: replica.checkpoint.bytes, items: Array(replica.confirmed))
        case .shared: isShared = true
        case .used(let log, let sequence): used[log] = max(used[log] ?? 0, sequence)
        case .submission(let made, _): used[made.log] = max(used[made.log] ?? 0, made.sequence)
        case .answered, .undo, .work, .lost, .found, .told, .met, .committed: break
        }
    }

    mutating func forget(_ list: String) {
        if let replica = try? load(list) { used[replica.logID] = max(used[replica.logID] ?? 0, replica.sequence) }
        lists[list] = nil
    }

    func load(_ list: String) throws -> Replica? {
        guard let kept = lists[list] else { return nil }
        let checkpoint = try kept.head.withUnsafeBytes { try Replica.Checkpoint($0) }
        var replica = try Replica(checkpoint, confirmed: Hand(kept.items, rules: checkpoint.rules))
        for event in kept.events { try replica.replay(event.withUnsafeBytes { try JournalEvent($0) }) }
        return replica
    }
}
