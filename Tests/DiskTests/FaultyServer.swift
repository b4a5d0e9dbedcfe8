import Disk
import Foundation
import HandClient
import HandFormats
import HandStore
import HandSync
import HandTestSupport
import HandWire

/// A real server process on a disk that fails on request; `FaultyDisk` describes the faults.
final class FaultyServer {
    let folder: TemporaryFolder
    private var process: ServerProcess?
    /// Whether the server has reported that it listens.
    var isServing: Bool { process?.greeting.isEmpty == false }

    var socket: String { folder.path + "/hand.sock" }
    var data: String { folder.path + "/data" }
    private var control: String { folder.path + "/control" }
    private var logFile: String { folder.path + "/log" }
    var trace: String { folder.path + "/trace" }
    var auditLog: String { data + "/audit" }
    /// The disk's contents before the first server started.
    private(set) var before = DiskImage()

    /// - Parameter pageSize: the size of the store's pages, or nil for SQLite's default.
    init(fault: String = "", pageSize: Int? = nil) throws {
        folder = try TemporaryFolder()
        if let pageSize { try prepareStore(pageSize) }
        try fail(fault)
        try start()
    }

    deinit {
        kill()
    }

    /// Makes an empty database, which the server uses as the start of a store.
    private func prepareStore(_ pageSize: Int) throws {
        try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: true)
        let database = try SQLiteDatabase(data + "/hand.sqlite")
        try database.withConnection { try $0.runAll("PRAGMA page_size = \(pageSize); VACUUM") }
        try database.close()
        before = try DiskImage(of: data, ["hand.sqlite"])
    }

    /// Sets the faults of the disk from now on.
    func fail(_ faults: String) throws {
        // The file is replaced as a whole: the server reads it at any moment.
        try faults.write(toFile: control, atomically: true, encoding: .utf8)
    }

    func start() throws {
        process = try ServerProcess(
            ["--listen", socket, "--data", data, "--log-level", "warning", "--audit", auditLog],
            environment: [
                "LD_PRELOAD": Built.faultyDisk, "FAULTY_DISK_FOLDER": data, "FAULTY_DISK_CONTROL": control,
                "FAULTY_DISK_TRACE": trace,
            ], log: logFile)
    }

    /// `kill -9`.
    func kill() { process?.kill() }

    /// Sends SIGTERM. Returns the exit code.
    func terminate() -> Int32 { process?.terminate() ?? -1 }

    /// Waits until the server ends by itself. Returns the exit code.
    func end() -> Int32 { process?.waitForEnd() ?? -1 }

    /// The server's output on standard error.
    var log: String { (try? String(contentsOfFile: logFile, encoding: .utf8)) ?? "" }

    /// Whether the server soon logs a text: logging does not wait for the write.
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

    /// Records in the trace that the server has promised this much.
    func mark(_ list: String, _ revision: Int) throws {
        // The server writes its records there meanwhile.
        let descriptor = open(trace, O_WRONLY | O_APPEND)
        guard descriptor >= 0 else { throw CocoaError(.fileWriteUnknown) }
        let trace = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        try trace.write(contentsOf: Data("mark \(revision) \(list)\n".utf8))
    }

    /// Reads the store after the server has ended.
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
