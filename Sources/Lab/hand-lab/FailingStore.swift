import HandCore
import HandStore
import HandSync
import HandWire
import Synchronization

/// A store in memory that sometimes refuses commits, as a full disk does.
final class FailingStore: ContentsStore {
    private let store = MemoryStore()
    private let random: Mutex<SplitMix64>

    init(seed: UInt64) { random = Mutex(SplitMix64(seed: seed)) }

    var blocks: Bool { store.blocks }
    var step: Int { store.step }

    func read<Value: Sendable>(_ body: (StoreContents) throws -> Value) throws -> Value { try store.read(body) }

    func write<Value: Sendable>(_ body: (inout StoreContents) throws -> Value) throws -> Value {
        try store.write(body)
    }

    func append(_ batches: [CommitBatch], by newcomers: [Newcomer]) throws -> [Appended] {
        if random.withLock({ $0.next(below: 25) == 0 }) { throw StoreError.failed("a write failed on purpose") }
        return try store.append(batches, by: newcomers)
    }

    func author(for client: ClientID, person: String) throws -> (author: Author, isNew: Bool) {
        try store.author(for: client, person: person)
    }
}
