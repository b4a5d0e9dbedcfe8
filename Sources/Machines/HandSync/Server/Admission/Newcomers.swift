import HandCore
import HandWire

/// Authors without a durable commit. A client costs the store nothing before its first commit, which is written
/// together with the author.
///
/// A newcomer is remembered while any of its commits are to be written. So a client that comes back in the meantime has
/// the same author, and a submission that was in flight is applied only once. Clients that only read are not here,
/// because there may be very many: `Connection.isNewcomer` is all that is stored of such clients.
struct Newcomers {
    private struct Entry {
        let newcomer: Newcomer
        /// The number of its commits that are to be written.
        var commits = 1
    }

    private var entries: [AuthorID: Entry] = [:]
    /// The author numbers of each client, which has one for each name that it has used.
    private var clients: [ClientID: [AuthorID]] = [:]

    /// Nearly always true.
    var isEmpty: Bool { entries.isEmpty }

    func contains(_ author: AuthorID) -> Bool { entries[author] != nil }

    /// Returns the author that a client is under a name, and the client's number, which is the same under all its
    /// names. Each of the two is nil if it is not remembered.
    func find(_ client: ClientID, named person: String) -> (author: Author?, client: AuthorID?) {
        let mine = (clients[client] ?? []).compactMap { entries[$0]?.newcomer }
        return (mine.first { $0.person == person }?.author, mine.first?.author.client)
    }

    /// Records that one more commit of a newcomer is to be written.
    mutating func hold(_ newcomer: Newcomer) {
        let number = newcomer.author.number
        if let index = entries.index(forKey: number) {
            entries.values[index].commits += 1
        } else {
            entries[number] = Entry(newcomer: newcomer)
            clients[newcomer.client, default: []].append(number)
        }
    }

    /// Records that a commit of an author, who need not be a newcomer, will not be written.
    mutating func release(_ author: AuthorID) {
        guard let commits = entries[author]?.commits else { return }
        entries[author]?.commits = commits - 1
        if commits == 1 { forget(author) }
    }

    /// Forgets an author that is durable, or that has no commits any longer. Returns the newcomer if the author was
    /// one.
    @discardableResult
    mutating func forget(_ author: AuthorID) -> Newcomer? {
        guard let newcomer = entries.removeValue(forKey: author)?.newcomer else { return nil }
        clients[newcomer.client]?.removeAll { $0 == author }
        if clients[newcomer.client]?.isEmpty == true { clients[newcomer.client] = nil }
        return newcomer
    }

    /// Returns the newcomers among the authors of some batches, to be written with them.
    func authors(of batches: [CommitBatch]) -> [Newcomer] {
        if entries.isEmpty { return [] }
        var found: Set<AuthorID> = []
        for batch in batches {
            for entry in batch.entries where entries[entry.mark.author] != nil { found.insert(entry.mark.author) }
        }
        return found.sorted().compactMap { entries[$0]?.newcomer }
    }

    /// Returns which invariant is broken; nil if none is.
    ///
    /// - Parameter pending: the number of commits of each author that are to be written.
    func problem(pending: [AuthorID: Int]) -> String? {
        for (number, entry) in entries {
            if entry.commits != pending[number, default: 0] {
                return "newcomer \(number) is held by \(entry.commits) commits"
            }
            if clients[entry.newcomer.client]?.contains(number) != true { return "newcomer \(number) is not found" }
        }
        return nil
    }
}
