import HandCore
import HandSync
import HandWire

/// A real store that is compared with the simulator's own. The server gets the answers of the real store, which must
/// equal the answers of the simulated store. The checkers look at the simulated store.
///
/// `@unchecked Sendable` is safe: one thread runs a simulation.
final class MirroredStore: CommitStore, @unchecked Sendable {
    private let bench: any StoreBench
    private let model: SimulatedStore
    /// Receives each difference.
    private let report: (String) -> Void

    init(_ bench: any StoreBench, _ disk: VirtualDisk, report: @escaping (String) -> Void) {
        self.bench = bench
        self.report = report
        model = SimulatedStore(disk)
    }

    private var real: any CommitStore { bench.store }

    /// Asks both stores. If the real store could not write because it is full, the simulated store does not write
    /// either.
    private func both<Value>(
        _ what: String, _ body: (any CommitStore) throws -> Value, _ isSame: (Value, Value) -> Bool
    ) throws -> Value {
        let answer = StoreError.catching { try body(real) }
        if case .failure(.failed(let reason)) = answer {
            if !bench.isFull { report("\(what) fails: \(reason)") }
            return try answer.get()
        }
        switch (answer, StoreError.catching { try body(model) }) {
        case (.success(let value), .success(let expected)):
            if !isSame(value, expected) { report("\(what) gives \(value), not \(expected)") }
        case (.failure(let error), .failure(let expected)):
            if !Self.isSame(error, expected) { report("\(what) fails with '\(error)', not '\(expected)'") }
        case (.failure(let error), .success): report("\(what) fails: \(error)")
        case (.success, .failure(let error)): report("\(what) does not fail: \(error)")
        }
        return try answer.get()
    }

    /// Errors that name a list are equal whatever their wording.
    private static func isSame(_ error: StoreError, _ expected: StoreError) -> Bool {
        switch (error, expected) {
        case (.noSuchList, .noSuchList), (.listExists, .listExists): true
        default: error == expected
        }
    }

    private func both<Value: Equatable>(
        _ what: String, _ body: (any CommitStore) throws -> Value
    ) throws -> Value {
        try both(what, body, ==)
    }

    @discardableResult
    func append(_ batches: [CommitBatch], by newcomers: [Newcomer]) throws -> [Appended] {
        try both("append") { try $0.append(batches, by: newcomers) }
    }

    /// Each store chooses how many frames it returns at once. A store may keep some frames before the floor, in one row
    /// with later ones.
    func frames(of list: ListNumber, after revision: Int, about bytes: Int) throws -> [StoredFrame] {
        try both(
            "frames after \(revision)", { try $0.frames(of: list, after: revision, about: bytes) },
            { real, plain in
                let kept = real.drop { $0.revision < plain.first?.revision ?? 0 }
                return zip(kept, plain).allSatisfy(==) && kept.isEmpty == plain.isEmpty
            })
    }

    func load(_ list: ListNumber) throws -> Authority.Start {
        try both(
            "load", { try $0.load(list) },
            { real, plain in
                (real.list, real.logID, real.revision) == (plain.list, plain.logID, plain.revision)
                    && real.hand == plain.hand && real.deck == plain.deck && real.sequences == plain.sequences
            })
    }

    func state(of list: ListNumber, at revision: Int) throws -> Hand {
        try both("state at \(revision)") { try $0.state(of: list, at: revision) }
    }

    func saveSnapshot(of list: ListNumber, _ hand: Hand, revision: Int, deck: Deck?) throws {
        try both(
            "snapshot at \(revision)", { try $0.saveSnapshot(of: list, hand, revision: revision, deck: deck) },
            { _, _ in true })
    }

    /// The real store decides how far a trim goes, even if the trim was interrupted.
    func trim(_ list: ListNumber, keeping retention: Retention, now: UInt64) throws -> Trimmed {
        let before = try model.disk.read { try $0.list(list).stored }
        // The list may be deleted by this time, and another list may have its name.
        func find(in store: any CommitStore) -> StoredList? {
            if let present = try? store.list(named: before.name), present.number == list { return present }
            let deleted = try? store.deletedLists(before: .max, limit: .max, named: before.name, among: nil)
            return deleted?.first { $0.list.number == list }?.list
        }
        defer {
            let after = find(in: real)
            if let floor = after?.floor, floor > before.floor {
                _ = try? model.disk.write {
                    try $0.trim(list, keeping: retention, now: now, step: floor - before.floor)
                }
            }
            if after != find(in: model) { report("trim of \(before) gives \(after.map { "\($0)" } ?? "no list")") }
        }
        return try real.trim(list, keeping: retention, now: now)
    }

    func create(
        _ name: String, rules: Rules, logID: UInt64, deckSeed: UInt64?, owner: String?
    ) throws -> StoredList {
        try both("create") {
            try $0.create(name, rules: rules, logID: logID, deckSeed: deckSeed, owner: owner)
        }
    }

    func rename(_ list: StoredList, to new: String) throws {
        try both("rename", { try $0.rename(list, to: new) }, { _, _ in true })
    }

    func delete(_ list: StoredList, by person: String, at time: UInt64) throws {
        try both("delete", { try $0.delete(list, by: person, at: time) }, { _, _ in true })
    }

    func undelete(_ deletion: UInt64, as name: String) throws {
        try both("undelete", { try $0.undelete(deletion, as: name) }, { _, _ in true })
    }

    func deletedLists(
        before number: UInt64, limit: Int, named name: String?, among lists: [UInt32]?
    ) throws -> [DeletedList] {
        try both("deleted lists") {
            try $0.deletedLists(before: number, limit: limit, named: name, among: lists)
        }
    }

    func purgeOldest(of owner: String?) throws -> String? {
        try both("giving up") { try $0.purgeOldest(of: owner) }
    }

    /// Each store chooses how much it removes at once.
    func sweep(keeping kept: UInt64, passed: UInt64) throws -> Sweep {
        try both("sweep", { try $0.sweep(keeping: kept, passed: passed) }, { _, _ in true })
    }

    func list(named name: String) throws -> StoredList? { try both("list") { try $0.list(named: name) } }

    func name(of list: UInt32) throws -> String? { try both("name") { try $0.name(of: list) } }

    func lists(after name: String, limit: Int) throws -> [StoredList] {
        try both("lists") { try $0.lists(after: name, limit: limit) }
    }

    func listCount(of owner: String?) throws -> Int { try both("list count") { try $0.listCount(of: owner) } }

    /// The sizes of the two stores differ.
    func size() throws -> Int { try real.size() }

    /// Each store chooses the numbers of new authors.
    func author(for client: ClientID, person: String) throws -> (author: Author, isNew: Bool) {
        try both(
            "author", { try $0.author(for: client, person: person) },
            { real, plain in
                if !real.isNew || !plain.isNew { return real == plain }
                let areFirst = (real.author.client == real.author.number, plain.author.client == plain.author.number)
                return areFirst == (true, true) || real.author.client == plain.author.client
            })
    }

    func people(_ authors: [AuthorID]) throws -> [DownMessage.Person] {
        try both("people") { try $0.people(authors) }
    }

    func clients(of authors: [AuthorID]) throws -> [AuthorID: AuthorID] {
        try both("clients") { try $0.clients(of: authors) }
    }

    func close() throws {}
}
