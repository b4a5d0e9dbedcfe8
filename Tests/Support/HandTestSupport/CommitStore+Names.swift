import HandCore
import HandSync

extension CommitStore {
    package func rename(_ name: String, to new: String) throws {
        try rename(named(name), to: new)
    }

    package func delete(_ name: String, by person: String, at time: UInt64) throws {
        try delete(named(name), by: person, at: time)
    }

    private func named(_ name: String) throws -> StoredList {
        guard let list = try list(named: name) else { throw StoreError.noSuchList(name) }
        return list
    }

    package func create(_ name: String, rules: Rules, logID: UInt64, deckSeed: UInt64?) throws -> StoredList {
        try create(name, rules: rules, logID: logID, deckSeed: deckSeed, owner: nil)
    }
}
