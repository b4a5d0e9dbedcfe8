import Foundation
import HandClient
import HandCore
import HandSync
import HandTestSupport
import Synchronization
import Testing

/// Three people write in one line while the server is killed again and again: each word that its author has not removed
/// again is present once, and everybody has the same text. `HAND_ROUNDS` gives the number of kills.
@Suite(.serialized) struct OneLineTests {
    @Test func everyWordIsPresentOnce() async throws {
        let server = try RunningServer(try TemporaryFolder())
        let clients = try (0..<3).map { try server.client("client \($0)") }
        try await clients[0].create("list")
        let list = try await clients[0].open("list")
        try await list.edit { _ in
            Delta.inserting([Item(id: ItemID(rawValue: 1), content: .note("start"))])
        }
        _ = try await list.settled()
        let ledger = CrashTests.Ledger()
        var written: Set<String> = ["start"]
        try await withThrowingTaskGroup(of: Set<String>.self) { group in
            for (name, client) in zip(["a", "b", "c"], clients) {
                let list = try await client.open("list")
                group.addTask {
                    _ = try await list.live()
                    var writer = Writer(name: name, list: list)
                    while !ledger.isOver {
                        try await writer.write()
                        ledger.note(inserted: [], deleted: [], edits: 1)
                    }
                    return writer.words
                }
            }
            for round in 0..<CrashTests.rounds {
                for await count in ledger.counts where count >= 20 * (round + 1) { break }
                server.kill()
                try server.start()
            }
            ledger.finish()
            for try await words in group { written.formUnion(words) }
        }
        var head = 0
        for client in clients { head = max(head, try await client.open("list").state().revision) }
        var texts: [String] = []
        for client in clients {
            texts.append(try await client.open("list").caughtUp(to: head).view[0].content.text)
            await client.close()
        }
        #expect(server.terminate() == 0)
        let stored = try server.stored("list").hand[0].content.text
        #expect(texts.allSatisfy { $0 == stored })
        let words = stored.split(separator: " ").map(String.init)
        #expect(Set(words) == written && words.count == written.count)
    }

    /// Inserts its own words into the line and changes them; it leaves others' words alone.
    private struct Writer {
        let name: String
        let list: FollowedList
        private var random: SplitMix64
        private var number = 0
        private(set) var words: Set<String> = []

        init(name: String, list: FollowedList) {
            (self.name, self.list) = (name, list)
            random = SplitMix64(seed: testSeed(52) &+ UInt64(name.utf8.first ?? 0))
        }

        /// A word that a closure on another thread has replaced.
        private final class Replaced: Sendable {
            private let state = Mutex<String?>(nil)
            var word: String? { state.withLock { $0 } }
            func set(_ word: String) { state.withLock { $0 = word } }
        }

        mutating func write() async throws {
            number += 1
            let (word, dice, name, replaced) = ("\(name)\(number)", random.next(), name, Replaced())
            try await list.edit { state in
                var words = state.view[0].content.text.split(separator: " ").map(String.init)
                let own = words.indices.filter { words[$0].hasPrefix(name) }
                if own.count > 10 {
                    let place = own[Int(dice % UInt64(own.count))]
                    replaced.set(words[place])
                    words[place] = word
                } else {
                    words.insert(word, at: Int(dice % UInt64(words.count + 1)))
                }
                return state.view.rewording(0, words.joined(separator: " "))
            }
            if let former = replaced.word { words.remove(former) }
            words.insert(word)
            #expect(try await list.settled().rejections.isEmpty)
        }
    }
}
