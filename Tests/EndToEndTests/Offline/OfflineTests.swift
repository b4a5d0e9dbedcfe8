import Foundation
import HandClient
import HandCore
import HandTestSupport
import HandWire
import Testing

/// A client is cut off while others continue, edits offline, ends, starts again, and reconnects.
@Suite(.serialized) struct OfflineTests {
    enum Way: CaseIterable {
        /// The missed commits are still in the server's memory.
        case window
        /// They must be read from the store.
        case store
        /// A snapshot is smaller.
        case snapshot
    }

    @Test(arguments: Way.allCases)
    func returningAfterTenThousandCommits(way: Way) async throws {
        let folder = try TemporaryFolder()
        let options = ["--durability", "os", "--window", way == .window ? "100000000" : "100000"]
        let server = try RunningServer(folder, options)
        let other = try server.client("other")
        try await other.create("list")
        let writer = try await other.open("list")
        // A list of 40,000 items is larger than 10,000 commits, so the store is read. A short one arrives as a
        // snapshot.
        let start = tasks(way == .snapshot ? 100 : 40_000)
        for first in stride(from: 0, to: start.count, by: 4_000) {
            let part = Array(start[first..<min(start.count, first + 4_000)])
            try await writer.edit { Delta.inserting(part, at: $0.view.count, .before) }
        }
        let base = try #require(try await writer.settled().revision)

        let before = try server.client("traveller", journal: "traveller.sqlite")
        _ = try await before.open("list").caughtUp(to: base)
        await before.close()

        try commit(10_000, on: server)
        let mine = try await editOffline(1_000, folder)

        let after = try server.client("traveller", journal: "traveller.sqlite")
        let list = try await after.open("list")
        let outcome = try await list.settled()
        let revision = try #require(outcome.revision)
        #expect(outcome.rejections.isEmpty && revision >= base + 10_000)
        let mineNow = try await list.caughtUp(to: revision)
        let others = try await writer.caughtUp(to: revision)
        #expect(mineNow.view == others.view)
        #expect(mine.isSubset(of: mineNow.view.map(\.id)))
        #expect(Set(mineNow.view.map(\.id)).count == mineNow.view.count)
        await after.close()
        await other.close()
        #expect(server.terminate() == 0)
        #expect(try server.stored("list").hand == mineNow.view)
    }

    /// Makes somebody else's edits, each a commit of its own.
    private func commit(_ number: Int, on server: RunningServer) throws {
        let script = server.folder.path + "/others.load"
        // Some edits find nothing to change, and make no commit.
        try """
        loop \(number + number / 5)
          choose
            3 add "n" at random
            2 edit random to "e{random}"
            1 delete random
            2 move random to random
          end
        end
        """.write(toFile: script, atomically: true, encoding: .utf8)
        let options = ["-l", "list", "--as-is", "--clients", "1", "--duration", "10m", "--seed", "7"]
        let outcome = try Binary.run(["load", "--url", "hand+unix://\(server.socket)"] + options + [script])
        #expect(outcome.status == 0, "\(outcome.messages)")
    }

    /// Makes edits without a server, as if in a process of their own: the journal is closed and opened again.
    private func editOffline(_ number: Int, _ folder: TemporaryFolder) async throws -> Set<ItemID> {
        var ids: Set<ItemID> = []
        var random = SplitMix64(seed: 99)
        for _ in 0..<2 {
            let client = try HandClient(
                ClientConfiguration(
                    server: .unix(path: folder.path + "/nobody.sock"), person: "traveller", program: "test",
                    journalPath: folder.path + "/traveller.sqlite"))
            let list = try await client.open("list")
            for index in 0..<number / 2 {
                let item = Item(id: .random(using: &random), content: .task("mine", done: false))
                let place = random.next()
                if index % 4 == 3 {
                    try await list.edit { state in
                        let from = Int(place % UInt64(state.view.count))
                        return Delta.moving(
                            from..<from + 1, to: Int(place / 3 % UInt64(state.view.count)), .after
                        )
                    }
                } else {
                    ids.insert(item.id)
                    try await list.edit { state in
                        Delta.inserting([item], at: Int(place % UInt64(state.view.count + 1)), .before)
                    }
                }
            }
            await client.close()
        }
        return ids
    }
}
