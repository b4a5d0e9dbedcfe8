import Foundation

extension AttackRange {
    /// `hand serve`, once it listens.
    final class Server: Sendable {
        private let process = Process()
        let port: UInt16

        /// - Parameters:
        ///   - prefix: what it is started with, as `taskset`.
        ///   - log: the file that gets its log; without one nobody reads it.
        init(_ program: String, _ options: [String], prefix: [String] = [], log: String = "/dev/null") throws {
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = prefix + [program, "serve"] + options
            let output = Pipe()
            process.standardOutput = output
            if log != "/dev/null" { _ = FileManager.default.createFile(atPath: log, contents: nil) }
            process.standardError = FileHandle(forWritingAtPath: log)
            try process.run()
            var greeting = Data()
            while let byte = try output.fileHandleForReading.read(upToCount: 1), !byte.isEmpty, byte != Data("\n".utf8)
            {
                greeting += byte
            }
            let text = String(decoding: greeting, as: UTF8.self)
            guard let found = text.firstMatch(of: #/hand://[0-9.]+:([0-9]+)/#), let port = UInt16(found.1) else {
                throw Failure(description: "the server did not start: \(text)")
            }
            self.port = port
        }

        var pid: Int32 { process.processIdentifier }
        var isRunning: Bool { process.isRunning }

        func stop() {
            guard process.isRunning else { return }
            process.terminate()
            process.waitUntilExit()
        }
    }
}
