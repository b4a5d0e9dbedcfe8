import Foundation
import HandClient
import HandCore
import HandStore
import HandTestSupport
import HandWire
import Testing

/// A client's files are copied, as when a home folder is restored from a backup, and used alongside the original.
@Suite(.serialized, .timeLimit(.minutes(5))) struct CopiedHomeTests {
    private static func add(_ text: String, to list: FollowedList) async throws {
        var random = SystemRandomNumberGenerator()
        let item = Item(id: .random(using: &random), content: .note(text))
        try await list.edit { Delta.inserting([item], at: $0.view.count, .before) }
    }

    @Test func bothContinueUnderTheirOwnIDs() async throws {
        let folder = try TemporaryFolder()
        let server = try RunningServer(folder)
        func client(_ home: String) throws -> HandClient {
            try HandClient(
                ClientConfiguration(
                    server: server.address, person: "ada", program: "test",
                    journalPath: "\(folder.path)/\(home)/0.sqlite"))
        }
        let first = try client("a")
        try await first.create("list")
        let list = try await first.open("list")
        try await Self.add("one", to: list)
        #expect(try await list.settled().revision == 1)
        await first.close()
        try FileManager.default.copyItem(atPath: folder.path + "/a", toPath: folder.path + "/b")

        let clients = try [client("a"), client("b")]
        var lists: [FollowedList] = []
        for client in clients { lists.append(try await client.open("list")) }
        // Until each has its own id, each disconnects the other; everything gets through nevertheless.
        var expected: Set<String> = ["one"]
        var authors: Set<AuthorID?> = []
        while authors.count < 2 {
            for (number, list) in lists.enumerated() {
                let text = "\(expected.count) from \(number)"
                expected.insert(text)
                try await Self.add(text, to: list)
            }
            authors = []
            for list in lists {
                #expect(try await list.settled().rejections.isEmpty)
                authors.insert(try await list.state().author)
            }
        }
        let reader = try HandClient(ClientConfiguration(server: server.address, person: "ben", program: "test"))
        let texts = try await reader.state(of: "list").hand.map(\.content.text)
        #expect(Set(texts) == expected && texts.count == expected.count)
        await reader.close()
        for client in clients { await client.close() }
        let ids = try ["a", "b"].map { home in
            let journal = try ClientJournal(path: "\(folder.path)/\(home)/0.sqlite", fresh: ClientID(high: 0, low: 1))
            defer { try? journal.close() }
            return journal.client
        }
        #expect(ids[0] != ids[1])
    }
}
