import Foundation
import HandCore
import HandStore
import HandSync
import HandTestSupport
import HandWire
import PostgresServer
import Synchronization
import Testing

/// The information that servers exchange through a database: that they are running, and who is on their lists.
@Suite(needsPostgres) struct ServersTableTests {
    private let folder: TemporaryFolder
    private let database: PostgresServer
    private let one: PostgresStore
    private let other: PostgresStore

    init() throws {
        folder = try TemporaryFolder()
        database = try PostgresServer.shared.get()
        one = try .shared(folder)
        other = try .shared(folder)
    }

    private func news(_ list: ListNumber, _ server: UInt64, _ version: Int, _ frames: [UInt8]) -> PresenceNews {
        PresenceNews(place: PresencePlace(list: list, server: server), version: version, frames: frames)
    }

    /// Returns the presence that a server finds on lists, in a fixed order.
    private func found(
        _ server: UInt64, _ lists: [ListNumber], knowing known: [PresencePlace: Int] = [:], _ mine: [PresenceNews] = []
    ) throws -> [PresenceNews] {
        try one.exchange(mine, at: server, on: lists, knowing: known).sorted {
            ($0.place.list, $0.place.server) < ($1.place.list, $1.place.server)
        }
    }

    /// Pretends that time has passed.
    private func age(_ server: UInt64, _ time: String) throws {
        try database.query("UPDATE \(folder.schema).servers SET seen = seen - interval '\(time)' WHERE id = \(server)")
    }

    @Test func serversComeAndGo() throws {
        let big = UInt64(Int64.max)
        try one.heartbeat(of: 1, at: "b", report: [1])
        try other.heartbeat(of: big, at: "a", report: [2])
        try one.heartbeat(of: 1, at: "c", report: [3])
        let servers = try other.servers()
        #expect(servers.map(\.id) == [big, 1] && servers.map(\.address) == ["a", "c"])
        #expect(servers.map(\.report) == [[2], [3]] && servers.allSatisfy { (0..<60_000).contains($0.silence) })
        try age(1, "30 seconds")
        #expect(try #require(other.servers().first { $0.id == 1 }).silence >= 30_000)
        try one.leave(big)
        #expect(try one.servers().map(\.id) == [1])
        _ = try found(1, [], [news(5, 1, 1, [9])])
        try age(1, "40 seconds")
        try other.heartbeat(of: 2, at: "b", report: [])
        #expect(try one.servers().map(\.id) == [2])
        #expect(try database.query("SELECT count(*) FROM \(folder.schema).presence") == "0", "its presence is removed")
    }

    @Test func presenceIsExchanged() throws {
        try one.heartbeat(of: 1, at: "a", report: [])
        try other.heartbeat(of: 2, at: "b", report: [])
        #expect(try found(2, [], [news(5, 2, 1, [9, 8]), news(6, 2, 2, [7])]).map(\.frames) == [nil, nil])
        #expect(try found(1, [5]) == [news(5, 2, 1, [9, 8])])
        #expect(try found(1, [5, 6, 7]) == [news(5, 2, 1, [9, 8]), news(6, 2, 2, [7])])
        // Known presence is not read again, nor the server's own; but its existence is reported.
        let place = PresencePlace(list: 5, server: 2)
        #expect(try found(1, [5], knowing: [place: 1]) == [PresenceNews(place: place, version: 1, frames: nil)])
        #expect(try found(1, [5], knowing: [place: 0]) == [news(5, 2, 1, [9, 8])])
        let mine = try found(1, [5], [news(5, 1, 4, [1]), news(8, 1, 4, [2])])
        #expect(mine.map(\.place.server) == [1, 2, 1] && mine.map(\.version) == [4, 1, 4])
        #expect(mine.map(\.frames) == [nil, [9, 8], nil])
        // Nobody is present any more.
        #expect(try found(2, [], [news(5, 2, 3, [])]).map(\.place.list) == [6])
        #expect(try found(1, [5]).map(\.place.server) == [1, 1])
        // A silent server has nobody, until it reports again; for itself it still has its people.
        try age(2, "6 seconds")
        #expect(try found(1, [6]).map(\.place.server) == [1, 1])
        #expect(try found(2, [6]).contains { $0.place == PresencePlace(list: 6, server: 2) })
        try other.heartbeat(of: 2, at: "b", report: [])
        #expect(try found(1, [6]).contains(news(6, 2, 2, [7])))
        try other.leave(2)
        #expect(try found(1, [5, 6]).allSatisfy { $0.place.server == 1 })
    }

    /// Hints report moves and arrivals to others without a query.
    @Test func hintsReportChanges() throws {
        let expected: Set = [StoreHint.presence(list: 5), .presence(list: 6), .client(StoreHint.Key(bits: .max))]
        let heard = Mutex<Set<StoreHint>>([])
        other.listen { hint in heard.withLock { _ = $0.insert(hint) } }
        var version = 0
        try eventually("all of it is heard of") {
            version += 1
            _ = try found(1, [], [news(5, 1, version, [1]), news(6, 1, version, [1])])
            one.tell(.client(StoreHint.Key(bits: .max)))
            return heard.withLock { $0 == expected }
        }
    }
}
