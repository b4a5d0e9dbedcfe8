import Foundation

/// `hand serve` as a process of its own, from the moment it listens until it has ended.
package final class ServerProcess: Sendable {
    package struct NotListening: Error, CustomStringConvertible {
        package let description: String
    }

    private let process = Process()
    /// The lines in which the server reports its address; empty if it ended earlier.
    package let greeting: String

    /// Returns when the server listens or has ended.
    ///
    /// - Parameters:
    ///   - program: the command, and which of its subcommands is the server.
    ///   - launcher: the program that starts it, such as `taskset`, if it is not started directly.
    ///   - environment: variables added to those of this process.
    ///   - log: the file to which its messages are appended; nil for the standard error of this process.
    package init(
        _ options: [String], program: String = Built.hand, command: String = "serve", launcher: [String] = [],
        environment: [String: String] = [:],
        log: String? = nil
    ) throws {
        let words = (launcher.isEmpty ? [] : ["/usr/bin/env"]) + launcher + [program, command] + options
        process.executableURL = URL(fileURLWithPath: words[0])
        process.arguments = Array(words.dropFirst())
        process.environment = outerEnvironment.merging(environment) { $1 }
        let output = Pipe()
        process.standardOutput = output
        if let log {
            if !FileManager.default.fileExists(atPath: log) {
                _ = FileManager.default.createFile(atPath: log, contents: nil)
            }
            let file = try FileHandle(forWritingTo: URL(fileURLWithPath: log))
            try file.seekToEnd()
            process.standardError = file
        }
        try process.run()
        var text = Data()
        let end = Data("Ctrl-C stops the server.\n".utf8)
        while text.suffix(end.count) != end, let byte = try output.fileHandleForReading.read(upToCount: 1),
            !byte.isEmpty
        {
            text += byte
        }
        greeting = String(decoding: text, as: UTF8.self)
    }

    /// The TCP port at which it listens.
    ///
    /// - Throws: if the greeting contains no port.
    package var port: UInt16 {
        get throws {
            guard let found = greeting.firstMatch(of: #/hands?://[0-9.]+:([0-9]+)/#), let port = UInt16(found.1) else {
                throw NotListening(description: "the server does not listen at a port: \(greeting)")
            }
            return port
        }
    }

    package var pid: Int32 { process.processIdentifier }
    package var isRunning: Bool { process.isRunning }

    /// Returns what it prints after the greeting, once it has ended.
    package func lastWords() throws -> String {
        let output = (process.standardOutput as? Pipe)?.fileHandleForReading
        return String(decoding: try output?.readToEnd() ?? Data(), as: UTF8.self)
    }

    package func signal(_ signal: Int32) {
        guard process.isRunning else { return }
        Foundation.kill(pid, signal)
        // On a busy machine, threads run on until one of them has taken the signal.
        while signal == SIGSTOP, process.isRunning, !areThreadsStopped { sched_yield() }
    }

    private var areThreadsStopped: Bool {
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task")) ?? []
        return threads.allSatisfy { thread in
            let path = "/proc/\(pid)/task/\(thread)/stat"
            // The state follows the program's name, which is in parentheses.
            let state = try? String(contentsOfFile: path, encoding: .utf8).split(separator: ")").last
            return state?.hasPrefix(" T") ?? true
        }
    }

    /// Ends it with `kill -9`. Returns when it has ended.
    package func kill() {
        signal(SIGKILL)
        process.waitUntilExit()
    }

    /// Sends SIGTERM. Returns the exit code.
    @discardableResult
    package func terminate() -> Int32 {
        signal(SIGTERM)
        return waitForEnd()
    }

    /// Waits until it ends by itself. Returns the exit code, or a shell's exit code for the signal that ended it.
    package func waitForEnd() -> Int32 {
        process.waitUntilExit()
        return (process.terminationReason == .exit ? 0 : 128) + process.terminationStatus
    }
}
