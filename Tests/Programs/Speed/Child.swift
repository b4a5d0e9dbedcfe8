import Foundation

/// A program that was started on one core, or on any.
final class Child {
    private let process = Process()
    private let output = Pipe()
    private var unread = ""

    init(_ command: [String], core: Int?, environment: [String: String] = [:]) throws {
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = (core.map { ["taskset", "-c", "\($0)"] } ?? []) + command
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.run()
    }

    var pid: Int32 { process.processIdentifier }
    var isRunning: Bool { process.isRunning }

    /// The next line that it prints; nil when it prints no more.
    func nextLine() -> String? {
        while true {
            if let end = unread.firstIndex(of: "\n") {
                defer { unread = String(unread[unread.index(after: end)...]) }
                return String(unread[..<end])
            }
            let data = output.fileHandleForReading.availableData
            if data.isEmpty { return nil }
            unread += String(decoding: data, as: UTF8.self)
        }
    }

    /// All that it prints until it ends.
    func finish() -> [String] {
        var lines: [String] = []
        while let line = nextLine() { lines.append(line) }
        process.waitUntilExit()
        return lines
    }

    /// Whether it ends well.
    func succeeds() -> Bool {
        _ = finish()
        return process.terminationStatus == 0
    }

    func terminate() { process.terminate() }
    func kill() { Foundation.kill(pid, SIGKILL) }

    func stop() {
        if process.isRunning { process.terminate() }
        process.waitUntilExit()
    }
}

/// A server that was started and takes connections.
final class Server {
    let port: Int
    /// Seconds from starting it until it took a connection.
    let startSeconds: Double
    /// Where clients of ours find it.
    let url: String
    /// What they need to know to trust it.
    let clientEnvironment: [String: String]
    private let child: Child

    /// - Parameter authority: the certificate of who has signed the server's, if it speaks TLS.
    init(
        _ command: [String], port: Int, environment: [String: String] = [:], authority: String? = nil, core: Int? = 0
    ) throws {
        self.port = port
        url = "\(authority == nil ? "hand" : "hands")://127.0.0.1:\(port)"
        clientEnvironment = authority.map { ["HAND_CA": $0] } ?? [:]
        let start = ContinuousClock.now
        child = try Child(command, core: core, environment: environment)
        while !Machine.connects(to: port) {
            guard child.isRunning, ContinuousClock.now - start < .seconds(60) else {
                throw Problem("\(command[0]) does not listen")
            }
            usleep(2_000)
        }
        startSeconds = (ContinuousClock.now - start).seconds
    }

    /// Has it begin to stop.
    func terminate() { child.terminate() }
    func kill() { child.kill() }

    func stop() { child.stop() }

    /// Bytes of memory that it holds.
    var residentBytes: Double { Machine.resident(child.pid) }
}

extension Duration {
    var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
