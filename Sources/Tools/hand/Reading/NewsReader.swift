import Glibc
import HandClient
import HandCore
import HandFormats
import HandSync
import HandWire

/// What others have changed in lists since their person looked at them last, on this machine. A person has looked at
/// what a screen showed, and at what `ls` or `log` printed to a terminal.
struct NewsReader {
    private let seen: [String: Seen]
    let person: String

    init(_ server: ServerOptions) throws {
        person = try server.user.name()
        seen = Identity.seen(by: person, at: try server.address())
    }

    /// The last look at a list; nil if there was none.
    func lastLook(at list: String) -> Seen? { seen[list] }

    /// Returns what others have changed in a list since the last look at it; everything, if there was none.
    func news(of list: String, through revision: Int, _ client: HandClient) async throws -> NewsOfCommits {
        let since = min(seen[list]?.revision ?? 0, revision)
        return try await client.news(of: list, since: since, through: revision)
    }

    /// Returns which items of a list are new.
    func places(in hand: Hand, at revision: Int, of list: String, _ client: HandClient) async throws -> Set<Int> {
        guard let last = seen[list] else { return Set(hand.indices) }
        var places = Set(try await news(of: list, through: revision, client).places.keys)
        if !last.unseen.isEmpty { places.formUnion(hand.indices.filter { last.unseen[hand[$0].id] != nil }) }
        return places
    }
}

extension ServerOptions {
    /// Notes that a person has looked at a list on a terminal. What cannot be noted is new once more.
    ///
    /// - Parameter unseen: the items that were new before, and were not shown.
    func noteLook(
        at list: String, revision: Int, of log: UInt64, unseen: [ItemID: Delta.Mark] = [:], _ client: HandClient
    ) async {
        guard Output.isTerminal, log != 0 else { return }
        try? await client.note(Seen(logID: log, revision: revision, unseen: unseen), of: list)
    }
}
