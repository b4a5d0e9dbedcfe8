import Foundation
import HandClient
import HandCore
import HandStore
import HandSync
import HandTestSupport
import HandWire
import Testing

/// The disk fails below a real server. Acknowledged edits stay, edits that were not stored are refused, and if nobody
/// knows what the disk holds, the server ends.
@Suite(.serialized) struct FaultTests {
    /// Sends one item at the end of a list, and waits for the answer.
    private static func add(_ text: String, to list: FollowedList) async throws -> (id: ItemID, outcome: Settlement) {
        let id = try await send(text, to: list)
        return (id, try await list.settled())
    }

    private static func send(_ text: String, to list: FollowedList) async throws -> ItemID {
        var random = SystemRandomNumberGenerator()
        let item = Item(id: .random(using: &random), content: .task(text, done: false))
        try await list.edit { Delta.inserting([item], at: $0.view.count, .after) }
        return item.id
    }

    /// Makes two edits, after which SQLite wants to copy its log into the database.
    private static func addMuch(to list: FollowedList) async throws {
        for _ in 0..<2 {
            var random = SystemRandomNumberGenerator()
            let items = (0..<150).map { _ in
                Item(id: .random(using: &random), content: .note(String(repeating: "far too long; ", count: 1_000)))
            }
            try await list.edit { Delta.inserting(items, at: $0.view.count, .after) }
            #expect(try await list.settled().rejections.isEmpty)
        }
    }

    // MARK: Writes

    /// The edits of two clients before and after the fault are made on a working disk, those in between with the fault.
    @Test(arguments: ["write ENOSPC", "write full", "write EIO", "write EIO -wal", "write full -wal"])
    func editsThatCannotBeWrittenAreRefused(fault: String) async throws {
        let server = try FaultyServer()
        let clients = try [server.client("ada"), server.client("bob")]
        try await clients[0].create("list")
        var lists: [FollowedList] = []
        for client in clients { lists.append(try await client.open("list")) }
        var acknowledged: [ItemID] = []
        for round in 0..<3 {
            try server.fail(round == 1 ? fault : "")
            for edit in 0..<6 {
                let (id, outcome) = try await Self.add("\(round) \(edit)", to: lists[edit % 2])
                if round == 1 {
                    #expect(outcome.rejections == [.notStored] && outcome.revision == nil)
                } else {
                    #expect(outcome.rejections.isEmpty && outcome.revision == acknowledged.count + 1)
                    acknowledged.append(id)
                }
            }
            if round == 1 {
                #expect(server.says("commits could not be written"))
                #expect(try await clients[1].state(of: "list").hand.map(\.id).sorted() == acknowledged.sorted())
            }
        }
        server.kill()
        #expect(try server.stored("list").hand.map(\.id).sorted() == acknowledged.sorted())
        for client in clients { await client.close() }
    }

    /// A write may write less than it was given; that is not a fault.
    @Test func shortWritesAreContinued() async throws {
        let server = try FaultyServer(fault: "write short")
        let client = try server.client()
        try await client.create("list")
        let list = try await client.open("list")
        for edit in 0..<6 { #expect(try await Self.add("\(edit)", to: list).outcome.revision == edit + 1) }
        server.kill()
        #expect(try server.stored("list").revision == 6)
        await client.close()
    }

    @Test(arguments: ["write ENOSPC", "write EIO"])
    func aListThatCannotBeWrittenIsNotCreated(fault: String) async throws {
        let server = try FaultyServer()
        let client = try server.client()
        try await client.create("first")
        try server.fail(fault)
        await #expect(throws: ClientError.self) { try await client.create("second") }
        #expect(server.says("the store failed"))
        try server.fail("")
        #expect(try await client.lists().map(\.name) == ["first"])
        try await client.create("second")
        #expect(server.terminate() == 0)
        #expect(try server.stored { try $0.listCount(of: nil) } == 2)
        await client.close()
    }

    /// Reading needs nothing to be written, also for a client that the store does not know. Its later commits are its own.
    @Test func newcomersReadWhileTheDiskIsFull() async throws {
        let server = try FaultyServer()
        try server.fail("write ENOSPC")
        let ada = try server.client("ada")
        #expect(try await ada.lists().isEmpty)
        try server.fail("")
        let bob = try server.client("bob")
        try await ada.create("list")
        for client in [ada, bob] { _ = try await Self.add("text", to: client.open("list")) }
        let commits = try await ada.commits(of: "list", from: 1)
        #expect(Set(commits.map(\.author)).count == 2)
        server.kill()
        #expect(try Set(server.stored { try $0.people(commits.map(\.author)) }.map(\.name)) == ["ada", "bob"])
        for client in [ada, bob] { await client.close() }
    }

    @Test func withoutRoomForAStoreNoServerStarts() throws {
        let server = try FaultyServer(fault: "write ENOSPC")
        #expect(!server.isServing && server.end() == 1)
        let reasons = ["disk is full", "No space left on device"]
        #expect(reasons.contains { server.log.contains($0) }, "\(server.log)")
    }

    // MARK: Flushes

    /// The client repeats the edit that was under way when the server ended, and it is committed once.
    @Test func withoutAFlushTheServerEnds() async throws {
        let server = try FaultyServer()
        let client = try server.client()
        try await client.create("list")
        let list = try await client.open("list")
        var ids: [ItemID] = []
        for edit in 0..<3 { ids.append(try await Self.add("before \(edit)", to: list).id) }
        try server.fail("sync EIO")
        ids.append(try await Self.send("unknown", to: list))
        #expect(server.end() == 1)
        #expect(server.log.contains("the disk did not confirm that"))
        try server.fail("")
        try server.start()
        let outcome = try await list.settled()
        #expect(outcome.rejections.isEmpty && outcome.revision == 4)
        ids.append(try await Self.add("after", to: list).id)
        server.kill()
        #expect(try server.stored("list").hand.map(\.id) == ids)
        await client.close()
    }

    /// Whatever the server was writing.
    @Test func withoutAFlushOfAnotherWriteTheServerEnds() async throws {
        let server = try FaultyServer()
        let client = try server.client()
        try await client.create("first")
        try server.fail("sync EIO")
        let creation = Task { try await client.create("second") }
        #expect(server.end() == 1)
        await #expect(throws: ClientError.self) { try await creation.value }
        #expect(server.log.contains("the disk did not confirm that"))
        await client.close()
        try server.fail("")
        try server.start()
        // A client that the server does not know yet: authors' numbers are stored before they are sent.
        try server.fail("sync EIO")
        let stranger = try server.client("stranger")
        #expect(server.end() == 1)
        await stranger.close()
        let names = try server.stored { try $0.lists(after: "", limit: 9).map(\.name) }
        #expect(Set(names).subtracting(["second"]) == ["first"])
    }

    // MARK: Access rules

    /// The store keeps a copy of the access rules: after each change, and also after one that it could not write.
    @Test func theCopyOfTheAccessRulesFollows() throws {
        let user = try FaultyUser()
        let server = user.server
        func changed(_ name: String) throws {
            let outcome = try user.hand("token", "create", name, "--role", "read", "--data", server.data)
            #expect(outcome.status == 0, "\(outcome)")
        }
        func follows() throws -> Bool {
            let rules = try Data(contentsOf: URL(fileURLWithPath: server.data + "/access.json"))
            for _ in 0..<600 {
                if try SQLiteStore.accessRules(in: server.data) == Array(rules) { return true }
                usleep(50_000)
            }
            return false
        }
        for name in ["ada", "ben"] {
            try changed(name)
            #expect(try follows(), "\(name)")
        }
        try server.fail("write ENOSPC -wal")
        try changed("eve")
        #expect(server.says("the store did not save the access rules"))
        try server.fail("")
        #expect(try follows())
        #expect(server.terminate() == 0)
    }

    // MARK: Logs

    /// The disk takes only a part of a line. It is taken back, so that the next line is one of its own.
    @Test func aLogHasWholeLinesOnly() async throws {
        let server = try FaultyServer()
        for (person, fault) in [("ada", ""), ("bob", "write full audit"), ("eve", "")] {
            try server.fail(fault)
            let client = try server.client(person)
            try await client.create("\(person)s")
            await client.close()
            if person == "bob" { #expect(server.says("No space left")) }
        }
        #expect(server.terminate() == 0)
        let lines = try String(contentsOfFile: server.auditLog, encoding: .utf8).split(separator: "\n")
        struct Entry: Decodable { let person: String? }
        let entries = try lines.map { try JSONDecoder().decode(Entry.self, from: Data($0.utf8)) }
        #expect(entries.count { $0.person == "ada" } >= 2 && entries.count { $0.person == "eve" } >= 2)
    }

    // MARK: Checkpoints

    /// Copying SQLite's log into the database fails: the log has everything, so nobody notices.
    @Test(arguments: ["write EIO .sqlite", "write full .sqlite", "sync EIO .sqlite", "truncate EIO"])
    func aFailedCheckpointLosesNothing(fault: String) async throws {
        let server = try FaultyServer()
        let client = try server.client()
        try await client.create("list")
        let list = try await client.open("list")
        try server.fail(fault)
        try await Self.addMuch(to: list)
        #expect(server.terminate() == 0)
        #expect(server.bytes(of: "hand.sqlite-wal") > 4 << 20, "the log is still needed")
        try server.fail("")
        try server.start()
        try await Self.addMuch(to: list)
        server.kill()
        let stored = try server.stored("list")
        #expect(stored.revision == 4 && stored.hand.count == 600)
        await client.close()
    }
}
