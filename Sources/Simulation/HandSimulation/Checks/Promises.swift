import HandCore

/// Something that somebody put into a list.
enum Thing: Hashable, CustomStringConvertible {
    case item(ItemID)
    /// A word of an item's text. No two people put in the same.
    case word(Substring, in: ItemID)

    var description: String {
        switch self {
        case .item(let id): "item \(id)"
        case .word(let word, let item): "word \(word) of item \(item)"
        }
    }
}

/// What people meant: each item that somebody put into a list is to be there at the end, and each word of its text, unless somebody
/// took it out. Lists go by their log ids: whatever they are called, and whether they were deleted in between.
final class Promises {
    private struct Owed {
        let client: Int
        let list: UInt64
        /// Whether the client has it on disk: from then on it may not get lost.
        var isKept = false
    }

    private var owed: [Thing: Owed] = [:]
    private var takenOut: Set<Thing> = []
    /// On which list each thing was made, and by whom.
    private var made: [Thing: (list: UInt64, client: Int)] = [:]

    /// Who has put each thing in, at first or again.
    private var authors: [Thing: Set<Int>] = [:]

    /// Whether a client has ever put something in, or has put it back.
    func hasPut(_ thing: Thing, client: Int) -> Bool { authors[thing]?.contains(client) == true }

    /// Items of edits that were refused, with the authors who were told so, and that nobody has put in again.
    private var refused: [ItemID: Set<UInt64>] = [:]

    func refused(_ items: [Item], of author: UInt64) {
        for item in items { refused[item.id, default: []].insert(author) }
    }

    /// One of the items that an author should not make; nil if there is none.
    func refused(among items: [Item], of author: UInt64) -> ItemID? {
        items.first { refused[$0.id]?.contains(author) == true }?.id
    }

    /// Somebody is about to make an edit.
    func edit(client: Int, list: UInt64, inserted: Set<Thing>, deleted: Set<Thing>) {
        for thing in inserted {
            if case .item(let id) = thing { refused[id] = nil }
            owed[thing] = Owed(client: client, list: list)
            if made[thing] == nil { made[thing] = (list, client) }
            authors[thing, default: []].insert(client)
        }
        takenOut.formUnion(deleted)
    }

    /// A commit has taken words out of texts, including words that its author had not seen.
    func removed(_ words: Set<Thing>) { takenOut.formUnion(words) }

    private func isTakenOut(_ thing: Thing) -> Bool {
        if case .word(_, let item) = thing, takenOut.contains(.item(item)) { return true }
        return takenOut.contains(thing)
    }

    /// What a client has put into lists and has not on its disk.
    func unkept(by client: Int) -> [Thing] {
        owed.filter { $0.value.client == client && !$0.value.isKept }.map(\.key)
    }

    /// These are on their client's disk.
    func kept(_ things: [Thing]) {
        for thing in things { owed[thing]?.isKept = true }
    }

    /// What a client has put into a list and that is neither on its way nor committed; nil if there is nothing.
    func lost(client: Int, list: UInt64, pending: [Delta], committed: Words.Put) -> Thing? {
        let open = owed.filter { thing, promise in
            promise.client == client && promise.list == list && !committed.contains(thing) && !isTakenOut(thing)
        }
        guard !open.isEmpty else { return nil }
        let waiting = pending.reduce(into: Words.Put()) { $0.formUnion($1.put) }
        return open.keys.filter { !waiting.contains($0) }.min { "\($0)" < "\($1)" }
    }

    /// Of a refusal that was not kept the next process knows nothing, and submits the edit again; so does a copy that has it kept.
    func submitsAgain(_ kept: Words.Put) {
        for item in kept.items { refused[item] = nil }
    }

    /// A client's process has ended; these are in what it has on disk.
    func died(client: Int, kept: Words.Put) {
        submitsAgain(kept)
        owed = owed.filter { $0.value.client != client || $0.value.isKept || kept.contains($0.key) }
    }

    /// The server did not take an edit, and its author was told. Words that were put into its items later go with them.
    func rejected(_ things: Words.Put) {
        owed = owed.filter { thing, _ in
            if case .word(_, let item) = thing, things.items.contains(item) { return false }
            return !things.contains(thing)
        }
    }

    /// The list is gone; what is committed is to be there when it comes back.
    func deleted(list: UInt64, committed: Words.Put) {
        owed = owed.filter { $0.value.list != list || committed.contains($0.key) }
    }

    /// The list on which somebody made something, and who; nil if nobody did.
    func origin(of thing: Thing) -> (list: UInt64, client: Int)? { made[thing] }

    /// A client was told that its list is gone, or has let go of it.
    func gaveUp(client: Int, list: UInt64, committed: Words.Put) {
        owed = owed.filter {
            $0.value.client != client || $0.value.list != list || committed.contains($0.key)
        }
    }

    /// What is wrong with the list at the end; nil if nothing is.
    func problem(with list: UInt64, called name: String, _ items: [Item]) -> String? {
        let present = items.reduce(into: Set<Thing>()) { $0.formUnion($1.things) }
        if Set(items.map(\.id)).count != items.count { return "an item of \(name) is there twice" }
        for item in items where made[.item(item.id)] == nil { return "item \(item.id) of \(name) comes from nowhere" }
        let missing = owed.filter { thing, promise in
            promise.list == list && !isTakenOut(thing) && !present.contains(thing)
        }
        guard let (thing, promise) = missing.min(by: { "\($0.key)" < "\($1.key)" }) else { return nil }
        return "\(thing) of client \(promise.client) is missing in \(name)"
    }
}
