import HandCore
import HandStore
import HandSync
import HandTestSupport
import HandWire

/// Everything that can be asked of a store.
struct StoreContents {
    struct List {
        let entry: StoredList
        let start: Authority.Start
        let commits: [Commit]
    }

    private(set) var lists: [ListNumber: List] = [:]
    private(set) var people: [DownMessage.Person] = []
    private(set) var authors: [Author] = []

    static let clients = (1...3).map { ClientID(high: .max / $0, low: $0) }
    static func name(_ client: ClientID) -> String { "person \(client.low)" }

    init(of store: SQLiteStore) throws {
        for entry in try store.lists(after: "", limit: 99) {
            let commits = try store.frames(of: entry.number, after: 0, about: .max).map { try $0.commit() }
            lists[entry.number] = List(entry: entry, start: try store.load(entry.number), commits: commits)
            // As the server does: by name.
            guard try store.list(named: entry.name) == entry else {
                throw StoreError.damaged("the list '\(entry.name)' is not found by its name")
            }
        }
        people = try store.people([1, 2, 3])
        authors = try Self.clients.map { try store.knownAuthor(for: $0, person: Self.name($0)) }
    }

    /// Whether every list is as it was at one of its revisions, and some are not as they are now.
    func isEarlier(than right: StoreContents) -> Bool {
        let haveShrunk = lists.count < right.lists.count || lists.contains { right.lists[$0]?.entry != $1.entry }
        return (haveShrunk || people.count < right.people.count)
            && lists.allSatisfy { number, list in
                guard let other = right.lists[number] else { return false }
                return list.start.revision <= other.start.revision && list.isPart(of: other)
            }
    }

    /// Returns the places in the database where the contents differ.
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
    /// Whether the other one has the same history, as far as it is kept here.
    fileprivate func isPart(of other: Self) -> Bool {
        let floor = other.entry.floor
        let mine = commits.filter { $0.revision > floor }
        let digest = commits.last?.digest ?? (start.revision == 0 ? 0 : start.hand.digest)
        return mine == other.commits.filter { $0.revision > floor && $0.revision <= start.revision }
            && start.hand.digest == digest
    }

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
