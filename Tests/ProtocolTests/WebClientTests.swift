import Foundation
import HandTestSupport
import Testing

/// The client in JavaScript, tested by Node: `Tests/WebTests`.
@Suite(.serialized) struct WebClientTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "WebTests")
    private static let node = ["/usr/bin/node", "/usr/bin/nodejs", "/usr/local/bin/node"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }
    private static let files =
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [])
        .filter { $0.hasSuffix(".test.mjs") }.sorted()

    @Test func thereAreTests() { #expect(Self.files.count > 3) }

    @Test(.enabled(if: node != nil, "Node is not installed"), arguments: files)
    func testsInNodePass(_ file: String) throws {
        let process = Process()
        process.executableURL = URL(filePath: try #require(Self.node))
        process.arguments = ["--test", "--test-reporter=tap", Self.folder.appending(path: file).path]
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let passed = text.firstMatch(of: /(?m)^# pass ([0-9]+)/).flatMap { Int($0.1) } ?? 0
        let problems = text.split(separator: "\n").filter { $0.contains("not ok") || $0.contains("error:") }
        #expect(
            process.terminationStatus == 0 && passed > 0,
            "\(file): \(problems.joined(separator: "\n"))\n\(text.suffix(2_000))")
        for line in text.split(separator: "\n") where line.contains("# SKIP") { print("\(file):\(line)") }
    }
}
