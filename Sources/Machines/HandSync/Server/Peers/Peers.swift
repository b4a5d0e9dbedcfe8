import HandCore
import HandWire

/// Other servers that write to the same store: what they were told about people on lists here, and what was heard of
/// people on lists there.
struct Peers {
    /// The number by which other servers know this one. After each start, the number is a different one.
    private let server: UInt64
    private let presenceInterval: UInt64
    /// Whether the heads of lists are being read.
    private var isPolling = false
    private var exchange = Exchange.idle
    /// When the next exchange is to begin.
    private(set) var due: UInt64 = 0
    /// When the last exchange began.
    private var last: UInt64 = 0
    private var announced: [ListNumber: Announcement] = [:]
    /// The last version that was given to any news.
    private var version = 0
    /// The people at other servers.
    private var known: [PresencePlace: (version: Int, people: [AuthorID: PresenceBoard.RemotePerson])] = [:]

    /// An exchange of presence with the store.
    private enum Exchange {
        case idle
        /// `isDueAgain` says whether something has changed since the exchange began.
        case underWay(isDueAgain: Bool)
    }

    /// What other servers were told about a list.
    private struct Announcement {
        /// The state of the list's board (`PresenceBoard.ownChanges`); nil if other servers may know another state.
        var changes: Int?
        /// The version in the store; nil if nobody is on the list.
        let version: Int?
    }

    /// Milliseconds between two exchanges if there is no news. Such exchanges show whether another server is gone.
    private static let exchangeInterval: UInt64 = 1_000

    init(server: UInt64, _ limits: Limits) { (self.server, presenceInterval) = (server, limits.presenceInterval) }

    // MARK: Heads

    /// Begins to compare all lists in memory with the store. Returns false if that is under way.
    mutating func beginPoll() -> Bool {
        defer { isPolling = true }
        return !isPolling
    }

    mutating func endPoll() { isPolling = false }

    // MARK: Presence

    /// Exchanges presence with other servers soon.
    mutating func exchangeSoon(now: UInt64) {
        switch exchange {
        case .idle: due = min(due, max(now, last + presenceInterval))
        case .underWay: exchange = .underWay(isDueAgain: true)
        }
    }

    /// Tells other servers who is on lists here, and asks who is on lists there.
    mutating func beginExchange(_ lists: ListDirectory, now: UInt64) -> ExchangePresence {
        (last, due, exchange) = (now, .max, .underWay(isDueAgain: false))
        let followed = lists.all.filter { !$0.subscribers.isEmpty }.map(\.list.number).sorted()
        return ExchangePresence(
            server: server, news: news(of: lists), lists: followed, known: known.mapValues(\.version))
    }

    /// The exchange has ended; `found` is nil if it failed: news that did not arrive is sent again once it is found to
    /// be missing. Returns the people at other servers, by lists; nil if they are unknown.
    mutating func endExchange(
        _ found: [PresenceNews]?, _ lists: ListDirectory, now: UInt64
    ) -> [ListNumber: [AuthorID: PresenceBoard.RemotePerson]]? {
        let isDueAgain = if case .underWay(true) = exchange { true } else { false }
        let next = last + Self.exchangeInterval
        (exchange, due) = (.idle, next > now ? next : now + Self.exchangeInterval)
        if isDueAgain { exchangeSoon(now: now) }
        return found.map { hear($0, lists) }
    }

    /// Whether other servers do not know the newest state of a board.
    func isNew(_ board: PresenceBoard, of list: ListNumber) -> Bool {
        announced[list].map { $0.changes != board.ownChanges } ?? (board.ownChanges > 0)
    }

    /// A list was removed from memory. When it is loaded again, its board counts from zero.
    mutating func unloaded(_ list: ListNumber) {
        if announced[list]?.version == nil { announced[list] = nil } else { announceAgain(list) }
    }

    /// Makes sure that other servers are told once more who is on a list.
    private mutating func announceAgain(_ list: ListNumber) {
        announced[list, default: Announcement(changes: nil, version: nil)].changes = nil
    }

    /// The presence that other servers do not know. Lists that are not in memory have nobody on them.
    private mutating func news(of lists: ListDirectory) -> [PresenceNews] {
        var news: [PresenceNews] = []
        for list in Set(lists.numbers).union(announced.keys).sorted() {
            let board = lists[list]?.presence ?? PresenceBoard()
            guard isNew(board, of: list) else { continue }
            version += 1
            announced[list] = Announcement(changes: board.ownChanges, version: board.everybody.isEmpty ? nil : version)
            let place = PresencePlace(list: list, server: server)
            news.append(PresenceNews(place: place, version: version, people: board.ownEntries))
        }
        return news
    }

    private mutating func hear(
        _ found: [PresenceNews], _ lists: ListDirectory
    ) -> [ListNumber: [AuthorID: PresenceBoard.RemotePerson]] {
        let former = Swift.exchange(&known, with: [:])
        var everybody: [ListNumber: [AuthorID: PresenceBoard.RemotePerson]] = [:]
        var mine: [ListNumber: Int] = [:]
        for news in found.sorted(by: { $0.place.server < $1.place.server }) {
            guard news.place.server != server else {
                mine[news.place.list] = news.version
                continue
            }
            // News that cannot be decoded counts as nobody.
            let people = news.frames == nil ? former[news.place]?.people : try? news.remotePeople()
            known[news.place] = (news.version, people ?? [:])
            everybody[news.place.list, default: [:]].merge(people ?? [:]) { $1 }
        }
        // A store that has started anew has forgotten its presence. And an older write may have come after a newer one.
        for list in Set(mine.keys).union(announced.keys) where mine[list] != announced[list]?.version {
            announceAgain(list)
        }
        for list in announced.keys where lists[list] == nil && announced[list]?.changes == 0 { announced[list] = nil }
        return everybody
    }
}

package struct ExchangePresence: StoreQuestion {
    let server: UInt64
    let news: [PresenceNews]
    let lists: [ListNumber]
    let known: [PresencePlace: Int]

    func run(on store: any CommitStore) throws -> [PresenceNews] {
        try (store as? any SharedServers)?.exchange(news, at: server, on: lists, knowing: known) ?? []
    }
}
