import Foundation
import HandClient
import HandCore
import HandSync
import HandWire
import Testing

/// The products as a program of another package sees them: this target has no access to `package` declarations.
@Suite struct EmbeddedTests {
    /// Both machines in one program, without a socket.
    @Test func machinesCommunicateWithoutSockets() throws {
        var pair = Pair()
        pair.client.start()
        pair.client.open("list", from: nil)
        try pair.run()
        let milk = Item(id: ItemID(rawValue: 7), content: .note("milk"))
        try pair.client.edit("list", .inserting([milk]))
        #expect(pair.client.subscriptions["list"]?.replica.hasPending == true)
        try pair.run()
        #expect(pair.authority.revision == 1)
        #expect(Array(pair.authority.hand) == [milk])
        let replica = try #require(pair.client.subscriptions["list"]?.replica)
        #expect(replica.confirmed == pair.authority.hand && !replica.hasPending)
    }

    /// A program can keep the journal itself: what the client wants kept restores the list with its pending edit.
    @Test func aJournalRestoresAList() throws {
        var pair = Pair()
        pair.client.open("list", isJournaled: true)
        pair.client.start()
        try pair.run()
        let milk = Item(id: ItemID(rawValue: 7), content: .note("milk"))
        try pair.client.edit("list", .inserting([milk]))
        pair.keep()
        let journal = pair.journal
        let checkpoint = try journal.checkpoint.withUnsafeBytes { try Replica.Checkpoint($0) }
        var replica = try Replica(checkpoint, confirmed: Hand(journal.items, rules: checkpoint.rules))
        for event in journal.events { try replica.replay(event.withUnsafeBytes { try JournalEvent($0) }) }
        #expect(Array(replica.view) == [milk] && replica.confirmed.isEmpty && replica.hasPending)
        var second = Pair()
        second.client.open("list", from: replica, keptEvents: journal.events.count, isJournaled: true)
        second.client.start()
        try second.run()
        #expect(Array(second.authority.hand) == [milk])
    }

    @Test func aWrongAddressExplainsTheForm() {
        #expect {
            try ClientConfiguration(address: "groceries", person: "ada", program: "example")
        } throws: {
            "\($0)".contains("hand://HOST:PORT")
        }
    }

    /// A program's data while there is no server, and how it learns about the server's absence.
    @Test func aClientWithoutAServerKeepsEdits() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "hand-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var configuration = try ClientConfiguration(
            address: "hand+unix://\(folder.path)/no.sock", person: "ada", program: "example",
            journalPath: folder.path + "/journal")
        configuration.trust = .file("/nowhere")
        for expected in [1, 2] {
            let client = try HandClient(configuration)
            let list = try await client.open("groceries")
            try await list.edit { state in .inserting([note("milk")], at: state.view.count) }
            #expect(try await list.state().view.count == expected)
            await #expect(throws: ClientError.self) { try await client.connected() }
            #expect {
                try HandClient(configuration)
            } throws: {
                if case ClientError.notStarted(let reason) = $0 { reason.contains("in use") } else { false }
            }
            await client.close()
        }
    }

    /// The articles' examples are in this file, so they are compiled, and they are run.
    @Test func theExampleOfAClient() async throws {
        let server = try Server()
        defer { server.stop() }
        let maker = try HandClient(ClientConfiguration(address: server.address, person: "bob", program: "example"))
        try await maker.create("groceries")
        let all = try await maker.open("groceries")
        try await all.edit { _ in .inserting([note("milk")]) }
        _ = try await all.settled()
        #expect(try await example(server.address) == 2)
        #expect(try await maker.state(of: "groceries").hand.isEmpty)
        await maker.close()
        try standsInThisFile("Shell/HandClient/HandClient.docc/WriteAClient.md")
    }

    @Test func theExampleOfMerging() throws {
        let (milk, bread, eggs) = (note("milk"), note("bread"), note("eggs"))
        let ada = Delta.inserting([eggs], at: 0)
        let ben = Delta.deleting(1..<2)
        let carried =
            ben.transformed(over: ada, as: .later)
        #expect(carried == .deleting(2..<3))
        #expect(try Array(Hand([milk, bread]).applying(ada).applying(carried)) == [eggs, milk])
        try standsInThisFile("Core/HandCore/HandCore.docc/Merging.md")
    }

    /// Checks that this file has each line of an article's first example, except for addresses and comments.
    private func standsInThisFile(_ article: String) throws {
        let source = try String(contentsOfFile: #filePath, encoding: .utf8)
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Sources/\(article)")
        let words = try String(contentsOf: file, encoding: .utf8)
        let text = try #require(words.firstMatch(of: #/```swift\n(?s)(.*?)```/#)).1
        for line in text.split(separator: "\n") where !line.contains("address:") {
            let code = line.replacing(#/ +\/\/.*/#, with: "").trimmingCharacters(in: .whitespaces)
            #expect(source.contains(code), "\(line)")
        }
    }

    private func note(_ text: String) -> Item {
        var random = SystemRandomNumberGenerator()
        return Item(id: .random(using: &random), content: .note(text))
    }

    private func example(_ address: String) async throws -> Int {
        func print(_ revision: Int) -> Int { revision }
        let client = try HandClient(
            ClientConfiguration(address: address, person: "ada", program: "example"))
        let list = try await client.open("groceries")
        _ = try await list.live()
        try await list.edit { state in .deleting([0..<min(1, state.view.count)]) }
        return
            print(try await list.settled().revision ?? 0)
    }
}

/// A client and the server of one list, which exchange their bytes directly.
private struct Pair {
    var client = ClientMachine(
        client: ClientID(high: 1, low: 2), person: "ada", program: "example", seed: 3, journal: JournalBuffer())
    /// The list's journal, as it is on disk.
    private(set) var journal = (checkpoint: [UInt8](), items: [Item](), events: [[UInt8]]())
    var authority = Authority(
        Authority.Start(list: 1, logID: 5, hand: Hand(), revision: 0, deck: nil, sequences: [:]), limits: Limits())
    private var session = ServerSession(.init(limits: Limits(), program: "example"), now: 0)
    private let author = Author(number: 9, client: 9)

    mutating func run() throws {
        while let effect = client.nextEffect() {
            switch effect {
            case .connect: client.connected(now: 0)
            case .keep(let writes): keep(writes)
            case .send(let bytes): try bytes.withUnsafeBytes { try serve($0) }
            default: break
            }
        }
    }

    /// Writes the journal. Nothing reaches the server.
    mutating func keep() {
        while let effect = client.nextEffect() {
            if case .keep(let writes) = effect { keep(writes) }
        }
    }

    private mutating func keep(_ writes: [JournalWrite]) {
        for write in writes {
            switch write {
            case .checkpoint(let replica, _, _):
                journal = (replica.checkpoint.bytes, Array(replica.confirmed), [])
            case .append(let events, _): journal.events += events.map(\.bytes)
            case .submission, .answered, .undo, .work, .lost, .found, .told, .committed, .met, .shared, .used: break
            }
        }
        client.kept(writes.count, now: 0)
    }

    private mutating func serve(_ bytes: UnsafeRawBufferPointer) throws {
        var frames = session.received(bytes, now: 0)
        while let effect = session.next(of: &frames) {
            switch effect {
            case .identify: if case .send(let welcome)? = session.identified(author: 9, now: 0) { say(welcome) }
            case .send(let bytes): say(bytes)
            case .handle(.subscribe(let asked)):
                let start = DownMessage.Subscribed.Start.resumed(
                    head: authority.revision, digest: authority.hand.digest)
                say(
                    DownMessage.subscribed(
                        .init(
                            request: asked.request, list: 1, logID: authority.logID, rules: authority.rules,
                            lastSequence: 0, start: start)
                    ).frame)
            case .handle(.submit(let submission)): commit(submission)
            default: break
            }
        }
        session.keep(frames)
    }

    private mutating func commit(_ submission: Submission) {
        let before = authority.revision
        _ = authority.submit(submission, author: author, now: 0)
        _ = authority.takeBatch()
        authority.wrote()
        for run in authority.frames(after: before, about: .max).runs { say(Array(run.bytes)) }
    }

    private mutating func say(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { client.received($0, now: 0) }
    }
}

/// `hand serve`, as the tests have built it.
private final class Server {
    private let process = Process()
    private let folder = FileManager.default.temporaryDirectory.appending(path: "hand-\(UUID().uuidString)")
    let address: String

    init() throws {
        let command = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        process.executableURL = command.appending(path: "hand")
        process.arguments = ["serve", "--listen", "127.0.0.1:0", "--data", folder.path, "--log-level", "error"]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        // The line is printed when the server listens.
        var line = Data()
        while let byte = try output.fileHandleForReading.read(upToCount: 1), byte != Data("\n".utf8), !byte.isEmpty {
            line += byte
        }
        let text = String(decoding: line, as: UTF8.self)
        address = try #require(text.firstMatch(of: #/hand:\/\/[0-9.:]+/#)).0.description
    }

    func stop() {
        process.terminate()
        process.waitUntilExit()
        try? FileManager.default.removeItem(at: folder)
    }
}
