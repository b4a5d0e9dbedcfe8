import HandCore
import HandSync
import HandWire

// Parts of lists that this client does not follow.

extension HandClient {
    /// Returns some items of a list, at a revision or at present.
    public func excerpt(
        of name: String, at revision: Int? = nil, _ selections: [Excerpt.Selection] = []
    ) async throws -> Excerpt {
        try Self.check(revision)
        let pages = try await all(ExcerptPages(of: name, at: revision, selections))
        guard let excerpt = pages.excerpt else { throw Self.wrongAnswer }
        return excerpt
    }

    /// - Throws: if there is no such revision in any list.
    static func check(_ revision: Int?) throws {
        guard let revision, revision < 0 else { return }
        throw ClientError.refused(.noSuchRevision, "there is no revision \(revision); they start at 0")
    }

    /// Sends waiting edits of a list that is not followed; returns nil if there are none.
    package func sendWaiting(of name: String) async throws -> Settlement? {
        guard try await askJournal(otherwise: false, { try $0.isWaiting(name) }) else { return nil }
        // A followed list waits for a server that comes later.
        try await connected()
        let list = try await open(name)
        let outcome = try await list.settled()
        list.close()
        return outcome
    }

    /// Notes some steps in the journal that had nothing to undo or redo on a list at a revision.
    package func noteEmpty(_ step: UndoStep, count: Int, in log: UInt64, at revision: Int) async throws {
        guard count > 0, let author = try await read({ $0.client.machine.author }) else { return }
        try await askJournal(otherwise: ()) {
            try $0.noteEmpty(step, count: count, in: log, at: revision, by: author)
        }
    }
}
