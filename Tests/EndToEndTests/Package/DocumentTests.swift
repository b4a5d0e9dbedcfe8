import Foundation
import HandTestSupport
import Testing

/// The examples of README.md and of the articles are run, and must print the output in the document, except for ids and
/// times.
@Suite(.serialized) struct DocumentTests {
    struct Step {
        let command: String
        var output: [String] = []
    }

    private static let root = Project.root.path

    /// README.md and the articles, from the root of the project.
    private static func documents() throws -> [String] {
        let files = try #require(FileManager.default.enumerator(atPath: root + "/Sources")).compactMap { $0 as? String }
        return ["README.md"]
            + files.filter { $0.contains(".docc/") && $0.hasSuffix(".md") }.map { "Sources/" + $0 }.sorted()
    }

    private func steps(of document: String) throws -> [Step] {
        let text = try String(contentsOfFile: "\(Self.root)/\(document)", encoding: .utf8)
        var steps: [Step] = []
        var isExample = false
        for line in text.components(separatedBy: "\n") {
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

    /// Ids and times differ in each run.
    private func normalized(_ line: String) -> String {
        line.replacing(#/^(\d+) [ @][0-9a-z]{4}  /#) { "\($0.output.1)  ID  " }
            .replacing(#/^token [0-9a-z]{6} for/#, with: "token ID for").replacing(
                #/hand-[0-9a-z]{26}/#, with: "SECRET"
            )
            .replacing(#/\d{4}-\d\d-\d\d [0-9:]+/#, with: "TIME")
    }

    @Test func examplesPrintTheDocumentedOutput() throws {
        let examples = try Self.documents().map { ($0, try steps(of: $0)) }.filter { !$0.1.isEmpty }
        #expect(examples.count >= 3 && examples.map(\.1.count).reduce(0, +) > 20)
        for (document, steps) in examples { try run(steps, of: document) }
    }

    /// Each document has a server of its own.
    private func run(_ steps: [Step], of document: String) throws {
        let server = try RunningServer(try TemporaryFolder())
        for step in steps where !step.command.hasPrefix("export") {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            process.arguments = ["-c", step.command + " 2>&1"]
            let folder = URL(fileURLWithPath: Binary.path).deletingLastPathComponent().path
            process.environment = outerEnvironment.merging([
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
            #expect(lines == step.output.map(normalized), "\(document): \(step.command)")
        }
    }

    /// Whether a process may have a network and processes of its own.
    private static let hasNamespaces =
        (try? Binary.run(isolation + ["ip", "link", "set", "lo", "up"], program: "/usr/bin/unshare").status) == 0
    private static let isolation = ["-rn", "--pid", "--fork", "--kill-child", "--mount-proc"]

    /// The tour after "Run it", literally: on the usual port, with what `.ci/try` has left on the server.
    @Test(.enabled(if: hasNamespaces, "needs network namespaces")) func theTourFollowsRunIt() throws {
        let folder = try TemporaryFolder()
        // The command is built already.
        try "#!/bin/sh\n".write(toFile: folder.path + "/swift", atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path + "/swift")
        try FileManager.default.createSymbolicLink(atPath: folder.path + "/hand", withDestinationPath: Binary.path)
        let steps = try steps(of: "README.md")
        let script =
            "ip link set lo up; \(Self.root)/.ci/try || exit 1; cd \(folder.path)\n"
            + steps.map { "printf '\\036'; { \($0.command)\n} 2>&1" }.joined(separator: "\n")
        let outcome = try Binary.run(
            Self.isolation + ["/bin/sh", "-c", script],
            environment: [
                "PATH": "\(folder.path):/usr/sbin:/usr/bin:/sbin:/bin", "HOME": folder.path, "HAND_NAME": "ada",
                "XDG_STATE_HOME": folder.path + "/state", "XDG_CONFIG_HOME": folder.path + "/config",
            ], program: "/usr/bin/unshare")
        let outputs = outcome.output.split(separator: "\u{1E}", omittingEmptySubsequences: false).dropFirst()
        #expect(outputs.count == steps.count, "\(outcome.output) \(outcome.messages)")
        for (step, output) in zip(steps, outputs) {
            let lines = output.components(separatedBy: "\n").dropLast().map(normalized)
            #expect(lines == step.output.map(normalized), "\(step.command)")
        }
    }

    /// The targets of a document's links exist; docc checks links between articles.
    @Test func linksHaveTargets() throws {
        var count = 0
        for document in try Self.documents() {
            let text = try String(contentsOfFile: "\(Self.root)/\(document)", encoding: .utf8)
            let folder = URL(filePath: "\(Self.root)/\(document)").deletingLastPathComponent()
            for link in text.matches(of: #/\]\(([^):#]+)\)/#) {
                count += 1
                let path = folder.appending(path: String(link.1)).path
                #expect(FileManager.default.fileExists(atPath: path), "\(document) links to \(link.1)")
            }
            for path in text.matches(of: #/`((?:Sources|Tests|\.ci)\/[\w\/.-]+)`/#) {
                count += 1
                #expect(FileManager.default.fileExists(atPath: "\(Self.root)/\(path.1)"), "\(document) names \(path.1)")
            }
        }
        #expect(count > 20)
    }
}
