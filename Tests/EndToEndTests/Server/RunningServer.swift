import Foundation
import HandClient
import HandCore
import HandFormats
import HandStore
import HandSync
import HandTestSupport
import HandWire
import Testing

/// The `hand` binary next to the test bundle.
enum Binary {
    static let path = Built.hand

    struct Outcome {
        let status: Int32
        let output: String
        let messages: String
    }

    /// Runs the command to its end.
    static func run(
        _ arguments: [String], input: String = "", environment: [String: String] = [:], program: String = Binary.path
    ) throws -> Outcome {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.environment = outerEnvironment.merging(environment) { $1 }
        let (standardInput, output, messages) = (Pipe(), Pipe(), Pipe())
        process.standardInput = standardInput
        process.standardOutput = output
        process.standardError = messages
        try process.run()
        standardInput.fileHandleForWriting.write(Data(input.utf8))
        try standardInput.fileHandleForWriting.close()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let errors = String(decoding: messages.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return Outcome(status: process.terminationStatus, output: text, messages: errors)
    }
}

/// Whether a condition becomes true within a minute. A busy machine may need that long.
func eventually(_ condition: () throws -> Bool) rethrows -> Bool {
    for _ in 0..<6_000 {
        if try condition() { return true }
        usleep(10_000)
    }
    return false
}

/// A real server process on a Unix socket, which can be killed and started again on the same data.
final class RunningServer {
    let folder: TemporaryFolder
    let options: [String]
    private var process: ServerProcess?
    /// The line in which the server reports its address.
    var greeting: String { process?.greeting ?? "" }

    var socket: String { folder.path + "/hand.sock" }
    var address: HandAddress.Server { .unix(path: socket) }

    /// The file for its log, or nil for the test's own output.
    private let logPath: String?

    /// The command that starts it, if it does not run like this process.
    private let launcher: [String]

    /// Starts it with a umask under which new files would be open to everybody, if the server did not prevent that.
    static let laxUmask = ["/bin/sh", "-c", "umask 0; exec \"$@\"", "sh"]

    init(
        _ folder: TemporaryFolder, _ options: [String] = [], logPath: String? = nil, launcher: [String] = []
    ) throws {
        self.launcher = launcher
        self.folder = folder
        self.options = options
        self.logPath = logPath
        try start()
    }

    deinit {
        kill()
    }

    func start() throws {
        if let logPath { _ = FileManager.default.createFile(atPath: logPath, contents: nil) }
        process = try ServerProcess(
            ["--listen", socket, "--data", folder.path + "/data", "--log-level", "error"] + options, launcher: launcher,
            log: logPath)
    }

    /// `kill -9`.
    func kill() { process?.kill() }

    /// Returns the server's figure of that name.
    func figure(_ name: String) throws -> Int {
        let report = try Binary.run(["admin", "report", "--data", folder.path + "/data"]).output
        let expression = try Regex("\"\(name)\":([0-9]+)", as: (Substring, Substring).self)
        return Int(try #require(report.firstMatch(of: expression)).1) ?? -1
    }

    /// Sends SIGHUP. The server handles it in a later turn.
    func hangUp() { signal(SIGHUP) }

    func signal(_ number: Int32) { process?.signal(number) }

    /// Limits the number of its open files from now on.
    func limitFiles(to count: Int) throws {
        guard let process else { return }
        let outcome = try Binary.run(
            ["--pid", "\(process.pid)", "--nofile=\(count):"], program: "/usr/bin/prlimit")
        guard outcome.status == 0 else { throw POSIXError(.EPERM) }
    }

    /// Sends SIGTERM. Returns the exit code.
    func terminate() -> Int32 { process?.terminate() ?? -1 }

    /// Returns the exit code once it has ended by itself.
    func waitForEnd() -> Int32 { process?.waitForEnd() ?? -1 }

    func client(_ person: String = "test", journal: String? = nil) throws -> HandClient {
        try HandClient(
            ClientConfiguration(
                server: address, person: person, program: "test", journalPath: journal.map { folder.path + "/" + $0 }))
    }

    /// Returns the list in the store, read after the server has ended.
    func stored(_ name: String) throws -> (hand: Hand, revision: Int) {
        let store = try SQLiteStore(folder: folder.path + "/data", durability: .fsync)
        defer { try? store.close() }
        guard let list = try store.list(named: name) else { throw StoreError.noSuchList(name) }
        let loaded = try store.load(list.number)
        return (loaded.hand, loaded.revision)
    }
}

extension FollowedList {
    /// Waits until the view has at least the server's revision and nothing is pending.
    func caughtUp(to revision: Int) async throws -> ListState {
        for await _ in events {
            let state = try await state()
            if state.revision >= revision && state.pendingCount == 0 && state.isLive { return state }
        }
        throw ClientError.closed
    }
}
