import Foundation

/// A program that runs on one core, or on any.
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

    /// Returns the next line that it prints, or nil if it prints no more.
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

    /// Returns all remaining output after it has ended.
    func finish() -> [String] {
        var lines: [String] = []
        while let line = nextLine() { lines.append(line) }
        process.waitUntilExit()
        return lines
    }

    /// Waits for its end. Returns whether it succeeded.
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

/// A started server that accepts connections.
final class Server {
    let port: Int
    /// Seconds from its start until it accepted a connection.
    let startSeconds: Double
    /// The server's address for our clients.
    let url: String
    /// The variables that make clients trust the server.
    let clientEnvironment: [String: String]
    private let child: Child

    /// - Parameter authority: the certificate of the authority that has signed the server's, if it uses TLS.
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

    /// Asks it to stop.
    func terminate() { child.terminate() }
    func kill() { child.kill() }

    func stop() { child.stop() }

    /// Its resident memory in bytes.
    var residentBytes: Double { Machine.resident(child.pid) }
}

extension Duration {
    var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
