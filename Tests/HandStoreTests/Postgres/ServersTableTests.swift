import Foundation
import HandCore
import HandStore
import HandSync
import HandTestSupport
import PostgresServer
import Synchronization
import Testing

/// What servers tell each other through a database: that they are there, and who is on their lists.
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

    private func news(_ list: UInt64, _ server: UInt64, _ version: Int, _ frames: [UInt8]) -> PresenceNews {
        PresenceNews(place: PresencePlace(list: list, server: server), version: version, frames: frames)
    }

    /// What a server finds on lists, in a fixed order.
    private func found(
        _ server: UInt64, _ lists: [UInt64], knowing known: [PresencePlace: Int] = [:], _ mine: [PresenceNews] = []
    ) throws -> [PresenceNews] {
        try one.exchange(mine, at: server, on: lists, knowing: known).sorted {
            ($0.place.list, $0.place.server) < ($1.place.list, $1.place.server)
        }
    }

    /// As if time had passed.
    private func age(_ server: UInt64, _ time: String) throws {
        try database.query("UPDATE \(folder.schema).servers SET seen = seen - interval '\(time)' WHERE id = \(server)")
    }

    @Test func serversThatComeAndGo() throws {
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
        #expect(try database.query("SELECT count(*) FROM \(folder.schema).presence") == "0", "nobody is with it")
    }

    @Test func whoIsWhere() throws {
        try one.heartbeat(of: 1, at: "a", report: [])
        try other.heartbeat(of: 2, at: "b", report: [])
        #expect(try found(2, [], [news(5, 2, 1, [9, 8]), news(6, 2, 2, [7])]).map(\.frames) == [nil, nil])
        #expect(try found(1, [5]) == [news(5, 2, 1, [9, 8])])
        #expect(try found(1, [5, 6, 7]) == [news(5, 2, 1, [9, 8]), news(6, 2, 2, [7])])
        // What is known is not read again, nor what one has said oneself; but that it is there is said.
        let place = PresencePlace(list: 5, server: 2)
        #expect(try found(1, [5], knowing: [place: 1]) == [PresenceNews(place: place, version: 1, frames: nil)])
        #expect(try found(1, [5], knowing: [place: 0]) == [news(5, 2, 1, [9, 8])])
        let mine = try found(1, [5], [news(5, 1, 4, [1]), news(8, 1, 4, [2])])
        #expect(mine.map(\.place.server) == [1, 2, 1] && mine.map(\.version) == [4, 1, 4])
        #expect(mine.map(\.frames) == [nil, [9, 8], nil])
        // Nobody is there any more.
        #expect(try found(2, [], [news(5, 2, 3, [])]).map(\.place.list) == [6])
        #expect(try found(1, [5]).map(\.place.server) == [1, 1])
        // A server that is not heard of has nobody, until it is heard of again; to itself it is there.
        try age(2, "6 seconds")
        #expect(try found(1, [6]).map(\.place.server) == [1, 1])
        #expect(try found(2, [6]).contains { $0.place == PresencePlace(list: 6, server: 2) })
        try other.heartbeat(of: 2, at: "b", report: [])
        #expect(try found(1, [6]).contains(news(6, 2, 2, [7])))
        try other.leave(2)
        #expect(try found(1, [5, 6]).allSatisfy { $0.place.server == 1 })
    }

    /// Others hear that somebody has moved or come, without looking.
    @Test func hints() throws {
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
