import EventLoop
import FaultyNetwork
import Foundation
import HandClient
import HandCore
import HandFormats
import HandSync
import HandTestSupport
import Testing

/// Every wait ends, whatever fails and when: with a result, with a refusal, or as unreachable.
@Suite(.serialized, .timeLimit(.minutes(5))) struct EndingTests {
    static let items = 4_000

    let server: RunningServer
    let proxy: FaultyProxy
    let environment: [String: String]

    init() async throws {
        server = try RunningServer(try TemporaryFolder(), ["--listen", "127.0.0.1:0", "--durability", "os"])
        proxy = try FaultyProxy(to: try server.tcpAddress(), seed: 1)
        environment = [
            "HAND_URL": "hand://127.0.0.1:\(proxy.address.port)/list", "HAND_NAME": "ada",
            "XDG_STATE_HOME": server.folder.path + "/state", "XDG_CONFIG_HOME": server.folder.path + "/config",
        ]
        let client = try server.client("ada")
        try await client.create("list")
        let list = try await client.open("list")
        let items = tasks(Self.items)
        try await list.edit { _ in Delta.inserting(items, at: 0, .after) }
        _ = try await list.settled()
        await client.close()
    }

    private func client() throws -> HandClient {
        try HandClient(
            ClientConfiguration(
                server: .tcp(host: "127.0.0.1", port: proxy.address.port), person: "ada", program: "test"))
    }

    /// Starts everything that a program can wait for at once. Returns how each of it ended.
    private static func everything(_ client: HandClient) async throws -> [(any Error)?] {
        func end(_ body: () async throws -> Void) async -> (any Error)? {
            do { try await body() } catch { return error }
            return nil
        }
        let list = try await client.open("list")
        async let connected = end { try await client.connected() }
        async let live = end { _ = try await list.live() }
        async let settled = end { _ = try await list.settled() }
        async let state = end { _ = try await client.state(of: "list") }
        async let history = end { _ = try await client.history(of: "list", from: 1) }
        async let lists = end { _ = try await client.lists() }
        async let events: (any Error)? = end { for await _ in list.events {} }
        return await [connected, live, settled, state, history, lists, events]
    }

    /// The server falls silent after various numbers of bytes, and then the client is closed, twice at once.
    @Test func everyWaitEndsWithTheClient() async throws {
        let whole = try client()
        let before = proxy.traffic.bytes
        async let ends = Self.everything(whole)
        _ = try await whole.open("list").live()
        _ = try await whole.state(of: "list")
        await whole.close()
        #expect(try await ends.count == 7)
        let total = proxy.traffic.bytes - before
        #expect(total > 100_000)
        var strikes = proxy.strikes.makeAsyncIterator()
        for bytes in Array(stride(from: 1, to: 200, by: 13)) + Array(stride(from: 200, to: total / 2, by: total / 60)) {
            proxy.change { $0.down.strike = .silence(after: bytes) }
            let client = try client()
            async let ends = Self.everything(client)
            await strikes.next()
            async let first: Void = client.close()
            async let second: Void = client.close()
            _ = await (first, second)
            for end in try await ends {
                #expect(
                    end == nil || end as? ClientError == .closed, "after \(bytes) bytes: \(end.map { "\($0)" } ?? "")")
            }
        }
    }

    /// The order that once made commands hang: a request is made while the client is being closed.
    @Test func aRequestDuringClosingEnds() async throws {
        let client = try client()
        let list = try await client.open("list")
        var answer: (any Error)?
        do {
            let _: Void = try await withCheckedThrowingContinuation { continuation in
                let reply = Reply(continuation)
                client.post { engine in
                    client.post { _ in reply.succeed(()) }
                    client.shut(engine)
                }
            }
        } catch { answer = error }
        #expect(answer as? ClientError == .closed)
        var iterator = list.events.makeAsyncIterator()
        #expect(await iterator.next() == nil)
        await client.close()
    }

    /// The end of a list is delivered even if nobody was listening to it yet.
    @Test func anEndBeforeListeningIsDelivered() async throws {
        let client = try client()
        let list = try await client.open("nope")
        let end = ClientError.refused(.noSuchList, "there is no list 'nope'")
        await #expect(throws: end) { _ = try await list.live() }
        var heard: [ListEvent] = []
        for await event in list.events { heard.append(event) }
        guard heard.count == 1, case .refused(.noSuchList, _) = heard[0] else {
            await client.close()
            return #expect(Bool(false), "\(heard)")
        }
        await #expect(throws: end) { _ = try await list.state() }
        await client.close()

        let nowhere = try HandClient(
            ClientConfiguration(server: .unix(path: "/nowhere/hand.sock"), person: "ada", program: "test"))
        let lost = try await nowhere.open("list")
        await #expect(throws: ClientError.self) { try await nowhere.connected() }
        var events = lost.events.makeAsyncIterator()
        guard case .status(.offline) = await events.next() else { return #expect(Bool(false)) }
        await nowhere.close()
    }

    // MARK: Commands

    /// The first two need the whole list.
    private static let commands = [["ls"], ["export"], ["who"], ["undo"], ["log", "-n", "1"], ["rm", "1"]]

    /// The exit codes that they may have: 8 is an edit that was sent, and whose answer did not come.
    private static let possible: Set<Int32> = [0, 3, 6, 8]

    /// Runs all of them at once. Returns the exit codes.
    private func statuses(_ commands: [[String]], _ options: [String]) async throws -> [Int32] {
        let environment = environment
        return try await withThrowingTaskGroup(of: (Int, Int32).self) { group in
            for (index, command) in commands.enumerated() {
                group.addTask { (index, try Binary.run(command + options, environment: environment).status) }
            }
            return try await group.reduce(into: commands.map { _ in -1 }) { $0[$1.0] = $1.1 }
        }
    }

    /// A connection that is lost in the middle of an answer is not the end: the request is repeated within the timeout.
    @Test func aLostRequestIsRepeated() async throws {
        // No answer is short enough to get through.
        let client = try server.client("ada")
        for number in 1...9 { try await client.create("another-list-with-a-number-\(number)") }
        await client.close()
        for command in [["ls"], ["export"], ["log", "-n", "1"], ["lists"]] {
            let resets = proxy.traffic.resets
            proxy.change { faults in
                faults.down.strike = .reset(after: 200)
                faults.strikesOnce = true
            }
            let outcome = try Binary.run(command + ["--timeout", "100"], environment: environment)
            #expect(outcome.status == 0, "\(command): \(outcome.messages)")
            #expect(proxy.traffic.resets == resets + 1)
        }
    }

    /// The server falls silent there, or the connection is lost, each time again.
    @Test(arguments: [0, 30, 60, 1_000, 40_000], [true, false])
    func commandsEndWhereverTheServerIsLost(bytes: Int, isSilent: Bool) async throws {
        proxy.change { $0.down.strike = isSilent ? .silence(after: bytes) : .reset(after: bytes) }
        let statuses = try await statuses(Self.commands, ["--timeout", "0.3"])
        #expect(statuses.prefix(2) == [6, 6])
        // A command that does not need the list may have finished before.
        for status in statuses { #expect(bytes < 60 ? status == 6 : Self.possible.contains(status)) }
    }

    /// The timeout strikes at any millisecond of a download.
    @Test func commandsEndWheneverTheTimeoutStrikes() async throws {
        for milliseconds in stride(from: 0, through: 200, by: 20) {
            for status in try await statuses(Self.commands, ["--timeout", "\(Double(milliseconds) / 1000)"]) {
                #expect(Self.possible.contains(status), "\(milliseconds) ms")
            }
        }
    }

    /// Commands that need the history are refused, others are kept for later, whether the server is down or silent.
    @Test(arguments: [true, false])
    func queuedEditsEndWithoutAServer(isSilent: Bool) async throws {
        proxy.change { $0.down.strike = isSilent ? .silence(after: 0) : .reset(after: 0) }
        for _ in 0..<2 {
            let statuses = try await statuses(
                [["undo", "--queue"], ["undo", "1", "--queue"], ["add", "kept", "--queue"]], ["--timeout", "0.5"])
            #expect(statuses == [6, 6, 0])
            let said = try Binary.run(["undo", "--queue", "--timeout", "0.5"], environment: environment).messages
            #expect(said.contains("Nothing is kept for later"), "\(said)")
        }
        proxy.heal()
        #expect(try Binary.run(["sync"], environment: environment).status == 0)
        #expect(try Binary.run(["ls"], environment: environment).output.split(separator: "\n").count == Self.items + 2)
    }
}
