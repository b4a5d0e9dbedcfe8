import Foundation
import HandTestSupport
import Testing

/// The help, its examples and topics, and the manual pages made from them.
@Suite(.serialized) struct ManualTests {
    /// A command as the parser describes it.
    private struct Command: Decodable {
        let commandName: String
        let superCommands: [String]?
        let shouldDisplay: Bool
        let discussion: String?
        let subcommands: [Command]?

        var all: [[String]] {
            guard shouldDisplay, commandName != "help" else { return [] }
            return [((superCommands ?? []) + [commandName]).filter { $0 != "hand" }]
                + (subcommands ?? []).flatMap(\.all)
        }
    }

    private struct Dump: Decodable {
        let command: Command
    }

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static func hand(_ arguments: String...) throws -> String {
        let outcome = try Binary.run(arguments)
        #expect(outcome.status == 0, "\(arguments): \(outcome.messages)")
        return outcome.output
    }

    private static func description() throws -> Command {
        try JSONDecoder().decode(Dump.self, from: Data(hand("--experimental-dump-help").utf8)).command
    }

    static func commands() throws -> [[String]] { try description().all }

    /// Returns the examples at the end of a help text.
    private static func examples(_ command: [String]) throws -> [String] {
        let help = try Binary.run(command + ["--help"]).output
        let parts = help.components(separatedBy: "\nEXAMPLES:\n")
        #expect(parts.count == 2, "hand \(command.joined(separator: " ")) --help ends with examples")
        return (parts.last ?? "").split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    }

    @Test func eachHelpEndsWithExamples() throws {
        let commands = try Self.commands()
        #expect(commands.count > 60)
        for command in commands {
            let examples = try Self.examples(command)
            let name = (["hand"] + command).joined(separator: " ")
            #expect((2...4).contains(examples.count), "\(name)")
            for example in examples where !command.isEmpty && !example.hasPrefix("hand -c work ") {
                #expect(example.hasPrefix("hand \(command[0])"), "\(example) is about \(name)")
            }
        }
        #expect(try Self.hand("help", "add").hasSuffix(Self.hand("add", "--help").suffix(60)), "both ways to ask")
        #expect(try !Self.hand("--version").contains("EXAMPLES"))
    }

    /// The parser wraps a paragraph, which is one line; a longer line of a table would not stay in its column.
    @Test func theHelpFitsATerminal() throws {
        func check(_ command: Command) {
            for paragraph in (command.discussion ?? "").components(separatedBy: "\n\n") {
                let lines = paragraph.split(separator: "\n")
                let isTable = lines.allSatisfy { $0.hasPrefix(" ") && $0.count < 80 }
                let isText = lines.count == 1 && !paragraph.hasPrefix(" ")
                #expect(isTable || isText, "\(command.commandName): \(paragraph)")
            }
            for command in command.subcommands ?? [] { check(command) }
        }
        check(try Self.description())
    }

    /// Runs all examples of the help and of the topics in a terminal: none may be a wrong use of a command.
    @Test func theExamplesRun() throws {
        let server = try RunningServer(folder)
        defer { server.kill() }
        let certificates = try Certificates(folder)
        let own = try certificates.make("server", for: "IP:127.0.0.1")
        try "listen = [\"127.0.0.1:0\"]".write(
            toFile: folder.path + "/serve.toml", atomically: true, encoding: .utf8)
        let start = """
            cd \(folder.path); cp \(own.certificate) cert.pem; cp \(own.key) key.pem; cp key.pem lab-ca.pem; cp cert.pem lists.pem; cp key.pem lists.key
            hand create groceries; hand create poker --deck --max-items 5 --kinds card
            hand add -l groceries a b c d e f g h; hand export -l groceries groceries.jsonl; echo milk >groceries.txt; touch vectors.jsonl
            cp vectors.jsonl questions.jsonl; hand context add work $HAND_URL; hand context add lab $HAND_URL
            """
        let environment = [
            "HAND_URL": "hand+unix://\(server.socket)/groceries", "HOME": folder.path, "TERM": "xterm-256color",
            "PATH": URL(fileURLWithPath: Binary.path).deletingLastPathComponent().path + ":/usr/bin:/bin",
        ]
        #expect(try shell(start, environment) == 0)
        let topics = try [
            "merging", "news", "tasks", "sub-items", "order", "offline", "formats", "scripts", "tls", "roles", "decks",
            "backups",
        ].map {
            try Self.hand("help", $0)
        }
        let inTopics = topics.joined(separator: "\n").split(separator: "\n").filter { $0.hasPrefix("  hand ") }
            .map { String($0.dropFirst(2)).replacing(#/   +.*/#, with: "") }
        #expect(inTopics.count >= 15)
        let all = (try Self.commands().flatMap(Self.examples) + inTopics).filter { !$0.hasSuffix("\\") }
        // Ten at a time: each has half a second.
        for start in stride(from: 0, to: all.count, by: 10) {
            let some = all[start..<min(start + 10, all.count)]
            let scripts = some.enumerated().map { index, example in
                "(script -qec \(quoted(example)) /dev/null </dev/null >said.\(index) 2>&1; echo $? >status.\(index)) &"
            }
            // A test's thread blocks signals, and so does the shell until it has run a program: it would wait forever.
            _ = try shell(scripts.joined(separator: "\n") + "\n/bin/true\nwait", environment)
            for (index, example) in some.enumerated() {
                let said = (try? String(contentsOfFile: "\(folder.path)/said.\(index)", encoding: .utf8)) ?? ""
                let status = try String(contentsOfFile: "\(folder.path)/status.\(index)", encoding: .utf8)
                #expect(status != "2\n" && !said.contains("Usage: "), "\(example): \(said)")
            }
        }
    }

    /// Quotes an example as a word of a shell, with the test's folder in place of the system's.
    private func quoted(_ example: String) -> String {
        var command = example
        for place in ["/etc/systemd/system", "/etc/hand", "/var/lib/hand", "/srv"] {
            command = command.replacing(place, with: folder.path)
        }
        return "'cd \(folder.path); timeout -k 1 0.5 \(command.replacing("'", with: "'\\''"))'"
    }

    private func shell(_ script: String, _ environment: [String: String]) throws -> Int32 {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", script]
        process.currentDirectoryURL = URL(fileURLWithPath: folder.path)
        process.environment = environment
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus
    }

    @Test func topicsAreExplained() throws {
        let overview = try Self.hand("help", "topics")
        let names = overview.split(separator: "\n").prefix { !$0.hasPrefix("Read") }.compactMap {
            $0.split(separator: " ").first
        }
        #expect(
            names == [
                "merging", "news", "tasks", "sub-items", "order", "offline", "formats", "scripts", "tls", "roles",
                "decks", "backups",
            ])
        for name in names {
            let text = try Self.hand("help", String(name))
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            #expect((10...40).contains(lines.count), "\(name): a screen or two")
            #expect(lines.allSatisfy { $0.count <= 80 }, "\(name)")
        }
        let wrong = try Binary.run(["help", "mergin"])
        #expect(wrong.status == 2 && wrong.messages.contains("Did you mean 'merging'?"))
    }

    private static let hasGroff = FileManager.default.isExecutableFile(atPath: "/usr/bin/groff")

    @Test func eachCommandAndFileHasAPage() throws {
        let pages = folder.path + "/man"
        _ = try Self.hand("manual", "--output", pages)
        let files = Set(try FileManager.default.contentsOfDirectory(atPath: pages))
        let commands = try Self.commands().map { (["hand"] + $0).joined(separator: "-") + ".1" }
        let others = [
            "hand-serve.toml.5", "hand-config.toml.5", "hand-load-script.5", "hand-protocol.7", "hand-merging.7",
            "hand-news.7", "hand-tasks.7", "hand-sub-items.7", "hand-order.7", "hand-offline.7", "hand-formats.7",
            "hand-scripts.7", "hand-tls.7", "hand-roles.7", "hand-decks.7", "hand-backups.7",
        ]
        #expect(files == Set(commands + others))
        func page(_ name: String) throws -> String { try String(contentsOfFile: pages + "/" + name, encoding: .utf8) }
        for file in files {
            let text = try page(file)
            for line in text.split(separator: "\n") where line.hasPrefix(".") {
                #expect(line.contains(#/^\.(TH|SH|PP|TP|B|RS|RE|EX|EE)\b/#), "\(file): \(line)")
            }
            for (_, name, section) in text.matches(of: #/([a-z\\.-]+)\(([157])\)/#).map(\.output) {
                #expect(
                    files.contains("\(name.replacing("\\-", with: "-")).\(section)"),
                    "\(file) names \(name)(\(section))")
            }
        }
        #expect(try page("hand-add.1").contains(".B \\-\\-if\\-revision REVISION"))
        #expect(try page("hand-add.1").contains("hand add milk \"oat flakes\""))
        #expect(try page("hand-serve.toml.5").contains(".B max\\-items\n"))
        #expect(try page("hand-config.toml.5").contains(".B moveTop\n"))
        #expect(try page("hand-load-script.5").contains("    4 add \"item"), "blocks are indented")
        for file in files {
            let text = try page(file)
            let name = text.firstMatch(of: #/\.SH NAME\n.* \\- (.+)\n/#)?.1.lowercased() ?? ""
            let start = text.firstMatch(of: #/\.SH DESCRIPTION\n\.PP\n(.+)\n/#)?.1.lowercased() ?? ""
            #expect(!name.isEmpty && !start.hasPrefix(name), "\(file): the description repeats the name")
            #expect(text.contains(".SH EXIT STATUS\n.TP\n.B 0\nok\n") == file.hasSuffix(".1"), "\(file)")
            let repeated = text.firstMatch(of: #/default: ([^)]+)\)\.? Default: \1|versions (\d+) to \2/#)
            #expect(repeated == nil, "\(file): \(repeated?.0 ?? "")")
        }
        // What a command has to do with is in its sections.
        for (file, variable, path) in [
            ("hand-add.1", "HAND_TOKEN", "hand/config.toml"), ("hand-token-create.1", "HAND_DATA", "/var/lib/hand"),
            ("hand-share.1", "HAND_URL", "/var/lib/hand"), ("hand-serve.1", "HAND_CONFIG", "/etc/hand/serve.toml"),
        ] {
            let parts = try page(file).components(separatedBy: ".SH ")
            #expect(parts.contains { $0.hasPrefix("ENVIRONMENT") && $0.contains(".B \(variable)\n") }, "\(file)")
            #expect(parts.contains { $0.hasPrefix("FILES") && $0.contains(path) }, "\(file)")
        }
        #expect(try !page("hand-verify.1").contains("HAND_TOKEN"))
        #expect(try page("hand-load.1").contains(".B 99\n") && !page("hand-add.1").contains(".B 99\n"))
        #expect(try page("hand-unit.1").contains("[\\-\\- SERVE\\-OPTION...]"))
        #expect(try page("hand-serve.1").contains(".B \\-\\-insecure, \\-\\-no\\-insecure\n"))
        #expect(try page("hand-add.1").contains(".B \\-\\-task, \\-\\-note, \\-\\-heading, \\-\\-card\n"))
    }

    @Test(.enabled(if: hasGroff, "groff is not installed"))
    func thePagesAreCorrect() throws {
        let pages = folder.path + "/man"
        _ = try Self.hand("manual", "--output", pages)
        let environment = ["PATH": "/usr/bin:/bin"]
        let check =
            "for page in man/*; do groff -man -ww -z -Tutf8 -k \"$page\"; done > problems 2>&1; test ! -s problems"
        let status = try shell(check, environment)
        let problems = try String(contentsOfFile: folder.path + "/problems", encoding: .utf8)
        #expect(status == 0, "\(problems)")
    }

    /// Every option is in the example with its default, and the file can be read when the comment marks are removed.
    @Test func theExampleConfigurationHasAllDefaults() throws {
        func values(_ text: String) -> [String: String] {
            Dictionary(
                text.split(separator: "\n").compactMap { line in
                    guard let match = line.firstMatch(of: #/^#?([a-z-]+) = ?(.*?)(  # .*)?$/#) else { return nil }
                    return (String(match.1), String(match.2))
                }, uniquingKeysWith: { first, _ in first })
        }
        let nothing = ["HOME": folder.path, "XDG_CONFIG_HOME": folder.path, "XDG_STATE_HOME": folder.path]
        let example = try Self.hand("serve", "--example-config")
        let printed = try Binary.run(["serve", "--print-config"], environment: nothing).output
        var expected = values(printed)
        expected["data"] = nil
        #expect(values(example).filter { $0.value != "" } == expected)
        let unset = printed.matches(of: #/# ([a-z-]+) is not set/#).map { String($0.1) } + ["data"]
        #expect(Set(values(example).filter { $0.value == "" }.keys) == Set(unset))
        let lines = example.split(separator: "\n").filter { $0.contains(#/^#[a-z-]+ = ./#) }.map { $0.dropFirst() }
        let file = folder.path + "/all.toml"
        try lines.joined(separator: "\n").write(toFile: file, atomically: true, encoding: .utf8)
        let read = try Binary.run(["serve", "--config", file, "--print-config"], environment: nothing)
        #expect(values(read.output) == values(printed), "\(read.messages)")
    }
}
