import EventLoop
import Foundation
import HandClient
import HandCore
import HandFormats
import HandSync
import HandTestSupport
import HandWire
import Testing

/// The real server process, and the bytes on its socket.
@Suite(.serialized) struct ServerTests {
    /// Sends bytes on a connection of their own. Returns the answer until the server closes the connection.
    private func exchange(
        _ server: RunningServer, _ bytes: [UInt8], thenEnd: Bool = false,
        until isEnough: @escaping (DownMessage) -> Bool = { _ in false }
    ) throws -> [DownMessage] {
        let loop = try Loop()
        defer { loop.close() }
        var reader = FrameReader(limit: 1 << 24)
        var messages: [DownMessage] = []
        EventLoop.Pipe.connect(loop, path: server.socket) { result in
            guard case .success(let pipe) = result else { return }
            pipe.open { [unowned pipe] bytes in
                try? reader.read(bytes) { (body) throws(WireError) -> Bool in
                    messages.append(try DownMessage(body))
                    return true
                }
                if messages.contains(where: isEnough) { pipe.close() }
            } onEnd: { [unowned pipe] _ in
                pipe.close()
            }
            pipe.write([OutputBuffer(bytes)])
            if thenEnd { pipe.shutdown() }
        }
        loop.run()
        return messages
    }

    private func hello(_ low: Int = ProtocolVersion.lowest, _ high: Int = ProtocolVersion.highest) -> [UInt8] {
        UpMessage.hello(
            UpMessage.Hello(
                lowestVersion: low, highestVersion: high, client: ClientID(high: 1, low: 2),
                person: "p", program: "t")
        ).frame
    }

    @Test func badBytesGetAClearErrorAndEverybodyElseContinues() async throws {
        let server = try RunningServer(try TemporaryFolder())
        let client = try server.client()
        try await client.create("list")
        let list = try await client.open("list")
        let cases: [(String, [UInt8], ErrorCode)] = [
            ("another protocol", [5, 1] + Array("HALF".utf8), .notHand),
            (
                "a web browser",
                Array("GET / HTTP/1.1\r\nHost: localhost:7777\r\nUser-Agent: a browser of some kind\r\n\r\n".utf8),
                .notHand
            ),
            ("noise", [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], .malformedMessage),
            ("a frame without a message", [0], .malformedMessage),
            ("too long before the hello", [0x80, 0x80, 0x40], .frameTooLarge),
            ("a newer version", hello(7, 9), .versionNotSupported),
            ("an older version", hello(1, 2), .versionNotSupported),
            ("out of order", UpMessage.ping(1).frame, .outOfOrder),
            ("a second hello", hello() + hello(), .outOfOrder),
            ("an unknown message", hello() + [1, 99], .malformedMessage),
            ("trailing bytes", hello() + [3, 6, 1, 1], .malformedMessage),
            ("too long", hello() + [0xFF, 0xFF, 0xFF, 0x7F], .frameTooLarge),
            (
                "not subscribed",
                hello()
                    + UpMessage.submit(
                        Submission(list: 1, base: 0, sequence: 1, delta: .identity)
                    ).frame + [0], .malformedMessage
            ),
        ]
        for (index, (name, bytes, code)) in cases.enumerated() {
            let messages = try exchange(server, bytes)
            guard case .error(let found, _, _, _, let text) = messages.last else {
                Issue.record("\(name): no error came, but \(messages)")
                continue
            }
            #expect(found == code, "\(name): \(found) \(text)")
            #expect(!text.isEmpty)
            let item = Item(id: ItemID(rawValue: UInt64(index)), content: .note(name))
            try await list.edit { Delta.inserting([item], at: $0.view.count, .before) }
            #expect(try await list.settled().rejections.isEmpty)
        }
        // Cut off in the middle of a frame: nobody is notified, and nothing breaks.
        #expect(try exchange(server, Array(hello().dropLast(3)), thenEnd: true).isEmpty)
        #expect(try await list.state().view.count == cases.count)
        await client.close()
        #expect(server.terminate() == 0)
    }

    @Test func threeClientsDealAtOnce() async throws {
        let server = try RunningServer(try TemporaryFolder())
        let clients = try (0..<3).map { try server.client("player \($0)") }
        try await clients[0].create("poker", rules: .fiveCards)
        var rejections = 0
        for _ in 0..<3 {
            let outcomes = try await withThrowingTaskGroup(of: Settlement?.self) { group in
                for client in clients {
                    let list = try await client.open("poker")
                    _ = try await list.live()
                    group.addTask {
                        var random = SystemRandomNumberGenerator()
                        let card = Item(id: .random(using: &random), content: .card(.faceDown))
                        do {
                            try await list.edit { Delta.inserting([card], at: $0.view.count, .before) }
                            return try await list.settled()
                        } catch ClientError.notMade(.violation(.listFull(maximum: 5))) {
                            return nil
                        }
                    }
                }
                return try await group.reduce(into: [Settlement?]()) { $0.append($1) }
            }
            for outcome in outcomes {
                if let outcome {
                    rejections += outcome.rejections.count
                    #expect(outcome.rejections.allSatisfy { $0 == .violation(.listFull(maximum: 5)) })
                } else {
                    rejections += 1
                }
            }
        }
        #expect(rejections == 4)
        let hand = try await clients[0].state(of: "poker").hand
        #expect(hand.count == 5 && Set(hand.map(\.content.text)).count == 5)
        #expect(hand.allSatisfy { $0.content != .card(.faceDown) })
        for client in clients { await client.close() }
    }

    /// A client may have been replaced by its own late hello, so it reconnects. But two programs with one id do not
    /// continue like that: one of them stops, and the other keeps the connection.
    @Test(.timeLimit(.minutes(5))) func aNewConnectionOfAClientClosesItsOldOne() async throws {
        let server = try RunningServer(try TemporaryFolder())
        let id = ClientID(high: 5, low: 5)
        let maker = try server.client()
        try await maker.create("list")
        await maker.close()
        let clients = try (0..<2).map { _ in
            try HandClient(ClientConfiguration(server: server.address, person: "p", program: "t", client: id))
        }
        let lists = try await [clients[0].open("list"), clients[1].open("list")]
        let loser = try await withThrowingTaskGroup(of: Int?.self) { group in
            for (number, list) in lists.enumerated() {
                group.addTask {
                    for await case .status(.offline(let reason, let retry)) in list.events {
                        #expect(reason == "this client has connected again")
                        if retry == nil { return number }
                    }
                    return nil
                }
            }
            defer { group.cancelAll() }
            return try #require(try await group.next() ?? nil)
        }
        _ = try await lists[1 - loser].live()
        await #expect(throws: ClientError.refused(.replaced, "this client has connected again")) {
            try await lists[loser].live()
        }
        for client in clients { await client.close() }
    }

    @Test func aStoppingServerSaysSoAndItsClientsReconnect() async throws {
        let server = try RunningServer(try TemporaryFolder())
        let client = try server.client()
        try await client.create("list")
        let list = try await client.open("list")
        _ = try await list.live()
        let events = list.events
        // From here on the stream gets events: the loop has processed the request.
        _ = try await list.state()
        #expect(server.terminate() == 0)
        for await case .status(.offline(let reason, let retry)) in events {
            #expect(reason == "the server is stopping", "\(reason)")
            #expect(retry != nil)
            break
        }
        let item = Item(id: ItemID(rawValue: 3), content: .note("meanwhile"))
        try await list.edit { Delta.inserting([item], at: $0.view.count, .before) }
        try server.start()
        #expect(try await list.settled().revision == 1)
        await client.close()
    }

    /// Signals that mean nothing to it do not end a server.
    @Test func signalsWithoutEffect() throws {
        let folder = try TemporaryFolder()
        let log = folder.path + "/log"
        let server = try RunningServer(folder, ["--log-level", "notice"], logPath: log)
        for (signal, name) in [(SIGUSR1, "SIGUSR1"), (SIGUSR2, "SIGUSR2")] {
            server.signal(signal)
            #expect(try eventually { try String(contentsOfFile: log, encoding: .utf8).contains("signal=\(name)") })
        }
        #expect(server.terminate() == 0)
    }

    @Test func overTCPOfBothKinds() async throws {
        let folder = try TemporaryFolder()
        let server = try RunningServer(folder, ["--listen", "127.0.0.1:0", "--listen", "[::1]:0"])
        let addresses = server.greeting.split(whereSeparator: \.isWhitespace).filter { $0.hasPrefix("hand://") }.prefix(
            2
        )
        .map { $0.trimmingCharacters(in: [","]) }
        #expect(addresses.count == 2)
        for (index, text) in addresses.enumerated() {
            let client = try HandClient(
                ClientConfiguration(server: try HandAddress(text).server, person: "p", program: "t"))
            try await client.create("list\(index)")
            #expect(try await client.lists().count == index + 1)
            await client.close()
        }
    }

    @Test func aSecondServerOnOneStoreIsRefused() throws {
        let server = try RunningServer(try TemporaryFolder())
        let second = try Binary.run(["serve", "--listen", "127.0.0.1:0", "--data", server.folder.path + "/data"])
        #expect(second.status == 1)
        #expect(second.messages.contains("in use by another process"))
    }

    /// Without PostgreSQL's library, a server with a shared store says what to install.
    @Test func aMissingLibraryIsNamed() throws {
        let folder = try TemporaryFolder()
        let (code, library) = (folder.path + "/without.c", folder.path + "/without.so")
        try """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <string.h>
        void *dlopen(const char *name, int flags) {
            void *(*real)(const char *, int) = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
            return real(name && strcmp(name, "libpq.so.5") == 0 ? "libpq.so.missing" : name, flags);
        }
        """.write(toFile: code, atomically: true, encoding: .utf8)
        try #require(
            Binary.run(["clang", "-shared", "-fPIC", "-o", library, code], program: "/usr/bin/env").status == 0)
        let address = "postgres://hand@127.0.0.1:1/hand"
        let outcome = try Binary.run(
            ["serve", "--listen", "127.0.0.1:0", "--data", folder.path + "/data", "--store", address],
            environment: ["LD_PRELOAD": library])
        #expect(outcome.status == 1 && outcome.messages.contains("apt install libpq5"), "\(outcome)")
    }

    /// Messages are handled in the order in which they arrive, and a client that does not read its answers does not
    /// block others.
    @Test func requestsAreHandledInOrderAndAtTheReadersPace() async throws {
        let server = try RunningServer(try TemporaryFolder())
        let subscribe = UpMessage.Subscribe(request: 2, name: "new", logID: 0, revision: 0)
        let bytes =
            hello() + UpMessage.create(request: 1, name: "new", rules: Rules()).frame
            + UpMessage.subscribe(subscribe).frame + UpMessage.delete(request: 3, name: "new").frame
            + UpMessage.lists(request: 4, after: "").frame
        let answers = try exchange(server, bytes) { if case .lists = $0 { true } else { false } }
        let kinds = answers.compactMap { message -> String? in
            switch message {
            case .done(let request): "done \(request)"
            case .subscribed: "subscribed"
            case .error(let code, _, _, _, _): "\(code)"
            default: nil
            }
        }
        #expect(kinds == ["done 1", "subscribed", "listDeleted", "done 3"])
        let client = try server.client()
        try await client.create("list")
        let flood = (1...2_000).flatMap {
            UpMessage.history(request: RequestNumber($0), name: "list", from: 1, limit: 1_000).frame
        }
        let first = try exchange(server, hello() + flood) { if case .history = $0 { true } else { false } }
        #expect(first.count < 2_000)
        #expect(try await client.lists().map(\.name) == ["list"])
        await client.close()
    }

    @Test func presenceComesAndGoes() async throws {
        let server = try RunningServer(try TemporaryFolder())
        let ada = try server.client("ada")
        try await ada.create("list")
        let list = try await ada.open("list")
        _ = try await list.live()
        let events = list.events
        // From here on the stream gets events: the loop has processed the request.
        _ = try await list.state()
        let bob = try server.client("bob")
        let his = try await bob.open("list")
        _ = try await his.live()
        his.setPresence(Focus(ItemID(rawValue: 9), isEditing: true))
        var seen: [DownMessage.Presence.Place] = []
        for await case .presence(let people) in events {
            seen += people.map(\.place)
            if seen.contains(.here(person: "bob", Focus(ItemID(rawValue: 9), isEditing: true))) { await bob.close() }
            if seen.contains(.gone) { break }
        }
        #expect(seen.contains(.gone))
        await ada.close()
    }

    /// The heap would keep the memory while anybody is connected.
    @Test func theMemoryOfAListThatNobodyFollowsGoesBack() async throws {
        let server = try RunningServer(try TemporaryFolder(), ["--unload-after", "1"])
        let client = try server.client()
        try await client.connected()
        try await client.create("list")
        let before = try server.figure("residentBytes")
        let texts = (0..<100_000).map { "a task with the number \($0)\n" }.joined()
        let imported = try Binary.run(
            ["import", "-l", "list", "-", "--format", "todotxt"], input: texts,
            environment: ["HAND_URL": "hand+unix://\(server.socket)", "XDG_STATE_HOME": server.folder.path + "/state"])
        #expect(imported.status == 0, "\(imported)")
        let full = try server.figure("residentBytes")
        #expect(full - before > 10_000_000)
        #expect(try eventually { try server.figure("residentBytes") - before < (full - before) / 2 })
        #expect(try await client.lists().map(\.count) == [100_000])
        await client.close()
    }

    @Test func followersOfADeletedListAreNotified() async throws {
        let server = try RunningServer(try TemporaryFolder())
        let client = try server.client()
        try await client.create("list")
        let list = try await client.open("list")
        _ = try await list.live()
        let events = list.events
        // From here on the stream gets events: the loop has processed the request.
        _ = try await list.state()
        try await client.delete("list")
        for await case .refused(let code, _) in events { #expect(code == .listDeleted) }
        try await client.create("list")
        #expect(try await client.open("list").live().view.isEmpty)
        await client.close()
    }
}
