import HandCore
import HandSync
import HandWire
import Synchronization

/// A `CommitStore` that keeps everything in memory until the process ends. It never blocks for long.
package final class MemoryStore: ContentsStore {
    private let contents = Mutex(StoreContents())
    /// The last number that an author got.
    private let lastAuthor = Atomic<UInt64>(0)

    package init() {}

    package var blocks: Bool { false }
    package var step: Int { .max }

    package func read<Value: Sendable>(_ body: (StoreContents) throws -> Value) throws -> Value {
        try contents.withLock { try body($0) }
    }

    package func write<Value: Sendable>(_ body: (inout StoreContents) throws -> Value) throws -> Value {
        try contents.withLock { try body(&$0) }
    }

    @discardableResult
    package func append(_ batches: [CommitBatch], by newcomers: [Newcomer]) throws -> [Appended] {
        try write { try $0.append(batches, by: newcomers) }
    }

    package func author(for client: ClientID, person: String) throws -> (author: Author, isNew: Bool) {
        try read { contents in
            contents.author(for: client, person: person) {
                AuthorID(rawValue: lastAuthor.add(1, ordering: .relaxed).newValue)
            }
        }
    }
}
