import Foundation
import HandClient
import HandCore
import HandTestSupport
import Testing

/// Results that are too large for one answer arrive completely.
@Suite(.serialized, .timeLimit(.minutes(10))) struct PageTests {
    private let ada: CommandUser

    init() throws { ada = try CommandUser("ada", ["--durability", "os"]) }

    @Test func manyListsArriveCompletely() async throws {
        let client = try ada.server.client()
        let names = (1...501).map { String(format: "%04d", $0) }
        for name in names { try await client.create(name) }
        await client.close()
        #expect(try ada.hand("lists").split(separator: "\n").map { String($0.prefix(4)) } == names)
    }

    @Test func manyRevisionsArriveCompletely() async throws {
        let client = try ada.server.client()
        try await client.create("list")
        let list = try await client.open("list")
        for number in 1...1_002 {
            try await list.edit { _ in
                let item = Item(id: ItemID(rawValue: UInt64(number)), content: .note("\(number)"))
                return Delta.inserting([item], at: 0, .after)
            }
            _ = try await list.settled()
        }
        await client.close()
        func revisions(_ arguments: String...) throws -> [Int] {
            try ada.run(["log"] + arguments).output.split(separator: "\n").compactMap {
                $0.firstMatch(of: #/^revision ([0-9]+) /#).flatMap { Int($0.1) }
            }
        }
        #expect(try revisions() == Array(1...1_002))
        #expect(try revisions("-n", "1001") == Array(2...1_002))
        // The edit of a revision is carried over all later commits.
        try ada.hand("undo", "1")
        #expect(try ada.lines() == (2...1_002).reversed().map { "\($0)" })
    }
}
