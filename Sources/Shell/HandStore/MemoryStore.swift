import HandCore
import HandSync
import HandWire
import Synchronization

/// A `CommitStore` that keeps everything in memory until the process ends. It never blocks for long.
package final class MemoryStore: CommitStore {
    private let contents = Mutex(StoreContents())
    /// The last number that an author got.
    private let lastAuthor = Atomic<UInt64>(0)

    /// Whether the next write fails, as a write to a disk might.
    private let fails: @Sendable () -> Bool

    package init(failing fails: @escaping @Sendable () -> Bool = { false }) {
        self.fails = fails
    }

    package var blocks: Bool { false }

    @discardableResult
    package func append(_ batches: [CommitBatch], by newcomers: [Newcomer]) throws -> [Appended] {
        if fails() { throw StoreError.failed("a write failed on purpose") }
        return try contents.withLock { try $0.append(batches, by: newcomers) }
    }

    package func frames(of list: UInt64, after revision: Int, about bytes: Int) throws -> [StoredFrame] {
        contents.withLock { $0.frames(of: list, after: revision, about: bytes) }
    }

    package func load(_ list: UInt64) throws -> Authority.Start {
        try contents.withLock { $0 }.load(list)
    }

    package func state(of list: UInt64, at revision: Int) throws -> Hand {
        try contents.withLock { $0 }.state(of: list, at: revision)
    }

    package func saveSnapshot(of list: UInt64, _ hand: Hand, revision: Int, deck: Deck?) throws {
        contents.withLock { $0.saveSnapshot(of: list, hand, revision: revision, deck: deck) }
    }

    package func trim(_ list: UInt64, keeping retention: Retention, now: UInt64) throws -> Trimmed {
        try contents.withLock { try $0.trim(list, keeping: retention, now: now, step: .max) }
    }

    package func create(
        _ name: String, rules: Rules, logID: UInt64, deckSeed: UInt64?, owner: String?
    ) throws -> StoredList {
        try contents.withLock { try $0.create(name, rules: rules, logID: logID, deckSeed: deckSeed, owner: owner) }
    }

    package func rename(_ list: StoredList, to new: String) throws {
        try contents.withLock { try $0.rename(list, to: new) }
    }

    package func delete(_ list: StoredList, by person: String, at time: UInt64) throws {
        try contents.withLock { try $0.delete(list, by: person, at: time) }
    }

    package func undelete(_ deletion: UInt64, as name: String) throws {
        try contents.withLock { try $0.undelete(deletion, as: name) }
    }

    package func deletedLists(
        before number: UInt64, limit: Int, named name: String?, among lists: [UInt32]?
    ) throws -> [DeletedList] {
        contents.withLock { $0.deletedLists(before: number, limit: limit, named: name, among: lists) }
    }

    package func giveUpOldest(of owner: String?) throws -> Bool {
        contents.withLock { $0.giveUpOldest(of: owner) }
    }

    package func sweep(deletedBy time: UInt64) throws -> Bool {
        contents.withLock { $0.sweep(deletedBy: time, step: .max) }
    }

    package func name(of list: UInt32) throws -> String? { contents.withLock { $0.name(of: list) } }

    package func list(named name: String) throws -> StoredList? {
        contents.withLock { $0.list(named: name)?.stored }
    }

    package func lists(after name: String, limit: Int) throws -> [StoredList] {
        contents.withLock { $0.lists(after: name, limit: limit) }
    }

    package func listCount(of owner: String?) throws -> Int {
        contents.withLock { $0.listCount(of: owner) }
    }

    package func size() throws -> Int {
        contents.withLock { $0.size }
    }

    package func author(for client: ClientID, person: String) throws -> (author: Author, isNew: Bool) {
        contents.withLock {
            $0.author(for: client, person: person) { lastAuthor.add(1, ordering: .relaxed).newValue }
        }
    }

    package func people(_ authors: [UInt64]) throws -> [DownMessage.Person] {
        contents.withLock { $0.people(authors) }
    }

    package func clients(of authors: [UInt64]) throws -> [UInt64: UInt64] {
        contents.withLock { $0.clients(of: authors) }
    }

    package func close() throws {}
}
