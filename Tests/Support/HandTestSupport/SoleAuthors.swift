import HandCore
import HandSync
import HandWire

/// For tests in which every client has only one name: its number is its author's number.
extension Author {
    package init(_ number: AuthorID) {
        self.init(number: number, client: number)
    }
}

extension Authority {
    package mutating func submit(
        _ submission: Submission, author: AuthorID, isFirst: Bool = false, now: UInt64, isFull: Bool = false
    ) -> Outcome {
        let nobody = ConnectionID(rawValue: 0)
        return submit(
            Origin(submission, by: Author(author), over: nobody, isFirst: isFirst), .init(now: now, isFull: isFull))
    }

    package func lastSequence(of author: AuthorID) -> SequenceNumber { lastSequence(of: Author(author)) }
    package func isPending(_ author: AuthorID) -> Bool { isPending(Author(author)) }
}

/// For tests that write to a store without a server.
extension CommitStore {
    @discardableResult
    package func append(_ batches: [CommitBatch]) throws -> [Appended] { try append(batches, by: []) }

    /// Returns the author of a client, and makes it known to the store.
    package func knownAuthor(for client: ClientID, person: String) throws -> Author {
        let (author, isNew) = try author(for: client, person: person)
        if isNew { try append([], by: [Newcomer(author, client: client, person: person)]) }
        return author
    }
}

extension CommitStore {
    package func deletedLists(before number: UInt64, limit: Int) throws -> [DeletedList] {
        try deletedLists(before: number, limit: limit, named: nil, among: nil)
    }
}
