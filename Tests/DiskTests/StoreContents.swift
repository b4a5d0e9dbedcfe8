import HandCore
import HandSimulation
import HandStore
import HandSync
import HandTestSupport
import HandWire

/// All that can be asked of a store.
struct StoreContents {
    struct List {
        let entry: StoredList
        let start: Authority.Start
        let commits: [Commit]
    }

    private(set) var lists: [UInt64: List] = [:]
    private(set) var people: [DownMessage.Person] = []
    private(set) var authors: [UInt64] = []

    static let clients = (1...3).map { ClientID(high: .max / $0, low: $0) }
    static func name(_ client: ClientID) -> String { "person \(client.low)" }

    init(of store: SQLiteStore) throws {
        for entry in try store.lists(after: "", limit: 99) {
            let commits = try store.frames(of: entry.number, after: 0, about: .max).map { try $0.commit() }
            lists[entry.number] = List(entry: entry, start: try store.load(entry.number), commits: commits)
            // The way of the server: by name.
            guard try store.list(named: entry.name) == entry else {
                throw StoreError.damaged("the list '\(entry.name)' is not found by its name")
            }
        }
        people = try store.people([1, 2, 3])
        authors = try Self.clients.map { try store.author(for: $0, person: Self.name($0)) }
    }

    /// Whether every list is as it was at one of its revisions, and some are not as they are now.
    func isEarlier(than right: StoreContents) -> Bool {
        let haveShrunk = lists.count < right.lists.count || lists.contains { right.lists[$0]?.entry != $1.entry }
        return (haveShrunk || people.count < right.people.count)
            && lists.allSatisfy { number, list in
                guard let other = right.lists[number], list.start.revision <= other.commits.count else { return false }
                let digest = list.start.revision == 0 ? 0 : other.commits[list.start.revision - 1].digest
                return list.start.hand.digest == digest && list.commits == Array(other.commits[..<list.start.revision])
            }
    }

    /// What is different here, as places in the database; nothing if nothing is.
    func differences(from right: StoreContents) -> Set<String> {
        var found: Set<String> = []
        if people != right.people { found.insert("authors.person") }
        if authors != right.authors { found.insert("authors.client") }
        if Set(lists.keys) != Set(right.lists.keys) { found.insert("lists: one is missing or new") }
        for (number, list) in lists {
            if let other = right.lists[number] { found.formUnion(list.differences(from: other)) }
        }
        return found
    }
}

extension StoreContents.List {
    fileprivate func differences(from right: Self) -> Set<String> {
        var found: Set<String> = []
        if start.hand != right.start.hand { found.insert("ITEMS") }
        if start.revision != right.start.revision || entry.revision != right.entry.revision { found.insert("REVISION") }
        if entry.count != right.entry.count { found.insert("lists.count") }
        if entry.name != right.entry.name { found.insert("lists.name") }
        if entry.logID != right.entry.logID { found.insert("lists.log_id") }
        if entry.rules != right.entry.rules { found.insert("lists.rules") }
        if start.deck != right.start.deck { found.insert("the deck") }
        if start.sequences != right.start.sequences { found.insert("sequences") }
        if commits.map(\.delta) != right.commits.map(\.delta) { found.insert("commits.frame: delta") }
        if commits.map(\.author) != right.commits.map(\.author) { found.insert("commits.frame: author") }
        if commits.map(\.time) != right.commits.map(\.time) { found.insert("commits.frame: time") }
        if commits != right.commits && found.isEmpty { found.insert("commits.frame: base, sequence or count") }
        return found
    }
}

// MARK: - A store to damage

extension StoreContents {
    /// Three lists with all that a store has: history, a snapshot, a deck, people; and one that is empty.
    static func make(in folder: String, seed: UInt64) throws -> SQLiteStore {
        let store = try SQLiteStore(folder: folder, durability: .os)
        var chaos = Chaos(seed: seed)
        let authors = try clients.map { try store.author(for: $0, person: name($0)) }
        for (index, name) in ["groceries", "travel", "poker", "empty"].enumerated() {
            let hasDeck = name == "poker"
            let list = try store.create(
                name, rules: hasDeck ? .fiveCards : Rules(maximumCount: 500), logID: chaos.random.next(),
                deckSeed: hasDeck ? seed : nil)
            guard name != "empty" else { continue }
            for edit in 0..<(hasDeck ? 4 : 25) {
                var authority = Authority(try store.load(list.number), limits: Limits())
                let author = authors[(index + edit) % authors.count]
                let delta =
                    hasDeck
                    ? HandCore.Operation.insert(
                        [Item(id: .random(using: &chaos.random), content: .card(.faceDown))], at: 0, .after
                    ).delta
                    : chaos.delta(on: authority.hand, size: 2)
                let submission = Submission(
                    list: list.number, base: authority.revision, sequence: authority.lastSequence(of: author) + 1,
                    delta: delta)
                _ = authority.submit(submission, author: author, now: 1_700_000_000_000 + UInt64(edit))
                let batch = CommitBatch(list: list.number, expected: authority.revision, commits: authority.takeBatch())
                try store.append([batch])
                authority.wrote()
                guard name != "travel", edit == 2 || edit == 15 else { continue }
                try store.saveSnapshot(
                    of: list.number, authority.hand, revision: authority.revision, deck: authority.deck)
            }
        }
        return store
    }
}
