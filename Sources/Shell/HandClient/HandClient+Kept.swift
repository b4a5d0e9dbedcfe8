import HandCore
import HandSync
import HandWire

/// Copies in the journal of lists that the client does not follow.
extension HandClient {
    /// The longest list of which a copy is kept: writing a longer one would take longer than everything else. (A
    /// followed list is always kept.)
    static let maxItemsKept = 100_000

    /// Returns the lists whose edits wait to be sent. Needs no server.
    package func waitingLists() async throws -> [String] {
        try await askJournal(otherwise: []) { try $0.waitingLists() }
    }

    /// Discards the waiting edits of a list that is not followed, and returns their number. The copy stays, without
    /// these edits.
    package func discard(_ name: String) async throws -> Int {
        try await askJournal(otherwise: 0) { journal in
            guard let kept = try journal.load(name), kept.hasPending else { return 0 }
            try journal.forget(name)
            // A discarded edit may have been sent, so its sequence is not used again.
            if let copy = kept.copy(sequence: kept.sequence) { try journal.checkpoint(copy, of: name) }
            return kept.unconfirmedCount
        }
    }

    /// Keeps a copy of a list as the server has it, for offline edits. If edits wait, the existing copy stays, because
    /// the edits are based on that copy.
    package func keep(_ list: PartialList, of name: String) async throws {
        guard list.count <= Self.maxItemsKept, list.logID != 0 else { return }
        let copy = Replica(confirmed: try list.whole(), revision: list.revision, logID: list.logID, sequence: 0)
        try await keep(copy, of: name)
    }

    /// Takes over the copy of a list that another client on this machine has kept, if that copy is newer than this
    /// client's. The other client's edits are left out.
    package func adopt(_ other: Replica, of name: String) async throws {
        guard let copy = other.copy(sequence: 0) else { return }
        try await keep(copy, of: name) { $0.revision < copy.revision }
    }

    /// Keeps a copy of a list that is not followed, unless edits wait on the existing copy, or `isOld` returns false
    /// for the existing copy.
    private func keep(
        _ copy: Replica, of name: String, over isOld: @escaping @Sendable (Replica) -> Bool = { _ in true }
    ) async throws {
        let _: Void = try await onLoop { engine, reply in
            if engine.client.isFollowed(name) { return reply.succeed(()) }
            engine.client.askJournal(otherwise: ()) { journal in
                if let kept = try journal.load(name), kept.hasPending || !isOld(kept) { return }
                try journal.checkpoint(copy, of: name)
            } then: {
                reply.answer($0)
            }
        }
    }

    /// The most commits that are fetched for a copy after an edit.
    private static let maxMissedCommits = 1_000

    /// Continues the copy of a list with a commit of this person, the last of the list's newest commits: without the
    /// server, the person counts the items as they are after that commit.
    func continueCopy(of name: String, in log: UInt64, by commits: [Commit]) async throws {
        if try await read({ $0.client.isFollowed(name) }) { return }
        let missing = try await askJournal(otherwise: nil) { try $0.advance(name, in: log, by: commits) }
        guard let missing, let last = commits.last?.revision, last - missing < Self.maxMissedCommits else { return }
        let all = try await self.commits(of: name, from: missing, through: last)
        _ = try await askJournal(otherwise: nil) { try $0.advance(name, in: log, by: all) }
    }

    func askJournal<Value: Sendable>(
        otherwise: Value, _ body: @escaping @Sendable (ClientJournal) throws -> Value
    ) async throws -> Value {
        try await onLoop { engine, reply in
            engine.client.askJournal(otherwise: otherwise, body) { reply.answer($0) }
        }
    }
}

extension Replica {
    /// The list as the server has it, without any client's edits; nil if the list was never loaded.
    ///
    /// - Parameter sequence: the last sequence that the client used.
    fileprivate func copy(sequence: SequenceNumber) -> Replica? {
        logID == 0 ? nil : Replica(confirmed: confirmed, revision: revision, logID: logID, sequence: sequence)
    }
}
