import HandCore
import HandSync
import HandWire

// Parts of lists, and edits of lists that this client does not follow.

extension HandClient {
    /// Returns some items of a list, at a revision or at present.
    public func excerpt(
        of name: String, at revision: Int? = nil, _ selections: [Excerpt.Selection] = []
    ) async throws -> Excerpt {
        let pages = try await all(ExcerptPages(of: name, at: revision, selections))
        guard let excerpt = pages.excerpt else { throw Self.wrongAnswer }
        return excerpt
    }

    /// Returns whether a list may be edited on excerpts: not if edits of the list wait here, because they must be sent
    /// first.
    package func canEditExcerpts(of name: String) async throws -> Bool {
        try await connected()
        if try await read({ $0.client.isFollowed(name) }) { return false }
        return try await askJournal(otherwise: true) { try !$0.mayHavePending(name) }
    }

    /// Sends waiting edits of a list that is not followed; returns nil if there are none.
    package func sendWaiting(of name: String) async throws -> Settlement? {
        guard try await askJournal(otherwise: false, { try $0.isWaiting(name) }) else { return nil }
        let list = try await open(name)
        let outcome = try await list.settled()
        list.close()
        return outcome
    }

    /// Makes an edit on an excerpt of a list and waits for the server's answer; returns nil if the excerpt is too old.
    ///
    /// The edit is made only once, even if the connection is lost before the answer.
    ///
    /// - Parameter step: the step to note in the journal, if the edit undoes or redoes one of this client's commits.
    public func edit(
        _ name: String, on excerpt: Excerpt, isExact: Bool = false, as step: UndoStep? = nil, _ delta: Delta
    ) async throws -> Settlement? {
        do { try Replica.checkSize(of: delta) } catch { throw ClientError.notMade(error) }
        let answer = try await answer { machine in
            machine.edit(name, on: excerpt, delta, isExact: isExact, step: step)
        }
        switch answer {
        case .committed(let revision, let notices, let commits):
            try await remember(commits, since: excerpt, on: name)
            return await naming(Settlement(revision: revision, notices: notices), on: name)
        case .rejected(let reason): return Settlement(revision: nil, rejections: [reason], notices: [])
        case .stale: return nil
        default: throw Self.wrongAnswer
        }
    }

    /// Notes in the journal that there was nothing to undo or redo on a list at a revision.
    package func noteEmpty(_ step: UndoStep, in log: UInt64, at revision: Int) async throws {
        guard let author = try await read({ $0.client.machine.author }) else { return }
        try await askJournal(otherwise: ()) { try $0.noteEmpty(step, in: log, at: revision, by: author) }
    }

    /// Returns the other people on a list.
    public func people(on name: String, _ excerpt: Excerpt) async throws -> [DownMessage.Presence] {
        let answer = try await answer { $0.askWhoIsThere(name, excerpt) }
        guard case .people(let people) = answer else { throw Self.wrongAnswer }
        let own = try await read { $0.client.machine.author }
        return people.filter { $0.author != own }
    }
}
