import HandCore
import HandWire

extension StoreContents {
    /// A deletion that can be undone.
    package struct Deletion {
        package let number: UInt64
        package let list: ListNumber
        let time: UInt64
        let person: String
        /// `StoreContents.passed` when the list was deleted.
        let start: UInt64
    }

    package mutating func rename(_ list: StoredList, to new: String) throws(StoreError) {
        try expectName(of: list)
        guard names[new] == nil else { throw .listExists(new) }
        names[list.name] = nil
        names[new] = list.number
        lists[list.number]?.stored.name = new
    }

    /// Checks that a list's name has not changed since it was looked up.
    private func expectName(of list: StoredList) throws(StoreError) {
        guard names[list.name] == list.number else { throw .noSuchList(list.name) }
    }

    package mutating func delete(_ list: StoredList, by person: String, at time: UInt64) throws(StoreError) {
        try expectName(of: list)
        names[list.name] = nil
        deletions.append(Deletion(number: nextDeletion, list: list.number, time: time, person: person, start: passed))
        nextDeletion += 1
    }

    package mutating func undelete(_ deletion: UInt64, as name: String) throws(StoreError) {
        guard let index = deletions.firstIndex(where: { $0.number == deletion }) else { throw .notDeleted(name) }
        guard names[name] == nil else { throw .listExists(name) }
        let list = deletions.remove(at: index).list
        names[name] = list
        lists[list]?.stored.name = name
    }

    package func name(of list: UInt32) -> String? {
        present.lazy.map(\.stored).first { LogID.list($0.logID) == list }?.name
    }

    package func deletedLists(
        before number: UInt64, limit: Int, named name: String?, among wanted: [UInt32]?
    ) -> [DeletedList] {
        var found: [DeletedList] = []
        for deletion in deletions.reversed() where deletion.number < number && found.count < limit {
            guard let list = lists[deletion.list]?.stored, name == nil || list.name == name,
                wanted?.contains(LogID.list(list.logID)) ?? true
            else { continue }
            found.append(
                DeletedList(
                    deletion: deletion.number, list: list, time: deletion.time, person: deletion.person,
                    age: passed - deletion.start))
        }
        return found
    }

    package mutating func purgeOldest(of owner: String?) -> String? {
        deletions.first { owner == nil || lists[$0.list]?.owner == owner }.flatMap { giveUp($0) }
    }

    /// - Parameter step: the maximum number of commits removed at once.
    package mutating func sweep(keeping kept: UInt64, passed more: UInt64, step: Int) -> Sweep {
        if !deletions.isEmpty { passed += more }
        let names = deletions.filter { passed - $0.start >= kept }.compactMap { giveUp($0) }
        guard !leaving.isEmpty else { return Sweep() }
        if !leaving[0].remove(step) { leaving.removeFirst() }
        return Sweep(names: names, hasMore: true)
    }

    /// Returns the former name of the list.
    private mutating func giveUp(_ deletion: Deletion) -> String? {
        deletions.removeAll { $0.number == deletion.number }
        guard let list = lists.removeValue(forKey: deletion.list) else { return nil }
        leaving.append(list)
        return list.stored.name
    }
}
