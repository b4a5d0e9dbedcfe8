import Foundation
import GRDB
import HandClient
import HandFormats
import HandStore
import HandSync
import HandTestSupport
import HandWire

/// A real server process on a disk that fails when it is told to; `FaultyDisk` says how.
final class FaultyServer {
    let folder: TemporaryFolder
    private var process: ServerProcess?
    /// Whether the server has said that it listens.
    var isServing: Bool { process?.greeting.isEmpty == false }

    var socket: String { folder.path + "/hand.sock" }
    var data: String { folder.path + "/data" }
    private var control: String { folder.path + "/control" }
    private var logFile: String { folder.path + "/log" }
    var trace: String { folder.path + "/trace" }
    /// What was on the disk before the first server was.
    private(set) var before = DiskImage()

    /// - Parameter pageSize: the size of the store's pages, if not SQLite's own choice.
    init(fault: String = "", pageSize: Int? = nil) throws {
        folder = try TemporaryFolder()
        if let pageSize { try prepareStore(pageSize) }
        try fail(fault)
        try start()
    }

    deinit {
        kill()
    }

    /// An empty database, which the server takes as the beginning of a store.
    private func prepareStore(_ pageSize: Int) throws {
        try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: true)
        let database = try DatabaseQueue(path: data + "/hand.sqlite")
        try database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA page_size = \(pageSize); VACUUM") }
        try database.close()
        before = try DiskImage(of: data, ["hand.sqlite"])
    }

    /// From now on this goes wrong on the disk, and nothing else.
    func fail(_ faults: String) throws {
        // Replaced as a whole: the server reads it at any moment.
        try faults.write(toFile: control, atomically: true, encoding: .utf8)
    }

    func start() throws {
        process = try ServerProcess(
            ["--listen", socket, "--data", data, "--log-level", "error"],
            environment: [
                "LD_PRELOAD": Built.faultyDisk, "FAULTY_DISK_FOLDER": data, "FAULTY_DISK_CONTROL": control,
                "FAULTY_DISK_TRACE": trace,
            ], log: logFile)
    }

    /// `kill -9`.
    func kill() { process?.kill() }

    /// SIGTERM; returns the exit code.
    func terminate() -> Int32 { process?.terminate() ?? -1 }

    /// Waits until the server ends by itself; returns the exit code.
    func end() -> Int32 { process?.waitForEnd() ?? -1 }

    /// All that the server has said on standard error.
    var log: String { (try? String(contentsOfFile: logFile, encoding: .utf8)) ?? "" }

    /// Whether it says that before long: who has something to say does not wait until it is written.
    func says(_ text: String) -> Bool {
        for _ in 0..<6_000 where !log.contains(text) { usleep(10_000) }
        return log.contains(text)
    }

    /// The size of one of the store's files.
    func bytes(of file: String) -> Int {
        (try? FileManager.default.attributesOfItem(atPath: data + "/" + file)[.size] as? Int) ?? 0
    }

    func client(_ person: String = "test") throws -> HandClient {
        try HandClient(ClientConfiguration(server: .unix(path: socket), person: person, program: "test"))
    }

    /// Notes in the trace that the server has promised this much.
    func mark(_ list: String, _ revision: Int) throws {
        let trace = try FileHandle(forWritingTo: URL(fileURLWithPath: trace))
        try trace.seekToEnd()
        try trace.write(contentsOf: Data("mark \(revision) \(list)\n".utf8))
        try trace.close()
    }

    /// Asks the store, once the server has ended.
    func stored<Value>(_ body: (SQLiteStore) throws -> Value) throws -> Value {
        let store = try SQLiteStore(folder: data, durability: .os)
        defer { try? store.close() }
        return try body(store)
    }

    func stored(_ name: String) throws -> Authority.Start {
        try stored { store in
            guard let list = try store.list(named: name) else { throw StoreError.noSuchList(name) }
            return try store.load(list.number)
        }
    }
}
