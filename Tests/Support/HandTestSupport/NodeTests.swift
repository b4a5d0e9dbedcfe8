import Foundation

/// Tests in JavaScript, which Node runs: a folder of files that end in `.test.mjs`.
package struct NodeTests: Sendable {
    /// The path of Node, if it is installed.
    package static let node = ["/usr/bin/node", "/usr/bin/nodejs", "/usr/local/bin/node"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    private let folder: URL
    /// After so many seconds, the tests of a file have failed.
    private static let mostSeconds = 400
    /// The names of the files.
    package let files: [String]

    /// - Parameter name: of a folder in `Tests`.
    package init(_ name: String) {
        folder = Project.root.appending(path: "Tests").appending(path: name)
        files = ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [])
            .filter { $0.hasSuffix(".test.mjs") }.sorted()
    }

    package struct Outcome {
        /// Whether all tests have passed that were not skipped, of which there is at least one, or all were skipped.
        package let isSuccess: Bool
        /// What has failed, and the end of what was printed.
        package let problems: String
        /// What was skipped, and why: a line for each reason.
        package let skipped: [String]
    }

    /// Runs the tests of one file to their end. Requires that Node is installed.
    package func run(_ file: String, environment: [String: String] = [:]) throws -> Outcome {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/timeout")
        process.arguments =
            ["--kill-after=10", "\(Self.mostSeconds)", Self.node ?? "node", "--test", "--test-reporter=tap"]
            + [folder.appending(path: file).path]
        process.environment = outerEnvironment.merging(environment) { $1 }
        // Into a file: programs that a failed test has left would hold a pipe open.
        let path = FileManager.default.temporaryDirectory.appending(path: "hand-node-\(UUID().uuidString)")
        try Data().write(to: path)
        defer { try? FileManager.default.removeItem(at: path) }
        let output = try FileHandle(forWritingTo: path)
        process.standardOutput = output
        process.standardError = output
        try process.run()
        process.waitUntilExit()
        let text = try String(decoding: Data(contentsOf: path), as: UTF8.self)
        let lines = text.split(separator: "\n")
        func count(_ kind: String) -> Int {
            lines.first { $0.hasPrefix("# \(kind) ") }.flatMap { Int($0.dropFirst(kind.count + 3)) } ?? 0
        }
        let reasons = lines.compactMap { $0.firstMatch(of: /# SKIP (.*)/)?.1 }
        let failures = lines.indices.filter { lines[$0].contains("not ok") }
        let problems = failures.map { lines[$0...].prefix(16).joined(separator: "\n") }.joined(separator: "\n")
        return Outcome(
            isSuccess: process.terminationStatus == 0 && count("pass") + count("skipped") > 0,
            problems: "\(file): \(problems)\n\(text.suffix(2_000))",
            skipped: Set(reasons).sorted().map { "\(file): skipped: \($0)" })
    }
}
