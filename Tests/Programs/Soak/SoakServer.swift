import EventLoop
import Foundation

/// Why the soak cannot go on.
struct Broken: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// The real server, as a process that is ended and started again on the same data.
final class SoakServer {
    private let folder: String
    private var process: Process?
    private(set) var restarts = 0

    var data: String { folder + "/data" }
    var processID: Int32 { process?.processIdentifier ?? 0 }

    init(_ folder: String) {
        self.folder = folder
    }

    /// Starts it and returns where it listens. Its buffers are small and fill soon, so that growth is not mistaken.
    func start() throws -> SocketAddress {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try Self.binary())
        process.arguments = [
            "serve", "--listen", "127.0.0.1:0", "--data", data, "--log-level", "error", "--keep-commits", "2000",
            "--window", "500000", "--idle-timeout", "3",
        ]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        self.process = process
        var line = Data()
        while let byte = try output.fileHandleForReading.read(upToCount: 1), byte != Data("\n".utf8), !byte.isEmpty {
            line += byte
        }
        let words = String(decoding: line, as: UTF8.self).split { $0 == " " || $0 == "," }
        let port = words.first { $0.hasPrefix("hand://") }?.split(separator: ":").last.flatMap { UInt16($0) }
        guard let port else { throw Broken("the server did not say where it listens") }
        return try SocketAddress(ip: "127.0.0.1", port: port)
    }

    /// Ends it at once or in good order, and starts it again.
    func restart(kill: Bool) throws -> SocketAddress {
        restarts += 1
        if kill {
            Foundation.kill(processID, SIGKILL)
            process?.waitUntilExit()
        } else {
            try stop()
        }
        return try start()
    }

    /// - Throws: if it does not end in good order, or had ended before.
    func stop() throws {
        guard let process else { return }
        process.terminate()
        process.waitUntilExit()
        guard process.terminationReason == .exit, process.terminationStatus == 0 else {
            throw Broken("the server ended with status \(process.terminationStatus)")
        }
    }

    /// The command that was built beside this one.
    private static func binary() throws -> String {
        let own = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        let path = own.deletingLastPathComponent().appendingPathComponent("hand").path
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw Broken("there is no hand beside this program: build it with swift build -c release --product hand")
        }
        return path
    }
}
