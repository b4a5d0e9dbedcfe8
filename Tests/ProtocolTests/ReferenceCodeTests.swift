import Foundation
import HandFormats
import HandTestSupport
import HandVectors
import Testing

/// The algebra in Python gives the right answers to all test vectors. Runs if there is a `python3`.
@Suite struct ReferenceCodeTests {
    private static let python = ["/usr/bin/python3", "/usr/local/bin/python3"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    /// Returns what a program of `Sources/Examples/Python` prints, and its exit code.
    private func run(_ program: String, _ arguments: [String]) throws -> (output: String, status: Int32) {
        let process = Process()
        process.executableURL = URL(filePath: Self.python ?? "")
        // The folder with the sources stays as it is: without compiled copies.
        process.arguments = ["-B", Project.root.path + "/Sources/Examples/Python/" + program] + arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (String(decoding: output, as: UTF8.self), process.terminationStatus)
    }

    @Test(.enabled(if: python != nil))
    func theAlgebraAnswersEveryVector() throws {
        let names = Vectors.Law.allCases.map(\.rawValue) + ["merging"]
        let (output, status) = try run("check.py", names.map { ProtocolPage.file($0).path })
        #expect(status == 0, "\(output)")
        let asked = try #require(output.firstMatch(of: #/(\d+) vectors, 0 differ/#)?.1)
        #expect(Int(asked) ?? 0 > 600, "\(output)")
    }

    /// The machine in Python, whose handlers are on the page, does what the project's own does, whatever happens.
    @Test(.enabled(if: python != nil))
    func theMachineDoesTheSame() throws {
        let (seed, rounds) = (testSeed(1), 150)
        let lines = (0..<UInt64(rounds)).map { number -> String in
            let question = Scenario.random(seed + number).question
            guard case .object(let members) = question,
                let answer = try? JSONValue.parse(Vectors.answer(line: question.line))
            else { return "" }
            return JSONValue.object(members + [.init("expect", answer)]).line
        }
        let file = FileManager.default.temporaryDirectory.appending(path: "hand-vectors-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(lines.map { $0 + "\n" }.joined().utf8).write(to: file)
        let (output, status) = try run("check.py", [file.path])
        #expect(status == 0 && output.hasPrefix("\(rounds) vectors, 0 differ"), "\(output.prefix(10_000))")
    }

    /// A wrong answer is noticed, whatever the law.
    @Test(.enabled(if: python != nil), arguments: ["apply", "transform", "compose", "invert", "diff", "map"])
    func aWrongAnswerIsNoticed(law: String) throws {
        let line = try #require(ProtocolPage.vectors(law).first { !$0.contains("\"error\"") })
        let other = try #require(ProtocolPage.vectors(law).last { !$0.contains("\"error\"") })
        let expected = try #require(other.range(of: "\"expect\":"))
        let start = try #require(line.range(of: "\"expect\":"))
        let file = FileManager.default.temporaryDirectory.appending(path: "hand-vectors-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data((line[..<start.lowerBound] + other[expected.lowerBound...]).utf8).write(to: file)
        let (output, status) = try run("check.py", [file.path])
        #expect(status == 1 && output.contains("1 vectors, 1 differ"), "\(output)")
    }
}
