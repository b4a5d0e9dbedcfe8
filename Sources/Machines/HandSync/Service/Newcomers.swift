import HandWire

/// Authors without a durable commit. A client costs the store nothing before its first commit, which is written
/// together with the author.
///
/// A newcomer is remembered as long as a connection or an unwritten commit needs it. So a client that comes back in the
/// meantime has the same author, and a submission that was in flight is applied only once.
struct Newcomers {
    private struct Entry {
        let newcomer: Newcomer
        /// The number of its connections, and of its commits that are to be written.
        var uses = 0
    }

    private var entries: [UInt64: Entry] = [:]
    /// The author numbers of each client, which has one for each name that it has used.
    private var clients: [ClientID: [UInt64]] = [:]

    var count: Int { entries.count }

    /// Returns the author that a client is under a name, and the client's number, which is the same under all its
    /// names; nil for what is not remembered.
    func find(_ client: ClientID, named person: String) -> (author: Author?, client: UInt64?) {
        let mine = (clients[client] ?? []).compactMap { entries[$0]?.newcomer }
        return (mine.first { $0.person == person }?.author, mine.first?.author.client)
    }

    /// Adds a newcomer that no connection or commit needs yet.
    mutating func add(_ newcomer: Newcomer) {
        entries[newcomer.author.number] = Entry(newcomer: newcomer)
        clients[newcomer.client, default: []].append(newcomer.author.number)
    }

    /// Records that one more connection or commit needs an author, who need not be a newcomer.
    mutating func hold(_ author: UInt64) {
        if let index = entries.index(forKey: author) { entries.values[index].uses += 1 }
    }

    mutating func release(_ author: UInt64) {
        guard let uses = entries[author]?.uses else { return }
        entries[author]?.uses = uses - 1
        if uses <= 1 { forget(author) }
    }

    /// Forgets an author that is durable, or that nothing needs any longer.
    mutating func forget(_ author: UInt64) {
        // As nearly always, when nobody is new.
        if entries.isEmpty { return }
        guard let client = entries.removeValue(forKey: author)?.newcomer.client else { return }
        clients[client]?.removeAll { $0 == author }
        if clients[client]?.isEmpty == true { clients[client] = nil }
    }

    /// Returns the newcomers among the authors of some batches, to be written with them.
    func authors(of batches: [CommitBatch]) -> [Newcomer] {
        if entries.isEmpty { return [] }
        var found: Set<UInt64> = []
        for batch in batches {
            for entry in batch.entries where entries[entry.mark.author] != nil { found.insert(entry.mark.author) }
        }
        return found.sorted().compactMap { entries[$0]?.newcomer }
    }

    /// Returns which invariant is broken; nil if none is.
    func problem(uses: [UInt64: Int]) -> String? {
        for (number, entry) in entries {
            if entry.uses != uses[number, default: 0] { return "newcomer \(number) is held \(entry.uses) times" }
            if clients[entry.newcomer.client]?.contains(number) != true { return "newcomer \(number) is not found" }
        }
        return nil
    }
}
