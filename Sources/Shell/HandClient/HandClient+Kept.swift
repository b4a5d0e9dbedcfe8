import HandCore
import HandSync

/// What the journal keeps of lists that are not followed.
extension HandClient {
    /// A longer list is kept only by who follows it: writing it down would take longer than all else.
    static let mostItemsKept = 100_000

    /// The lists of which edits wait to be sent. Needs no server.
    public func waitingLists() async throws -> [String] {
        try await onLoop { engine, reply in
            reply.succeed(try engine.keptLists().filter { try engine.isWaiting($0) })
        }
    }

    /// Throws away what is kept of a list that is not followed. Returns how many edits of it had not been sent.
    public func discard(_ name: String) async throws -> Int {
        try await onLoop { engine, reply in
            let count = try engine.kept(name)?.unconfirmedCount ?? 0
            try engine.journal?.journal.forget(name)
            reply.succeed(count)
        }
    }

    /// Keeps a copy of a list as the server has it, for edits without the server. If edits wait, they stand on what is kept
    /// already, and that stays.
    public func keep(_ name: String, _ hand: Hand, at revision: Int) async throws {
        guard hand.count <= Self.mostItemsKept else { return }
        // Says of which history the revision is; a server of version 1 does not.
        let excerpt = try await self.excerpt(of: name)
        guard excerpt.logID != 0 else { return }
        try await onLoop { engine, reply in
            reply.succeed(try engine.keep(hand, of: name, at: revision, of: excerpt.logID))
        }
    }

    /// Takes over what another client of this machine has kept of a list, if that is newer; not its edits.
    public func adopt(_ other: Replica, of name: String) async throws {
        guard other.logID != 0 else { return }
        try await onLoop { engine, reply in
            let isNewer = try engine.kept(name).map { $0.revision < other.revision } ?? true
            if isNewer { try engine.keep(other.confirmed, of: name, at: other.revision, of: other.logID) }
            reply.succeed(())
        }
    }
}
