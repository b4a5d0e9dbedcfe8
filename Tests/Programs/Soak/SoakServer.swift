import EventLoop
import HandTestSupport

/// The reason why the soak cannot continue.
struct Broken: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// The real server, as a process that is ended and restarted on the same data.
final class SoakServer {
    private let folder: String
    private var process: ServerProcess?
    private(set) var restarts = 0

    var data: String { folder + "/data" }
    var processID: Int32 { process?.pid ?? 0 }

    init(_ folder: String) {
        self.folder = folder
    }

    /// Starts it and returns its address. Its buffers are small and fill soon, so that filling them is not mistaken for
    /// growth.
    func start() throws -> SocketAddress {
        let process = try ServerProcess([
            "--listen", "127.0.0.1:0", "--data", data, "--log-level", "error", "--keep-commits", "2000",
            "--window", "500000", "--idle-timeout", "3",
        ])
        self.process = process
        return try SocketAddress(ip: "127.0.0.1", port: process.port)
    }

    /// Kills it or stops it properly, and starts it again.
    func restart(kill: Bool) throws -> SocketAddress {
        restarts += 1
        if kill { process?.kill() } else { try stop() }
        return try start()
    }

    /// - Throws: if it does not end properly, or had ended before.
    func stop() throws {
        guard let process else { return }
        let status = process.terminate()
        guard status == 0 else { throw Broken("the server ended with status \(status)") }
    }
}
