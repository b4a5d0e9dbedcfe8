import HandSync
import HandWire

extension SimulatedStore: SharedServers {
    /// Milliseconds of silence after which a server is considered gone.
    private static let silence: UInt64 = 5_000

    package func exchange(
        _ mine: [PresenceNews], at server: UInt64, on lists: [ListNumber], knowing known: [PresencePlace: Int]
    ) throws -> [PresenceNews] {
        seen[server] = now()
        for news in mine { presence[news.place] = news.frames?.isEmpty == false ? news : nil }
        let found = presence.values.filter { news in
            let isAlive = now() <= seen[news.place.server, default: 0] + Self.silence
            return news.place.server == server || lists.contains(news.place.list) && isAlive
        }
        return found.sorted { ($0.place.server, $0.place.list) < ($1.place.server, $1.place.list) }.map { news in
            let isKnown = news.place.server == server || known[news.place] == news.version
            return isKnown ? PresenceNews(place: news.place, version: news.version, frames: nil) : news
        }
    }

    package func heartbeat(of server: UInt64, at address: String, report: [UInt8]) throws { seen[server] = now() }

    package func leave(_ server: UInt64) throws {
        seen[server] = nil
        presence = presence.filter { $0.key.server != server }
    }

    package func servers() throws -> [SharedServer] {
        seen.keys.sorted().map {
            SharedServer(id: $0, address: "", silence: Int(now() - seen[$0, default: 0]), report: [])
        }
    }
}
