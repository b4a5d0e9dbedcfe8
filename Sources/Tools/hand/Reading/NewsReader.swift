import Glibc
import HandClient
import HandCore
import HandFormats
import HandSync
import HandWire

/// What others have changed in lists since their person looked at them last, on this machine. A person has looked at
/// what a screen showed, and at what `ls` or `log` printed to a terminal.
struct NewsReader {
    private let looks: [String: [Seen]]

    init(_ server: ServerOptions) throws {
        looks = Identity.looks(by: try server.user.name(), at: try server.address())
    }

    /// The lists that the person has looked at; perhaps other lists have their names now.
    func hasLooked(at list: String) -> Bool { looks[list] != nil }

    /// The last look at a list; nil if there was none. Another list may have had its name before.
    func lastLook(at list: String, log: UInt64) -> Seen? {
        looks[list]?.filter { $0.logID == log }.max { $0.revision < $1.revision }
    }

    /// Returns which items of a list others have added or changed since the last look at it, or ever. What nobody
    /// remembers counts, if there was no look.
    func places(
        in hand: Hand, at revision: Int, of list: String, log: UInt64, _ client: HandClient
    ) async throws -> Set<Int> {
        let last = lastLook(at: list, log: log)
        let news = try await client.news(of: list, since: min(last?.revision ?? 0, revision), through: revision)
        guard let last else { return news.isWhole ? Set(news.places.keys) : Set(hand.indices) }
        return Set(news.places.keys).union(hand.indices.filter { last.unseen[hand[$0].id] != nil })
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
