import HandCore
import HandSync
import HandWire

/// A `CommitStore` on a virtual disk.
///
/// `@unchecked Sendable` is safe: one thread runs a simulation.
package final class SimulatedStore: CommitStore, @unchecked Sendable {
    let disk: VirtualDisk
    /// The last number given to an author. The next process continues after it.
    private var lastAuthor: UInt64 = 0

    init(_ disk: VirtualDisk, isShared: Bool = false) {
        self.disk = disk
        self.isShared = isShared
    }

    /// A store that starts empty and loses nothing.
    ///
    /// - Parameter isShared: whether several servers write to it.
    package convenience init(isShared: Bool = false) {
        self.init(VirtualDisk(flushesAtOnce: true), isShared: isShared)
    }

    package let isShared: Bool

    /// The fate of an append to a shared store, and of its answer.
    package enum Fate: Sendable {
        case answered
        /// The append is not executed, and there is no answer.
        case lost
        /// The append is executed, but there is no answer.
        case executed
    }

    /// The fates of the next batches, in order. Later batches are answered.
    package var fates: [Fate] = []

    /// The presence entries of each server. Nothing else is forgotten when the store restarts.
    package var presence: [PresencePlace: PresenceNews] = [:]
    var seen: [UInt64: UInt64] = [:]
    /// The store's clock, in milliseconds.
    package var now: () -> UInt64 = { 0 }

    @discardableResult
    package func append(_ batches: [CommitBatch], by newcomers: [Newcomer]) throws -> [Appended] {
        guard isShared else { return try disk.write { try $0.append(batches, by: newcomers) } }
        if !newcomers.isEmpty { _ = try disk.write { try $0.append([], by: newcomers) } }
        return try batches.map { batch in
            let fate = fates.isEmpty ? .answered : fates.removeFirst()
            if fate == .lost { return .unknown }
            let outcome = try appendAlone(batch)
            return fate == .executed ? .unknown : outcome
        }
    }

    /// Appends a batch in a transaction of its own. The same batch is committed only once.
    private func appendAlone(_ batch: CommitBatch) throws -> Appended {
        guard let head = try disk.read({ try $0.head(of: batch.list) }), batch.logID ?? head.logID == head.logID else {
            return .gone
        }
        let missed = disk.read { $0.frames(of: batch.list, after: batch.expected, about: .max) }
        if !missed.isEmpty { return batch.isPrefix(of: missed) ? .taken : .missed(missed) }
        guard head.revision == batch.expected, batch.digest ?? head.digest == head.digest else { return .missed([]) }
        _ = try disk.write { try $0.append([batch], by: []) }
        return .taken
    }

    package func heads(of lists: [UInt64]) throws -> [StoredHead] {
        try disk.read { contents in try lists.compactMap { try contents.head(of: $0) } }
    }

    package func frames(of list: UInt64, after revision: Int, about bytes: Int) throws -> [StoredFrame] {
        disk.read { $0.frames(of: list, after: revision, about: bytes) }
    }

    package func load(_ number: UInt64) throws -> Authority.Start {
        try disk.read { try $0.load(number) }
    }

    package func state(of number: UInt64, at revision: Int) throws -> Hand {
        try disk.read { try $0.state(of: number, at: revision) }
    }

    /// Ignores the snapshot if the server is late and the history has gone back in between: the snapshot is of another
    /// history.
    package func saveSnapshot(of list: UInt64, _ hand: Hand, revision: Int, deck: Deck?) throws {
        if isShared, (try? state(of: list, at: revision))?.digest != hand.digest { return }
        try disk.write { $0.saveSnapshot(of: list, hand, revision: revision, deck: deck) }
    }

    /// Removes a few commits at a time, like a slow disk.
    package func trim(_ number: UInt64, keeping retention: Retention, now: UInt64) throws -> Trimmed {
        try disk.write { try $0.trim(number, keeping: retention, now: now, step: 3) }
    }

    package func create(
        _ name: String, rules: Rules, logID: UInt64, deckSeed: UInt64?, owner: String?
    ) throws -> StoredList {
        try disk.write { try $0.create(name, rules: rules, logID: logID, deckSeed: deckSeed, owner: owner) }
    }

    package func rename(_ list: StoredList, to new: String) throws {
        try disk.write { try $0.rename(list, to: new) }
    }

    package func delete(_ list: StoredList, by person: String, at time: UInt64) throws {
        try disk.write { try $0.delete(list, by: person, at: time) }
    }

    package func undelete(_ deletion: UInt64, as name: String) throws {
        try disk.write { try $0.undelete(deletion, as: name) }
    }

    package func deletedLists(
        before number: UInt64, limit: Int, named name: String?, among lists: [UInt32]?
    ) throws -> [DeletedList] {
        disk.read { $0.deletedLists(before: number, limit: limit, named: name, among: lists) }
    }

    package func giveUpOldest(of owner: String?) throws -> Bool {
        try disk.write { $0.giveUpOldest(of: owner) }
    }

    package func sweep(deletedBy time: UInt64) throws -> Bool {
        try disk.write { $0.sweep(deletedBy: time, step: 3) }
    }

    package func name(of list: UInt32) throws -> String? { disk.read { $0.name(of: list) } }

    package func list(named name: String) throws -> StoredList? {
        disk.read { $0.list(named: name)?.stored }
    }

    package func lists(after name: String, limit: Int) throws -> [StoredList] {
        disk.read { $0.lists(after: name, limit: limit) }
    }

    package func listCount(of owner: String?) throws -> Int {
        disk.read { $0.listCount(of: owner) }
    }

    package func size() throws -> Int {
        disk.read { $0.size }
    }

    package func author(for client: ClientID, person: String) throws -> (author: Author, isNew: Bool) {
        let found = disk.read { contents in
            contents.author(for: client, person: person) {
                lastAuthor += 1
                return lastAuthor
            }
        }
        guard isShared, found.isNew else { return found }
        // The other servers must find it.
        _ = try disk.write { try $0.append([], by: [Newcomer(found.author, client: client, person: person)]) }
        return (found.author, false)
    }

    package func people(_ authors: [UInt64]) throws -> [DownMessage.Person] {
        disk.read { $0.people(authors) }
    }

    package func clients(of authors: [UInt64]) throws -> [UInt64: UInt64] {
        disk.read { $0.clients(of: authors) }
    }

    package func close() throws {}
}
