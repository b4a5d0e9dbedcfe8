import Foundation
import HandClient
import HandCore
import HandStore
import HandSync
import HandTestSupport
import HandWire
import Testing

/// The events that a program gets for a followed list.
@Suite(.serialized, .timeLimit(.minutes(5))) struct FollowedListTests {
    private static let edit: @Sendable (ListState) -> Delta = { state in
        let item = Item(id: ItemID(rawValue: .random(in: 0 ... .max)), content: .note("x"))
        return Delta.inserting([item], at: state.view.count, .before)
    }

    /// The outcome of an edit is reported once.
    @Test func outcomesAreReportedOnce() async throws {
        let server = try RunningServer(try TemporaryFolder())
        defer { server.kill() }
        let client = try server.client()
        try await client.create("list")
        let list = try await client.open("list")
        try await list.edit(Self.edit)
        let first = try await list.settled()
        #expect(first.revision == 1 && first.notices.count == 1)
        let again = try await list.settled()
        #expect(again.revision == nil && again.notices.isEmpty && again.rejections.isEmpty)
        try await list.edit(Self.edit)
        let second = try await list.settled()
        #expect(second.revision == 2 && second.notices.count == 1)
        await client.close()
    }

    /// Blocks the client until the semaphore is signalled. Everything that has arrived by then is reported at once.
    private static func hold(_ client: HandClient) -> DispatchSemaphore {
        let gate = DispatchSemaphore(value: 0)
        client.post { _ in gate.wait() }
        return gate
    }

    /// A change by several authors has no single author.
    @Test func changesHaveTheirAuthors() async throws {
        let server = try RunningServer(try TemporaryFolder())
        defer { server.kill() }
        let ada = try server.client("ada")
        try await ada.create("list")
        let list = try await ada.open("list")
        _ = try await list.live()
        let events = list.events
        let gate = Self.hold(ada)
        for name in ["ben", "cleo"] {
            let client = try server.client(name)
            let list = try await client.open("list")
            try await list.edit(Self.edit)
            _ = try await list.settled()
            await client.close()
        }
        gate.signal()
        var authors: [Int: Set<Replica.Origin>] = [:]
        for await case .changed(let state, let update) in events {
            authors[update.delta.insertedItems.count, default: []].insert(update.origin)
            if state.view.count == 2 { break }
        }
        // Both at once, or one after the other.
        #expect(authors[2] ?? [.unknown] == [.unknown])
        #expect(authors[1].map { $0.count == 2 && !$0.contains(.unknown) } ?? true)
        await ada.close()
    }

    /// An edit of a list that is opened, edited and closed at once is kept.
    @Test func anEditBeforeClosingIsKept() async throws {
        let folder = try TemporaryFolder()
        let journal = folder.path + "/journal.sqlite"
        let client = try HandClient(
            ClientConfiguration(
                server: .unix(path: folder.path + "/nobody.sock"), person: "ada", program: "test",
                journalPath: journal))
        let list = try await client.open("list")
        list.close()
        _ = try await client.discard("list")
        let gate = Self.hold(client)
        client.post { engine in
            engine.client.open("list")
            let item = Item(id: ItemID(rawValue: 1), content: .note("x"))
            let delta = Delta.inserting([item], at: 0, .before)
            #expect(throws: Never.self) {
                try engine.client.edit { try $0.edit("list", delta, isExact: false) }
            }
        }
        list.close()
        gate.signal()
        await client.close()
        let kept = try ClientJournal(path: journal, fresh: ClientID(high: 1, low: 1))
        #expect(try kept.load("list")?.view.count == 1)
        try kept.close()
    }

    /// The printed position of a person is counted from one.
    @Test func positionsAreCountedFromOne() async throws {
        let user = try CommandUser()
        let client = try user.server.client("ben")
        try await client.create("list")
        try user.hand("add", "milk", "bread", "-q")
        let list = try await client.open("list")
        let item = try await list.live().view[1].id
        list.setPresence(Focus(item))
        #expect(try eventually { try user.hand("who").contains("on") })
        #expect(try user.hand("who").split(separator: "\n").contains("ben\ton 2: [ ] bread"))
        #expect(try user.hand("who", "--json").contains(#""editing":false"#))
        list.setPresence(Focus(item, isEditing: true))
        #expect(try eventually { try user.hand("who").split(separator: "\n").contains("ben\tedits 2: [ ] bread") })
        #expect(try user.hand("who", "--json").contains(#""item":"\#(item)","editing":true"#))
        await client.close()
    }

    /// A new listener gets the people who are present, and nobody who left while the server was away.
    @Test func departedPeopleAreNotReported() async throws {
        let server = try RunningServer(try TemporaryFolder())
        defer { server.kill() }
        let (ada, ben) = (try server.client("ada"), try server.client("ben"))
        try await ada.create("list")
        let list = try await ada.open("list")
        let events = list.events
        _ = try await ben.open("list").live()
        var here: Set<String> = []
        for await event in events {
            here.formUnion(Self.people(event))
            if here == ["ada", "ben"] { break }
        }
        #expect(try await Self.people(of: list) == ["ada", "ben"])
        let later = list.events
        server.kill()
        await ben.close()
        try server.start()
        var isBack = false
        for await event in later {
            if case .status(.offline) = event { isBack = true }
            if isBack, Self.people(event).contains("ada") { break }
        }
        #expect(try await Self.people(of: list) == ["ada"])
        await ada.close()
    }

    /// Returns the people that a new listener gets.
    private static func people(of list: FollowedList) async throws -> [String] {
        let events = list.events
        try await list.edit(edit)
        var people: [String] = []
        for await event in events {
            people += Self.people(event)
            // That is the edit, which was made later.
            if case .changed(_, let update) = event, !update.delta.isIdentity { break }
        }
        return people.sorted()
    }

    private static func people(_ event: ListEvent) -> [String] {
        guard case .presence(let entries) = event else { return [] }
        return entries.compactMap { if case .here(let person, _) = $0.place { person } else { nil } }
    }
}
