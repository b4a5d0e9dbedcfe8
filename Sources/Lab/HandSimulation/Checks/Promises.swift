import HandCore

/// An item or word that somebody put into a list.
enum Thing: Hashable, CustomStringConvertible {
    case item(ItemID)
    /// A word of an item's text. No two people insert the same word.
    case word(Substring, in: ItemID)

    var description: String {
        switch self {
        case .item(let id): "item \(id)"
        case .word(let word, let item): "word \(word) of item \(item)"
        }
    }
}

/// What people meant: each item that somebody inserts, and each word of its text, must be present at the end unless
/// somebody removed it. Lists are identified by their log ids, whatever their names are and whether or not they were
/// deleted in between.
final class Promises {
    private struct Owed {
        let client: Int
        let list: UInt64
        /// Whether the client has the thing on disk. From then on the thing must not get lost.
        var isKept = false
    }

    private var owed: [Thing: Owed] = [:]
    private var takenOut: Set<Thing> = []
    /// The list on which each thing was first made, and the client that made it.
    private var made: [Thing: (list: UInt64, client: Int)] = [:]

    /// The clients that have inserted each thing, or inserted it again.
    private var authors: [Thing: Set<Int>] = [:]

    /// Whether a client has ever inserted or restored a thing.
    func hasPut(_ thing: Thing, client: Int) -> Bool { authors[thing]?.contains(client) == true }

    /// Items of refused edits, with the authors who were notified. Items that somebody inserts again are removed.
    private var refused: [ItemID: Set<AuthorID>] = [:]

    func refused(_ items: [Item], of author: AuthorID) {
        for item in items { refused[item.id, default: []].insert(author) }
    }

    /// Returns one of the items that this author must not commit, or nil if there is none.
    func refused(among items: [Item], of author: AuthorID) -> ItemID? {
        items.first { refused[$0.id]?.contains(author) == true }?.id
    }

    /// Records an edit that somebody is about to make.
    func edit(client: Int, list: UInt64, inserted: Set<Thing>, deleted: Set<Thing>) {
        for thing in inserted {
            if case .item(let id) = thing { refused[id] = nil }
            owed[thing] = Owed(client: client, list: list)
            if made[thing] == nil { made[thing] = (list, client) }
            authors[thing, default: []].insert(client)
        }
        takenOut.formUnion(deleted)
    }

    /// Records the words that a commit has removed from texts, including words that its author had not seen.
    func removed(_ words: Set<Thing>) { takenOut.formUnion(words) }

    private func isTakenOut(_ thing: Thing) -> Bool {
        if case .word(_, let item) = thing, takenOut.contains(.item(item)) { return true }
        return takenOut.contains(thing)
    }

    /// Returns what a client has inserted but does not have on disk yet.
    func unkept(by client: Int) -> [Thing] {
        owed.filter { $0.value.client == client && !$0.value.isKept }.map(\.key)
    }

    /// Records that these things are on their client's disk.
    func kept(_ things: [Thing]) {
        for thing in things { owed[thing]?.isKept = true }
    }

    /// Returns a thing that a client has inserted and that is neither pending nor committed, or nil if there is none.
    func lost(client: Int, list: UInt64, pending: [Delta], committed: UniqueWords.Put) -> Thing? {
        let open = owed.filter { thing, promise in
            promise.client == client && promise.list == list && !committed.contains(thing) && !isTakenOut(thing)
        }
        guard !open.isEmpty else { return nil }
        let waiting = pending.reduce(into: UniqueWords.Put()) { $0.formUnion($1.put) }
        return open.keys.filter { !waiting.contains($0) }.min { "\($0)" < "\($1)" }
    }

    /// Records that refused edits may be submitted again. The next process knows nothing of a refusal that was not
    /// kept, and submits the edit again. A copy of the client that has the edit on disk does the same.
    func submitsAgain(_ kept: UniqueWords.Put) {
        for item in kept.items { refused[item] = nil }
    }

    /// Records the end of a client's process, with the things that it has on disk.
    func died(client: Int, kept: UniqueWords.Put) {
        submitsAgain(kept)
        owed = owed.filter { $0.value.client != client || $0.value.isKept || kept.contains($0.key) }
    }

    /// Records that the server did not accept an edit and that its author was notified. Words that were put into its
    /// items later are lost with them.
    func rejected(_ things: UniqueWords.Put) {
        owed = owed.filter { thing, _ in
            if case .word(_, let item) = thing, things.items.contains(item) { return false }
            return !things.contains(thing)
        }
    }

    /// Records that a list was deleted. Only committed things must be present when it comes back.
    func deleted(list: UInt64, committed: UniqueWords.Put) {
        owed = owed.filter { $0.value.list != list || committed.contains($0.key) }
    }

    /// Returns the list on which something was made and the client that made it, or nil if nobody made it.
    func origin(of thing: Thing) -> (list: UInt64, client: Int)? { made[thing] }

    /// Records that a client was told that its list is gone, or stopped following it.
    func gaveUp(client: Int, list: UInt64, committed: UniqueWords.Put) {
        owed = owed.filter {
            $0.value.client != client || $0.value.list != list || committed.contains($0.key)
        }
    }

    /// Returns what is wrong with the list at the end, or nil if nothing is.
    func problem(with list: UInt64, called name: String, _ items: [Item]) -> String? {
        let present = items.reduce(into: Set<Thing>()) { $0.formUnion($1.things) }
        if Set(items.map(\.id)).count != items.count { return "an item of \(name) occurs twice" }
        for item in items where made[.item(item.id)] == nil { return "item \(item.id) of \(name) comes from nowhere" }
        let missing = owed.filter { thing, promise in
            promise.list == list && !isTakenOut(thing) && !present.contains(thing)
        }
        guard let (thing, promise) = missing.min(by: { "\($0.key)" < "\($1.key)" }) else { return nil }
        return "\(thing) of client \(promise.client) is missing in \(name)"
    }
}
