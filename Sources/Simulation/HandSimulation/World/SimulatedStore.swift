import HandCore
import HandSync
import HandWire

/// A `CommitStore` on a virtual disk.
///
/// `@unchecked Sendable` is safe: a simulation is run by one thread.
package final class SimulatedStore: CommitStore, @unchecked Sendable {
    let disk: VirtualDisk

    init(_ disk: VirtualDisk) {
        self.disk = disk
    }

    /// A store that starts empty and loses nothing.
    package convenience init() {
        self.init(VirtualDisk(flushesAtOnce: true))
    }

    private func list(_ number: UInt64, in contents: StoreContents) throws -> StoreContents.List {
        guard let list = contents.lists[number] else { throw StoreError.noSuchList("number \(number)") }
        return list
    }

    package func append(_ batches: [CommitBatch]) throws {
        try disk.write { contents in
            for batch in batches { try contents.append(batch) }
        }
    }

    package func frames(of list: UInt64, after revision: Int, about bytes: Int) throws -> [StoredFrame] {
        disk.read { contents in contents.lists[list]?.frames(after: revision, about: bytes) ?? [] }
    }

    package func load(_ number: UInt64) throws -> Authority.Start {
        try disk.read { contents in
            let list = try list(number, in: contents)
            let replay = try list.replay(through: list.stored.revision)
            return Authority.Start(
                list: number, logID: list.stored.logID, hand: replay.hand, revision: replay.revision,
                deck: replay.deck, sequences: list.sequences, snapshotRevision: replay.start)
        }
    }

    package func state(of number: UInt64, at revision: Int) throws -> Hand {
        try disk.read { contents in
            let list = try list(number, in: contents)
            guard (list.stored.floor...list.stored.revision).contains(revision) else {
                throw StoreError.noSuchRevision(revision, oldest: list.stored.floor, newest: list.stored.revision)
            }
            return try list.replay(through: revision).hand
        }
    }

    package func saveSnapshot(of list: UInt64, _ hand: Hand, revision: Int, deck: Deck?) throws {
        try disk.write { contents in
            guard let floor = contents.lists[list]?.stored.floor, floor <= revision else { return }
            contents.lists[list]?.snapshots.append(
                StoreContents.Snapshot(revision: revision, hand: hand, deck: deck))
        }
    }

    package func trim(_ number: UInt64, keeping retention: Retention, now: UInt64) throws -> Trimmed {
        try disk.write { contents in
            let list = try list(number, in: contents)
            let cut = try retention.cut(floor: list.stored.floor, revision: list.stored.revision, now: now) {
                try list.frames(after: $0 - 1, about: 1)[0].commit().time
            }
            // A few at a time, as with a disk on which that takes long.
            let floor = min(cut, list.stored.floor + 3)
            if floor > list.stored.floor { try contents.lists[number]?.forget(through: floor) }
            return Trimmed(floor: floor, hasMore: floor < cut)
        }
    }

    package func create(_ name: String, rules: Rules, logID: UInt64, deckSeed: UInt64?) throws -> StoredList {
        try disk.write { try $0.create(name, rules: rules, logID: logID, deckSeed: deckSeed) }
    }

    package func delete(_ name: String) throws {
        try disk.write { contents in
            guard let list = contents.list(named: name) else { throw StoreError.noSuchList(name) }
            contents.lists[list.stored.number] = nil
        }
    }

    package func list(named name: String) throws -> StoredList? {
        disk.read { $0.list(named: name)?.stored }
    }

    package func lists(after name: String, limit: Int) throws -> [StoredList] {
        let lists = disk.read { $0.lists.values.map(\.stored) }
        return Array(lists.filter { $0.name > name }.sorted { $0.name < $1.name }.prefix(limit))
    }

    package func listCount() throws -> Int {
        disk.read { $0.lists.count }
    }

    package func author(for client: ClientID, person: String) throws -> UInt64 {
        if let known = disk.read({ $0.authors[client] }), known.person == person { return known.number }
        return try disk.write { $0.author(for: client, person: person) }
    }

    package func people(_ authors: [UInt64]) throws -> [DownMessage.Person] {
        let known = disk.read { $0.authors.values.map { DownMessage.Person(author: $0.number, name: $0.person) } }
        return authors.compactMap { author in known.first { $0.author == author } }
    }

    package func close() throws {}
}
