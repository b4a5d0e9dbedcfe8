import HandCore

/// What people meant: each item that somebody put into a list is to be there at the end, unless somebody took it out. Lists go by
/// their log ids: whatever they are called, and whether they were deleted in between.
final class Promises {
    private struct Owed {
        let client: Int
        let list: UInt64
        /// Whether the client has it on disk: from then on it may not get lost.
        var isKept = false
    }

    private var owed: [ItemID: Owed] = [:]
    private var takenOut: Set<ItemID> = []
    /// On which list each item was made.
    private var made: [ItemID: UInt64] = [:]

    /// Somebody is about to make an edit.
    func edit(client: Int, list: UInt64, inserted: [ItemID], deleted: [ItemID]) {
        for item in inserted {
            owed[item] = Owed(client: client, list: list)
            made[item] = list
        }
        takenOut.formUnion(deleted)
    }

    /// What a client has put into lists and has not on its disk.
    func unkept(by client: Int) -> [ItemID] {
        owed.filter { $0.value.client == client && !$0.value.isKept }.map(\.key)
    }

    /// These items are on their client's disk.
    func kept(_ items: [ItemID]) {
        for item in items { owed[item]?.isKept = true }
    }

    /// An item that a client has put into a list and that is neither on its way nor committed; nil if there is none.
    func lost(client: Int, list: UInt64, pending: [Delta], committed: Set<ItemID>) -> ItemID? {
        let open = owed.filter { item, promise in
            promise.client == client && promise.list == list && !committed.contains(item) && !takenOut.contains(item)
        }
        guard !open.isEmpty else { return nil }
        let waiting = Set(pending.flatMap(\.insertedItems).map(\.id))
        return open.keys.filter { !waiting.contains($0) }.min { $0.rawValue < $1.rawValue }
    }

    /// A client's process has ended; these items are in what it has on disk.
    func died(client: Int, kept: Set<ItemID>) {
        owed = owed.filter { $0.value.client != client || $0.value.isKept || kept.contains($0.key) }
    }

    /// The server did not take an edit, and its author was told.
    func rejected(_ items: [ItemID]) {
        for item in items { owed[item] = nil }
    }

    /// The list is gone; what is committed is to be there when it comes back.
    func deleted(list: UInt64, committed: Set<ItemID>) {
        owed = owed.filter { $0.value.list != list || committed.contains($0.key) }
    }

    /// The list on which somebody made an item; nil if nobody did.
    func home(of item: ItemID) -> UInt64? { made[item] }

    /// A client was told that its list is gone, or has let go of it.
    func gaveUp(client: Int, list: UInt64, committed: Set<ItemID>) {
        owed = owed.filter {
            $0.value.client != client || $0.value.list != list || committed.contains($0.key)
        }
    }

    /// What is wrong with the list at the end; nil if nothing is.
    func problem(with list: UInt64, called name: String, _ items: [ItemID]) -> String? {
        let present = Set(items)
        if present.count != items.count { return "an item of \(name) is there twice" }
        for item in items where made[item] == nil { return "item \(item) of \(name) comes from nowhere" }
        let missing = owed.filter { item, promise in
            promise.list == list && !takenOut.contains(item) && !present.contains(item)
        }
        guard let (item, promise) = missing.min(by: { $0.key.rawValue < $1.key.rawValue }) else { return nil }
        return "item \(item) of client \(promise.client) is missing in \(name)"
    }
}
