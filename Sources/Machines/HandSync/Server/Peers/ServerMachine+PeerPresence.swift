import HandCore
import HandWire

/// What this server has told other servers about people on its lists, and what it has heard from them.
struct PresenceExchange {
    /// What other servers were told about a list.
    struct Announcement {
        /// The state of the list's board (`PresenceBoard.ownChanges`); nil if other servers may know another state.
        var changes: Int?
        /// The version in the store; nil if nobody is on the list.
        let version: Int?
    }

    var announced: [UInt64: Announcement] = [:]
    /// The last version that was given to any news.
    var version = 0
    /// When the last exchange began.
    var last: UInt64 = 0
    /// When the next exchange is to begin.
    var due: UInt64 = 0
    var isUnderWay = false
    /// Whether something has changed since the exchange that is under way began.
    var isDueAgain = false
    /// The people at other servers.
    var known: [PresencePlace: (version: Int, remotePeople: [UInt64: PresenceBoard.RemotePerson])] = [:]

    /// Whether other servers do not know the newest state of a board.
    func isNew(_ board: PresenceBoard, of list: UInt64) -> Bool {
        announced[list].map { $0.changes != board.ownChanges } ?? (board.ownChanges > 0)
    }

    /// Makes sure that other servers are told once more who is on a list.
    mutating func announceAgain(_ list: UInt64) {
        announced[list, default: Announcement(changes: nil, version: nil)].changes = nil
    }

    /// A list was removed from memory. When it is loaded again, its board counts from zero.
    mutating func unloaded(_ list: UInt64) {
        if announced[list]?.version == nil { announced[list] = nil } else { announceAgain(list) }
    }
}

extension ServerMachine {
    /// Milliseconds between two exchanges if there is no news. Such exchanges show whether another server is gone.
    private static let exchangeInterval: UInt64 = 1_000

    /// Exchanges presence with other servers soon.
    func exchangePresenceSoon() {
        guard isShared else { return }
        if exchange.isUnderWay {
            exchange.isDueAgain = true
        } else {
            exchange.due = min(exchange.due, max(now, exchange.last + limits.presenceInterval))
        }
    }

    /// Tells other servers who is on lists here, and asks who is on lists there.
    func exchangePresence() {
        guard let serverID else { return }
        if exchange.isUnderWay {
            // The end of the exchange that is under way sets the time of the next one.
            exchange.due = .max
            return
        }
        (exchange.last, exchange.due) = (now, now + Self.exchangeInterval)
        let lists = self.lists.all.filter { !$0.subscribers.isEmpty }.map(\.list.number).sorted()
        let news = newPresence(of: serverID)
        (exchange.isUnderWay, exchange.isDueAgain) = (true, false)
        let known = exchange.known.mapValues(\.version)
        start(.exchangePresence(ExchangePresence(server: serverID, news: news, lists: lists, known: known)))
    }

    func exchanged(_ task: ExchangePresence, _ result: Result<[PresenceNews], StoreError>) {
        exchange.isUnderWay = false
        exchange.due = min(exchange.due, now + Self.exchangeInterval)
        if exchange.isDueAgain { exchangePresenceSoon() }
        // News that did not arrive is sent again once it is found to be missing.
        if case .success(let found) = result { hear(found, on: task.lists) }
        for hosted in task.lists.compactMap({ self.lists[$0] }) {
            hosted.peerPresenceKnown()
            announce(hosted)
        }
    }

    /// The presence that other servers do not know. Lists that are not in memory have nobody on them.
    private func newPresence(of serverID: UInt64) -> [PresenceNews] {
        var news: [PresenceNews] = []
        for list in Set(lists.numbers).union(exchange.announced.keys).sorted() {
            let board = lists[list]?.presence ?? PresenceBoard()
            guard exchange.isNew(board, of: list) else { continue }
            exchange.version += 1
            let version = board.everybody.isEmpty ? nil : exchange.version
            exchange.announced[list] = .init(changes: board.ownChanges, version: version)
            let place = PresencePlace(list: list, server: serverID)
            news.append(PresenceNews(place: place, version: exchange.version, people: board.ownEntries))
        }
        return news
    }

    private func hear(_ found: [PresenceNews], on lists: [UInt64]) {
        let former = exchange.known
        exchange.known = [:]
        var remotePeople: [UInt64: [UInt64: PresenceBoard.RemotePerson]] = [:]
        var mine: [UInt64: Int] = [:]
        for news in found.sorted(by: { $0.place.server < $1.place.server }) {
            guard news.place.server != serverID else {
                mine[news.place.list] = news.version
                continue
            }
            // News that cannot be decoded counts as nobody.
            let people = news.frames == nil ? former[news.place]?.remotePeople : try? news.remotePeople()
            exchange.known[news.place] = (news.version, people ?? [:])
            remotePeople[news.place.list, default: [:]].merge(people ?? [:]) { $1 }
        }
        // A store that has started anew has forgotten its presence. And an older write may have come after a newer one.
        for list in Set(mine.keys).union(exchange.announced.keys)
        where mine[list] != exchange.announced[list]?.version {
            exchange.announceAgain(list)
        }
        for list in exchange.announced.keys where self.lists[list] == nil && exchange.announced[list]?.changes == 0 {
            exchange.announced[list] = nil
        }
        for list in lists { self.lists[list]?.presence.setPeers(remotePeople[list] ?? [:]) }
    }
}

package struct ExchangePresence: Sendable {
    let server: UInt64
    let news: [PresenceNews]
    let lists: [UInt64]
    let known: [PresencePlace: Int]

    func run(on store: any CommitStore) throws -> [PresenceNews] {
        try (store as? any SharedServers)?.exchange(news, at: server, on: lists, knowing: known) ?? []
    }
}
