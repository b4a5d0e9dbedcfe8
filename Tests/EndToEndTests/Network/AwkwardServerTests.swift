import Foundation
import HandClient
import HandCore
import HandFormats
import HandSync
import HandTestSupport
import HandWire
import Testing

/// The client in Python, and the project's own, on real servers: a normal one and an awkward one.
@Suite struct AwkwardServerTests {
    /// `Sources/Examples/Python/client.py`, if the machine has Python.
    private enum FirstClient {
        static let python = ["/usr/bin/python3", "/usr/local/bin/python3"].first {
            FileManager.default.isExecutableFile(atPath: $0)
        }

        private static let script = Project.root.appending(path: "Sources/Examples/Python/client.py").path

        struct Ended {
            let status: Int32
            let lines: [String]
            let errors: String

            func texts(_ fate: String) -> [String] {
                lines.filter { $0.hasPrefix(fate + " ") }.map { String($0.dropFirst(fate.count + 1)) }
            }
        }

        /// Waits on a thread of its own: the threads of async tests are few.
        static func run(_ arguments: [String], in folder: TemporaryFolder) async throws -> Ended {
            try await withCheckedThrowingContinuation { ended in
                Thread.detachNewThread { ended.resume(with: Result { try wait(arguments, in: folder) }) }
            }
        }

        private static func wait(_ arguments: [String], in folder: TemporaryFolder) throws -> Ended {
            let process = Process()
            process.executableURL = URL(filePath: python ?? "")
            process.arguments = [script] + arguments
            let (output, errors) = (Pipe(), folder.path + "/client.errors")
            _ = FileManager.default.createFile(atPath: errors, contents: nil)
            process.standardOutput = output
            process.standardError = FileHandle(forWritingAtPath: errors)
            try process.run()
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            return Ended(
                status: process.terminationStatus, lines: text.split(separator: "\n").map(String.init),
                errors: try String(contentsOfFile: errors, encoding: .utf8))
        }
    }

    /// Starts a server on a free port, which it reports itself.
    private func server(_ folder: TemporaryFolder, _ options: [String]) throws -> (RunningServer, port: String) {
        let server = try RunningServer(folder, ["--listen", "127.0.0.1:0"] + options, logPath: folder.path + "/log")
        let port = try #require(server.greeting.firstMatch(of: #/127\.0\.0\.1:(\d+)/#)?.1)
        return (server, String(port))
    }

    @Test(.enabled(if: FirstClient.python != nil))
    func theFirstClientAppends() async throws {
        let folder = try TemporaryFolder()
        let (server, port) = try server(folder, [])
        let client = try server.client("other")
        try await client.create("groceries", rules: Rules())
        let list = try await client.open("groceries")
        try await list.edit { _ in Delta.inserting([note("x"), note("y")], at: 0, .after) }
        try await list.edit { _ in Delta.moving(0..<1, to: 2, .before) }
        _ = try await list.settled()
        let ended = try await FirstClient.run(["127.0.0.1", port, "groceries", "milk", "Käse"], in: folder)
        #expect(ended.lines == ["committed milk", "committed Käse", "- y", "- x", "- milk", "- Käse"])
        #expect(ended.status == 0 && ended.errors == "")
        let none = try await FirstClient.run(["127.0.0.1", port, "nowhere", "milk"], in: folder)
        #expect(none.status == 1 && none.errors.contains("there is no list 'nowhere'"))
        await client.close()
        #expect(server.terminate() == 0)
    }

    private func note(_ text: String) -> Item {
        Item(id: ItemID(rawValue: .random(in: 0 ... .max)), content: .note(text))
    }

    /// Both clients edit one list of an awkward server, and neither loses or doubles anything. One at a time: a client
    /// that has to wait for the processor seems to be silent.
    @Test(.serialized, arguments: 1...4)
    func clientsConvergeOnAnAwkwardServer(seed: Int) async throws {
        let folder = try TemporaryFolder()
        let options = ["\(seed)", "--port", "0", "--stay"]
        let server = try ServerProcess(options, program: Built.lab, command: "awkward")
        let port = try server.port
        let place = HandAddress.Server.tcp(host: "127.0.0.1", port: port)
        let client = try HandClient(ClientConfiguration(server: place, person: "own", program: "test"))
        let list = try await client.open("list")
        var notices: [Replica.Notice] = []
        async let theirs: FirstClient.Ended? =
            FirstClient.python == nil
            ? nil
            : FirstClient.run(["127.0.0.1", "\(port)", "list"] + (1...10).map { "their \($0)" }, in: folder)
        for number in 1...10 {
            try await list.edit { state in
                Delta.inserting([note("own \(number)")], at: state.view.count / 2, .before)
            }
            if number % 3 == 0 { notices += try await list.settled().notices }
        }
        notices += try await list.settled().notices
        let ended = try await theirs
        let rejected = notices.compactMap { notice in
            if case .rejected(_, let delta, _) = notice { delta.insertedItems.map(\.content.text) } else { nil }
        }.joined()
        if let ended {
            #expect(ended.status == 0, "\(ended.errors)")
            #expect(ended.texts("committed").count + ended.texts("rejected").count == 10, "\(ended.lines)")
        }
        // A client that connects last sees everything.
        let last = try HandClient(ClientConfiguration(server: place, person: "last", program: "test"))
        let items = try await last.open("list").live().view.map(\.content)
        let found = items.filter { if case .note = $0 { true } else { false } }.map(\.text)
        let expected =
            (1...10).map { "own \($0)" }.filter { !rejected.contains($0) } + (ended?.texts("committed") ?? [])
        #expect(found.filter { !$0.hasSuffix(" was here") }.sorted() == expected.sorted(), "seed \(seed)")
        await client.close()
        await last.close()
        let code = server.terminate()
        let verdict = try server.lastWords()
        #expect(code == 0 && verdict.hasSuffix("verdict: no requirement was broken\n"), "seed \(seed): \(verdict)")
    }

    /// The server ends by itself once its clients have left.
    @Test(.enabled(if: FirstClient.python != nil))
    func theVerdictComesWhenTheClientsHaveLeft() async throws {
        let folder = try TemporaryFolder()
        let server = try ServerProcess(["9", "--port", "0", "--list", "Käse"], program: Built.lab, command: "awkward")
        let ended = try await FirstClient.run(
            ["127.0.0.1", "\(server.port)", "Käse"] + (1...5).map { "\($0)" }, in: folder)
        #expect(ended.status == 0, "\(ended.errors)")
        let verdict = try server.lastWords()
        #expect(server.waitForEnd() == 0)
        #expect(verdict.hasSuffix("verdict: no requirement was broken\n"), "\(verdict)")
        #expect(verdict.contains(#/\nnot exercised: .*C22/#))
    }

    /// Nothing was judged if nobody has edited, and that is no pass.
    @Test func withoutClientsThereIsNoPass() throws {
        let server = try ServerProcess(["1", "--port", "0"], program: Built.lab, command: "awkward")
        #expect(server.terminate() == 1)
        #expect(try server.lastWords().hasSuffix("verdict: nothing was judged, because no client has edited\n"))
    }
}
