import Foundation
import HandTestSupport
import Testing

/// The examples of README.md are run, and print what it says, but for ids and times.
@Suite(.serialized) struct ReadmeTests {
    struct Step {
        let command: String
        var output: [String] = []
    }

    private func steps() throws -> [Step] {
        let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("README.md").path
        var steps: [Step] = []
        var isExample = false
        for line in try String(contentsOfFile: path, encoding: .utf8).components(separatedBy: "\n") {
            if line.hasPrefix("```") {
                isExample = line == "```console"
            } else if isExample, line.hasPrefix("$ ") {
                steps.append(Step(command: String(line.dropFirst(2))))
            } else if isExample {
                steps[steps.count - 1].output.append(line)
            }
        }
        return steps
    }

    /// Ids and times are of their own each time.
    private func normalized(_ line: String) -> String {
        line.replacing(#/^(\d+)  [0-9a-z]{4}  /#) { "\($0.output.1)  ID  " }
            .replacing(#/^token [0-9a-z]{6} for/#, with: "token ID for").replacing(
                #/hand-[0-9a-z]{26}/#, with: "SECRET"
            )
            .replacing(#/\d{4}-\d\d-\d\d [0-9:]+/#, with: "TIME")
    }

    @Test func examplesPrintWhatTheReadmeSays() throws {
        let server = try RunningServer(try TemporaryFolder())
        let steps = try steps()
        #expect(steps.count > 10)
        for step in steps where !step.command.hasPrefix("export") {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            process.arguments = ["-c", step.command + " 2>&1"]
            let folder = URL(fileURLWithPath: Binary.path).deletingLastPathComponent().path
            process.environment = ProcessInfo.processInfo.environment.merging([
                "PATH": folder + ":/usr/bin:/bin", "HAND_NAME": "ada",
                "HAND_URL": "hand+unix://\(server.socket)/groceries",
                "HAND_DATA": server.folder.path + "/data", "XDG_STATE_HOME": server.folder.path + "/state",
                "XDG_CONFIG_HOME": server.folder.path + "/config",
            ]) { $1 }
            process.currentDirectoryURL = URL(fileURLWithPath: server.folder.path)
            let output = Pipe()
            process.standardOutput = output
            try process.run()
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            let lines = text.components(separatedBy: "\n").dropLast().map(normalized)
            #expect(lines == step.output.map(normalized), "\(step.command)")
        }
    }
}
