import Attacks
import Foundation
import HandCore
import HandFormats
import HandWire
import Testing

/// Text that would take over a terminal, hide itself, or look like a line of the log, in every place that accepts text.
@Suite(.serialized) struct TextAttackTests {
    private static let evil =
        "x\u{1B}]0;owned\u{7}\u{1B}[2J\u{9B}31m\r\n{\"level\":\"info\"}\u{202E}\u{2066}\u{8}\u{0}y"

    /// Whether a terminal may receive it: tabs separate columns.
    private static func isClean(_ text: String) -> Bool {
        text.split { "\n\t".contains($0) }.allSatisfy { Printable.clean(String($0)) == String($0) }
    }

    @Test func nothingReachesATerminal() throws {
        let program = AttackTests.program
        let range = try AttackRange(program, idleTimeout: 600)
        defer { range.stop() }
        let data = range.folder.path + "/data"
        let secret = try AttackRange.run(
            program, ["token", "create", "eve", "--role", "admin", "--data", data], [:])
        // The command takes no such name, but a server reads whatever is in the file.
        let file = data + "/access.json"
        let name = String(decoding: try JSONEncoder().encode(Self.evil), as: UTF8.self)
        let rules = try String(contentsOfFile: file, encoding: .utf8).replacing("\"eve\"", with: name)
        try rules.write(toFile: file, atomically: false, encoding: .utf8)
        // The server reads the file twice a second; before, she would be let in under her former name.
        sleep(1)
        let eve = try Self.letIn(range, secret)
        for name in [Self.evil, "a\u{202E}b", "list\u{3164}", "\u{115F}", String(repeating: "n", count: 5_000), ""] {
            for message in try eve.answers(to: .create(request: 1, name: name, rules: Rules())) {
                #expect(message.refusal == "badListName")
                if case .error(_, _, _, _, let text) = message { #expect(Self.isClean(text), "\(text)") }
            }
        }
        _ = try eve.answers(to: .subscribe(.init(request: 2, name: AttackRange.list, logID: 0, revision: 0)))
        let long = Self.evil + String(repeating: "é", count: 8_000)
        let contents: [Content] = [
            .note(Self.evil), .task(Self.evil, done: false), .link(Self.evil, url: Self.evil), .heading(Self.evil),
            .note(long), .unknown(.init(rawValue: 77), Array(Self.evil.utf8)),
        ]
        let items = contents.enumerated().map {
            Item(id: ItemID(rawValue: 1_000 + UInt64($0.offset)), content: $0.element)
        }
        let delta = Delta.inserting(items, at: 0, .after)
        eve.say(.submit(Submission(list: 1, base: 1, sequence: 1, delta: delta)))
        while let message = try eve.next() {
            #expect(message.refusal == nil)
            if case .commit = message { break }
        }
        eve.say(.presence(list: 1, Focus(items[0].id, isEditing: true)))
        try show(range)
        let logs = try range.logs()
        #expect(
            logs.split(separator: "\n").allSatisfy { (try? JSONValue.parse(String($0))) != nil }, "a line was added")
        #expect(!logs.unicodeScalars.contains { $0 != "\n" && ($0.value < 0x20 || (0x7F..<0xA0).contains($0.value)) })
    }

    private static func letIn(_ range: AttackRange, _ secret: String) throws -> RawClient {
        // The server checks the rules twice a second.
        for _ in 0..<1_200 {
            let client = try range.client()
            if case .welcome = try client.hello(900, as: Self.evil, token: secret) { return client }
            usleep(50_000)
        }
        throw CocoaError(.fileReadNoPermission)
    }

    /// Runs everything that shows the text to others.
    private func show(_ range: AttackRange) throws {
        let data = range.folder.path + "/data"
        let environment = [
            "HAND_URL": "hand://127.0.0.1:\(range.port)/\(AttackRange.list)", "HAND_TOKEN": range.tokens["root"] ?? "",
            "HAND_DATA": data, "XDG_STATE_HOME": range.folder.path, "XDG_CONFIG_HOME": range.folder.path,
        ]
        for arguments in [
            ["ls"], ["show", "1"], ["show", "3"], ["log"], ["diff", "1", "2"], ["who"], ["lists"], ["ls", "--json"],
            ["log", "--json"], ["who", "--json"], ["export", "--format", "markdown"], ["export", "--format", "jsonl"],
            ["token", "list"], ["token", "list", "--json"], ["admin", "connections"],
            ["admin", "connections", "--json"], ["admin", "report"],
        ] {
            let isData = arguments.contains("--json") || arguments.contains("report") || arguments[0] == "export"
            let text = try AttackRange.run(AttackTests.program, arguments, environment)
            #expect(!text.isEmpty, "\(arguments)")
            // In data, the direction of writing is data; characters that control a terminal are escaped there too.
            let isFine =
                isData
                ? !text.unicodeScalars.contains { $0 != "\n" && ($0.value < 0x20 || (0x7F..<0xA0).contains($0.value)) }
                : Self.isClean(text)
            #expect(isFine, "\(arguments): \(text.prefix(300).debugDescription)")
        }
    }
}
