import Foundation
import HandClient
import HandCore
import HandTestSupport
import HandWire
import PostgresServer
import Testing

/// Servers on one PostgreSQL: edits at one of them are visible at the others, and the same rules apply on all.
@Suite(.enabled(if: PostgresServer.isThere)) struct SharedServersTests {
    private let database: PostgresServer
    private let ada: CommandUser
    private let ben: CommandUser
    private let ports: [Int]

    init() throws {
        database = try PostgresServer()
        ports = [try PostgresServer.freePort(), try PostgresServer.freePort()]
        ada = try Self.user("ada", database, ports[0])
        ben = try Self.user("ben", database, ports[1])
        try ada.hand("create", "list")
    }

    /// Returns a person with a server of their own on the database.
    private static func user(_ name: String, _ database: PostgresServer, _ port: Int) throws -> CommandUser {
        let options = ["--store", database.address(), "--listen", "127.0.0.1:\(port)", "--log-level", "critical"]
        return CommandUser(name, at: try RunningServer(try TemporaryFolder(), options))
    }

    @Test func editsAtOneServerAreShownAtTheOthers() throws {
        try ada.hand("add", "a")
        try ben.hand("add", "b")
        #expect(try ada.lines() == ["[ ] a", "[ ] b"] && ben.lines() == ["[ ] a", "[ ] b"])
        #expect(try ben.hand("log").contains("ada") && ada.hand("log").contains("ben"))
        try ben.hand("rename", "list", "other")
        #expect(try ada.lines("-l", "other") == ["[ ] a", "[ ] b"])
        try ada.hand("ls", expecting: 3)
        try ada.hand("delete", "--force", "other")
        try ben.hand("ls", "-l", "other", expecting: 3)
        try ben.hand("undelete", "other", "--name", "list")
        #expect(try ada.lines() == ["[ ] a", "[ ] b"])
    }

    /// A server makes large edits on another thread while the other server's commits arrive. With '.ci/sanitize
    /// thread', a server ends with another code if its threads race.
    @Test func largeEditsUnderLoadLoseNothing() async throws {
        let (near, far) = (try ada.server.client("near"), try ben.server.client("far"))
        let (mine, theirs) = (try await near.open("list"), try await far.open("list"))
        _ = (try await mine.live(), try await theirs.live())
        async let small: Void = {
            for id: UInt64 in 1...300 {
                let item = Item(id: ItemID(rawValue: id), content: .note("small"))
                try await mine.edit { _ in .inserting([item], at: 0, .after) }
                _ = try await mine.settled()
            }
        }()
        for round: UInt64 in 1...3 {
            let items = (0..<20_000).map { Item(id: ItemID(rawValue: round << 32 | $0), content: .note("large")) }
            try await theirs.edit { .inserting(items, at: $0.view.count, .before) }
            _ = try await theirs.settled()
        }
        try await small
        let (here, there) = (try await mine.caughtUp(to: 303).view, try await theirs.caughtUp(to: 303).view)
        #expect(here.count == 60_300 && here == there)
        await near.close()
        await far.close()
        #expect(ada.server.terminate() == 0 && ben.server.terminate() == 0)
    }

    /// Followers get commits from other servers without asking.
    @Test func followersSeeWhatOthersCommit() async throws {
        let (near, far) = (try ada.server.client("near"), try ben.server.client("far"))
        let (mine, theirs) = (try await near.open("list"), try await far.open("list"))
        _ = try await theirs.live()
        for number in 1...20 {
            let side = number % 2 == 0 ? mine : theirs
            _ = try await side.live()
            let item = Item(id: ItemID(rawValue: UInt64(number)), content: .note("\(number)"))
            try await side.edit { .inserting([item], at: $0.view.count, .after) }
            _ = try await side.settled()
            #expect(try await (number % 2 == 0 ? theirs : mine).caughtUp(to: number).view.count == number)
        }
        #expect(try await mine.state().view == theirs.state().view)
        // Both servers listen for hints, so that they need not wait until they check by themselves.
        let listeners =
            "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND query ~ 'LISTEN|pg_notify'"
        #expect(try database.query(listeners + " AND pid <> pg_backend_pid()") == "2")
        await near.close()
        await far.close()
    }

    /// A granted role applies on all servers, and a revoked one ends there.
    @Test func rulesApplyOnAllServers() throws {
        let access = ["--store", database.address()]
        let secret = try ada.hand(["token", "create", "eve", "--role", "read", "--list", "list"] + access)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        try ada.hand(["token", "guests", "--local", "none"] + access)
        var eve = ben
        eve.environment["HAND_NAME"] = nil
        eve.environment["HAND_TOKEN"] = secret
        #expect(try eventually { try eve.run(["ls"]).status == 0 })
        #expect(try eventually { try ben.run(["ls"]).status == 5 })
        try eve.hand("add", "mine", expecting: 5)
        // Also a role on a list that does not exist yet.
        let later = try ada.hand(["token", "create", "kim", "--role", "read", "--list", "later"] + access)
        var kim = eve
        kim.environment["HAND_TOKEN"] = later.trimmingCharacters(in: .whitespacesAndNewlines)
        try ada.hand(["token", "guests", "--local", "admin"] + access)
        #expect(try eventually { try ada.run(["create", "later"]).status == 0 })
        #expect(try eventually { try kim.run(["ls", "-l", "later"]).status == 0 })
        // The role is on the list, whatever its name on another server is by then.
        try ada.hand("rename", "list", "food")
        try ada.hand("create", "list")
        let hidden = try eve.run(["ls", "-l", "list"])
        #expect(hidden.status == 3, "\(hidden.messages)\(hidden.output)")
        #expect(try eventually { try eve.run(["ls", "-l", "food"]).status == 0 })
        let tokens = try ada.hand(["token", "list"] + access)
        #expect(tokens.contains("read on 'food'") && tokens.contains("read on 'later'"))
        let line = try #require(tokens.split(separator: "\n").first { $0.contains("'food'") })
        try ada.hand(["token", "revoke", String(line.prefix { $0 != " " })] + access)
        #expect(try eventually { try eve.run(["ls", "-l", "food"]).status == 5 })
    }

    /// People at other servers are shown, even after the database has forgotten them, and no longer once their server
    /// is killed.
    @Test func peopleAtAnotherServerAreShown() async throws {
        try ada.hand("add", "a")
        let far = try ben.server.client("far")
        let list = try await far.open("list")
        let item = try #require(try await list.live().view.first)
        list.setPresence(Focus(item.id, isEditing: true))
        func who() throws -> [String] { try ada.run(["who"]).output.split(separator: "\n").map(String.init).sorted() }
        #expect(try eventually { try who() == ["far\tedits 1: [ ] a"] })
        try database.query("TRUNCATE presence, servers")
        #expect(try eventually { try who().count == 1 })
        ben.server.kill()
        #expect(try eventually { try who().isEmpty })
        await far.close()
    }

    /// The clients of a load test use all servers, and see the edits at the others.
    @Test(arguments: [[], ["--light"]]) func aLoadTestOfBoth(options: [String]) throws {
        let url = "hand://127.0.0.1:\(ports[0]),127.0.0.1:\(ports[1])/loaded"
        let load = ["load", "--spread", "--url", url, "--clients", "4", "--duration", "1s", "--json"]
        let found = try #require(try ada.hand(load + options).split(separator: "\n").last)
        let result = try #require(try JSONSerialization.jsonObject(with: Data(found.utf8)) as? [String: Any])
        let commits = try #require(result["commits"] as? Int)
        #expect(result["converged"] as? Bool == true && commits > 10, "\(result)")
        for user in [ada, ben] {
            let report = try user.hand("admin", "report", "--data", user.server.folder.path + "/data")
            let server = try JSONSerialization.jsonObject(with: Data(report.utf8)) as? [String: Any]
            let connections = (server?["figures"] as? [String: Any])?["connections"] as? Int
            #expect(try #require(connections) >= 2, "\(report)")
        }
    }

    /// The database has a report of each server.
    @Test func theReportOfAllServers() throws {
        let all = ["admin", "report", "--all", "--store", database.address()]
        func servers() throws -> [[String: Any]] {
            try ada.hand(all).split(separator: "\n").compactMap { line in
                try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            }
        }
        #expect(try eventually { try servers().compactMap { $0["report"] as? [String: Any] }.count == 2 })
        for server in try servers() {
            #expect((server["address"] as? String)?.contains("127.0.0.1:") == true, "\(server)")
            #expect((server["silence"] as? Int).map { $0 < 60_000 } == true, "\(server)")
        }
        #expect(ben.server.terminate() == 0)
        #expect(try servers().count == 1, "it reported its departure")
        try ada.hand("admin", "report", "--all", expecting: 2)
        try ada.hand("top", "--all", expecting: 2)
    }

    /// Without its database a server is not ready. It continues when the database is back; no acknowledged edit is
    /// lost.
    @Test func anUnreachableDatabaseLosesNothing() throws {
        for outage in 1...2 {
            try ada.hand("add", "a\(outage)")
            database.stop()
            try ada.hand("add", "b", "--timeout", "1", expecting: 6)
            try database.start()
            // An edit whose outcome is not known (8) must not be made again: the next command settles it.
            #expect(try eventually { [0, 8].contains(try ada.run(["add", "c\(outage)"]).status) })
            #expect(try eventually { try ada.run(["sync"]).status == 0 })
        }
        let lines = try ben.lines().filter { $0 != "[ ] b" }
        #expect(lines == ["[ ] a1", "[ ] c1", "[ ] a2", "[ ] c2"])
    }

    @Test func wrongDatabaseAddressesAreReported() throws {
        func serve(_ arguments: String...) throws -> Binary.Outcome {
            try Binary.run(
                ["serve", "--listen", "127.0.0.1:0", "--data", ada.server.folder.path + "/other"] + arguments)
        }
        let secret = try serve("--store", "postgres://hand:hidden@127.0.0.1/hand")
        #expect(secret.status == 2 && secret.messages.contains("PGPASSWORD") && !secret.messages.contains("hidden"))
        let missing = try serve("--store", database.address(of: "nowhere"))
        #expect(missing.status == 6 && missing.messages.contains("nowhere"), "\(missing.messages)")
        let mixed = try serve("--store", database.address(), "--durability", "os")
        #expect(mixed.status == 2 && mixed.messages.contains("--durability"), "\(mixed.messages)")
        #expect(try serve("--store-password", "file").status == 2)
        let gone = try serve("--store", database.address(), "--store-password", "/no/such/file")
        #expect(gone.status == 3 && gone.messages.contains("/no/such/file cannot be read"), "\(gone.messages)")
    }
}

extension CommandUser {
    @discardableResult
    fileprivate func hand(_ arguments: [String]) throws -> String {
        let outcome = try run(arguments)
        #expect(outcome.status == 0, "\(arguments): \(outcome.messages)")
        return outcome.output
    }
}
