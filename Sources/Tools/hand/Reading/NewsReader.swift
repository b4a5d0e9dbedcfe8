import Glibc
import HandClient
import HandCore
import HandFormats
import HandSync
import HandWire

/// What others have changed in lists since their person looked at them last, on this machine. A person has looked at
/// what a screen showed, and at what `ls` or `log` printed to a terminal.
struct NewsReader {
    private let server: ServerOptions
    private let seen: [String: [Seen]]

    init(_ server: ServerOptions) throws {
        self.server = server
        seen = Identity.seen(by: try server.user.name(), at: try server.address())
    }

    /// The lists that the person may have looked at: those with the name of such a list, or all of them if such a list
    /// is gone, since it may have another name now.
    func candidates(among lists: [DownMessage.ListEntry]) -> [DownMessage.ListEntry] {
        let areAllThere = Set(seen.keys).isSubset(of: lists.map(\.name))
        return areAllThere ? lists.filter { seen[$0.name] != nil } : lists
    }

    /// The last look at a list, whatever its name was then; nil if there was none.
    func lastLook(at log: UInt64) -> Seen? {
        seen.values.joined().filter { $0.logID == log }.max { $0.revision < $1.revision }
    }

    /// Says if nobody knows all that is new since the last look.
    func warn(of list: String, _ news: NewsOfCommits) {
        if !news.isWhole { server.say("'\(list)': older changes are no longer kept, so more may be new") }
    }

    /// Returns which items of a list others have added or changed since the last look at it, or ever. What nobody
    /// remembers counts, if there was no look.
    func places(
        in hand: Hand, at revision: Int, of list: String, log: UInt64, _ client: HandClient
    ) async throws -> Set<Int> {
        let last = lastLook(at: log)
        let news = try await client.news(of: list, since: min(last?.revision ?? 0, revision), through: revision)
        guard let last else { return news.isWhole ? Set(news.places.keys) : Set(hand.indices) }
        warn(of: list, news)
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
