import HandCore
import HandWire

/// A `CommitStore` whose contents are a value. A conforming type only says how the contents are read and written.
package protocol ContentsStore: CommitStore {
    /// The maximum number of commits that `trim` and `sweep` remove at once.
    var step: Int { get }
    func read<Value: Sendable>(_ body: (StoreContents) throws -> Value) throws -> Value
    func write<Value: Sendable>(_ body: (inout StoreContents) throws -> Value) throws -> Value
}

extension ContentsStore {
    package func frames(of list: ListNumber, after revision: Int, about bytes: Int) throws -> [StoredFrame] {
        try read { $0.frames(of: list, after: revision, about: bytes) }
    }

    package func load(_ list: ListNumber) throws -> Authority.Start { try read { try $0.load(list) } }

    package func state(of list: ListNumber, at revision: Int) throws -> Hand {
        try read { try $0.state(of: list, at: revision) }
    }

    package func heads(of lists: [ListNumber]) throws -> [StoredHead] {
        try read { contents in try lists.compactMap { try contents.head(of: $0) } }
    }

    package func saveSnapshot(of list: ListNumber, _ hand: Hand, revision: Int, deck: Deck?) throws {
        try write { $0.saveSnapshot(of: list, hand, revision: revision, deck: deck) }
    }

    package func trim(_ list: ListNumber, keeping retention: Retention, now: UInt64) throws -> Trimmed {
        try write { try $0.trim(list, keeping: retention, now: now, step: step) }
    }

    package func create(
        _ name: String, rules: Rules, logID: UInt64, deckSeed: UInt64?, owner: String?
    ) throws -> StoredList {
        try write { try $0.create(name, rules: rules, logID: logID, deckSeed: deckSeed, owner: owner) }
    }

    package func rename(_ list: StoredList, to new: String) throws { try write { try $0.rename(list, to: new) } }

    package func delete(_ list: StoredList, by person: String, at time: UInt64) throws {
        try write { try $0.delete(list, by: person, at: time) }
    }

    package func undelete(_ deletion: UInt64, as name: String) throws {
        try write { try $0.undelete(deletion, as: name) }
    }

    package func deletedLists(
        before number: UInt64, limit: Int, named name: String?, among lists: [UInt32]?
    ) throws -> [DeletedList] {
        try read { $0.deletedLists(before: number, limit: limit, named: name, among: lists) }
    }

    package func purgeOldest(of owner: String?) throws -> String? { try write { $0.purgeOldest(of: owner) } }

    package func sweep(keeping kept: UInt64, passed: UInt64) throws -> Sweep {
        try write { $0.sweep(keeping: kept, passed: passed, step: step) }
    }

    package func name(of list: UInt32) throws -> String? { try read { $0.name(of: list) } }

    package func list(named name: String) throws -> StoredList? { try read { $0.list(named: name)?.stored } }

    package func lists(after name: String, limit: Int) throws -> [StoredList] {
        try read { $0.lists(after: name, limit: limit) }
    }

    package func listCount(of owner: String?) throws -> Int { try read { $0.listCount(of: owner) } }

    package func size() throws -> Int { try read { $0.size } }

    package func people(_ authors: [AuthorID]) throws -> [DownMessage.Person] { try read { $0.people(authors) } }

    package func clients(of authors: [AuthorID]) throws -> [AuthorID: AuthorID] { try read { $0.clients(of: authors) } }

    package func close() throws {}
}
