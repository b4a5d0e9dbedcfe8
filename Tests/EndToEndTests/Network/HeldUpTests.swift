import FaultyNetwork
import Foundation
import HandClient
import HandCore
import HandTestSupport
import HandWire
import Testing

/// Somebody else's edit arrives between two messages of one command, while the network delays the next message.
@Suite(.serialized, .timeLimit(.minutes(20))) struct HeldUpTests {
    private static let items = 40_000

    private let server: RunningServer
    private let proxy: FaultyProxy

    init() throws {
        // No connection is given up while a test of this process waits for its turn.
        let timeouts = ["--idle-timeout", "600", "--handshake-timeout", "600"]
        server = try RunningServer(
            try TemporaryFolder(), ["--listen", "127.0.0.1:0", "--durability", "os"] + timeouts)
        proxy = try FaultyProxy(to: try server.tcpAddress(), seed: 1)
    }

    private func held() throws -> HandClient {
        try HandClient(
            ClientConfiguration(
                server: .tcp(host: "127.0.0.1", port: proxy.address.port), person: "ada", program: "test"))
    }

    /// Returns a list, and a client that edits it directly, not through the proxy.
    private func list(of count: Int) async throws -> (client: HandClient, list: FollowedList) {
        let client = try server.client("ben")
        try await client.create("list")
        let list = try await client.open("list")
        let items = tasks(count)
        try await list.edit { _ in Delta.inserting(items, at: 0, .after) }
        _ = try await list.settled()
        return (client, list)
    }

    private static func insert(_ text: String, _ list: FollowedList) async throws {
        var random = SystemRandomNumberGenerator()
        let item = Item(id: .random(using: &random), content: .note(text))
        try await list.edit { Delta.inserting([item], at: $0.view.count, .before) }
        _ = try await list.settled()
    }

    /// Items that take several answers are all of one revision, each once.
    @Test func severalAnswersAreOfOneRevision() async throws {
        let (ben, list) = try await list(of: Self.items)
        let hand = Hand(tasks(Self.items))
        let ada = try held()
        try await ada.connected()
        proxy.change { $0.down.strike = .hold(after: 100_000) }
        async let answer = ada.excerpt(of: "list", [.positions(start: 0, count: Self.items)])
        var strikes = proxy.strikes.makeAsyncIterator()
        await strikes.next()
        try await list.edit { _ in Delta.deleting(0..<Self.items / 2) }
        _ = try await list.settled()
        proxy.heal()
        let excerpt = try await answer
        #expect(excerpt.revision == 1 && excerpt.count == Self.items)
        #expect(excerpt.entries == hand.excerpt([.positions(start: 0, count: Self.items)], revision: 1).entries)
        await ada.close()
        await ben.close()
    }

    /// More selections than one request takes, in any order, some of them repeated.
    @Test func manySelectionsAreOneAnswer() async throws {
        let (ben, _) = try await list(of: 3_000)
        let hand = Hand(tasks(3_000))
        let places = stride(from: 2_999, through: 0, by: -2).map { $0 } + Array(0..<40)
        let ids = [5, 2_000].map { ItemID(rawValue: $0) }
        let selections =
            places.map { Excerpt.Selection.positions(start: $0, count: 1) } + ids.map { .ids($0...$0) }
        #expect(selections.count > Limits.selections)
        let excerpt = try await ben.excerpt(of: "list", selections)
        #expect(excerpt.entries == hand.excerpt(selections, revision: 1).entries)
        await ben.close()
    }

    /// If the list changes between the read and the submission, an edit for one revision is refused: the server
    /// decides, wherever the command is delayed.
    @Test func anEditForOneRevisionIsMadeOnIt() async throws {
        let (ben, list) = try await list(of: 1)
        let environment = [
            "HAND_URL": "hand://127.0.0.1:\(proxy.address.port)/list", "HAND_NAME": "ada",
            "XDG_STATE_HOME": server.folder.path + "/state", "XDG_CONFIG_HOME": server.folder.path + "/config",
        ]
        let (news, tell) = AsyncStream<News>.makeStream()
        let teller = Task { [proxy] in for await _ in proxy.strikes { tell.yield(.struck) } }
        var next = news.makeAsyncIterator()
        var (bytes, refused, isStruck) = (1, 0, true)
        while isStruck {
            let (before, hold) = (try await ben.state(of: "list"), bytes)
            proxy.change { $0.up.strike = .hold(after: hold) }
            let command = Process()
            command.executableURL = URL(fileURLWithPath: Binary.path)
            command.arguments = [
                "add", "mine \(hold)", "--if-revision", "\(before.revision)", "--timeout", "600", "-q",
            ]
            command.environment = outerEnvironment.merging(environment) { $1 }
            command.standardError = FileHandle.nullDevice
            command.terminationHandler = { tell.yield(.ended($0.terminationStatus)) }
            try command.run()
            var (status, first) = (Int32(-1), await next.next())
            isStruck = false
            if case .struck = first {
                isStruck = true
                try await Self.insert("else \(hold)", list)
                proxy.heal()
                first = await next.next()
            }
            if case .ended(let code) = first { status = code }
            let texts = try await ben.state(of: "list").hand.map(\.content.text)
            if status == 0 {
                // Nobody's edit came first.
                #expect(texts.firstIndex(of: "mine \(hold)") == before.hand.count, "held up after \(hold) bytes")
            } else {
                // On a busy machine, the server may stop waiting for a greeting that is held up.
                let isRefused = (status == 7 || status == 6 && isStruck) && texts.count == before.hand.count + 1
                #expect(isRefused, "held up after \(hold) bytes: \(status)")
                if status == 7 { refused += 1 }
            }
            bytes += 11
        }
        teller.cancel()
        #expect(refused > 5)
        await ben.close()
    }

    /// Bytes that the network did not accept before a connection was lost are not sent on the next one, which starts
    /// with a hello.
    @Test func bytesOfALostConnectionAreNotSentOnTheNext() async throws {
        let (ben, _) = try await list(of: 0)
        let names = (1...5).map { "list\($0)" }
        for name in names { try await ben.create(name) }
        let ada = try held()
        var lists: [FollowedList] = []
        for name in names {
            let list = try await ada.open(name)
            _ = try await list.live()
            lists.append(list)
        }
        proxy.change { $0.up.takesNothing = true }
        // More than the system accepts: most of it waits in the client.
        let text = String(repeating: "x", count: 16_000)
        for (number, list) in lists.enumerated() {
            let items = (1...200).map {
                Item(id: ItemID(rawValue: UInt64(number * 1_000 + $0)), content: .note(text))
            }
            try await list.edit { _ in Delta.inserting(items, at: 0, .after) }
        }
        proxy.resetAll()
        proxy.heal()
        for list in lists {
            #expect(try await list.settled().rejections.isEmpty)
            #expect(try await ben.state(of: list.name).hand.count == 200)
        }
        #expect(proxy.traffic.connections == 2)
        await ada.close()
        await ben.close()
    }

    private enum News {
        case struck
        case ended(Int32)
    }
}
