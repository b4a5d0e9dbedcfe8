import Foundation
import HandTestSupport
import Testing

/// Settings files: nothing in a value becomes a setting of its own, and no file is read in part.
@Suite(.serialized) struct SettingsFileTests {
    private let folder: TemporaryFolder
    private var configuration: String { folder.path + "/hand" }

    init() throws {
        folder = try TemporaryFolder()
        try FileManager.default.createDirectory(
            atPath: configuration + "/contexts", withIntermediateDirectories: true)
    }

    private func hand(_ arguments: String..., environment: [String: String] = [:]) throws -> Binary.Outcome {
        let folders = [
            "XDG_STATE_HOME": folder.path, "XDG_CONFIG_HOME": folder.path, "HAND_URL": "hand://127.0.0.1:1/l",
        ]
        return try Binary.run(arguments, environment: folders.merging(environment) { $1 })
    }

    private static let hostile = [
        "a\nname = \"mallory\"", "a\"\nname = \"mallory\"\n#", "a\\", "a\\\"", "'''", "\"\"\"", "a\r\nca = \"x\"",
        "a\tb",
        "a\u{7F}\u{85}\u{202E}", "$(x)`y`", "é♠𐍈", "a # b", "a\\u0041", "\\n",
    ]

    /// The secret of a link is whatever follows the '#'.
    @Test(arguments: hostile) func aSecretIsOneValue(_ secret: String) throws {
        #expect(try hand("context", "add", "w", "hand://h/l#\(secret)", "--as", secret).status == 0)
        let file = configuration + "/contexts/w.toml"
        let text = try String(contentsOfFile: file, encoding: .utf8)
        #expect(text.split(separator: "\n").count == 3, "\(text)")
        #expect(text.unicodeScalars.allSatisfy { $0 == "\n" || $0.properties.generalCategory != .control }, "\(text)")
        let listed = try hand("context", "list", "--json").output
        let context = try JSONDecoder().decode([String: JSON].self, from: Data(listed.utf8))
        #expect(context["as"] == .text(secret) && context["url"] == .text("hand://h:7777/l"), "\(listed)")
    }

    private enum JSON: Decodable, Equatable {
        case text(String)
        case other

        init(from decoder: any Decoder) throws {
            self = (try? decoder.singleValueContainer().decode(String.self)).map { .text($0) } ?? .other
        }
    }

    /// What --print-config prints is read back as the same settings.
    @Test(arguments: hostile) func printedSettingsReadBack(_ text: String) throws {
        let printed = try hand("serve", "--print-config", "--data", "/" + text, "--listen", "/\(text).sock")
        #expect(printed.status == 0, "\(printed.messages)")
        let file = folder.path + "/serve.toml"
        try printed.output.write(toFile: file, atomically: true, encoding: .utf8)
        let again = try hand("serve", "--print-config", "--config", file)
        func values(_ output: String) -> [Substring] {
            output.split(separator: "\n").map { $0.prefix(upTo: $0.ranges(of: "  # ").last?.lowerBound ?? $0.endIndex) }
        }
        #expect(again.status == 0 && values(again.output) == values(printed.output), "\(again)")
    }

    @Test(arguments: [
        "name = \"ada\"\n\0url = \"hand://x\"\n", "name = \"a\\u0000b\"\n", "name = \"a\\U00000000b\"\n",
        "name = \"\u{FF}\"\n",
    ])
    func aFileThatIsNoTextIsRefused(_ text: String) throws {
        let bytes = text.contains("\u{FF}") ? Data([0x6E, 0x3D, 0x22, 0xFF, 0x22]) : Data(text.utf8)
        let files = ["/hand/config.toml", "/hand/contexts/w.toml", "/hand/serve.toml"].map { folder.path + $0 }
        let commands = [["ls"], ["-c", "w", "ls"], ["serve", "--print-config"]]
        for (file, command) in zip(files, commands) {
            try bytes.write(to: URL(fileURLWithPath: file))
            let outcome = try Binary.run(
                command, environment: ["XDG_CONFIG_HOME": folder.path, "XDG_STATE_HOME": folder.path])
            #expect(outcome.status == 2, "\(file): \(outcome)")
            let isNUL = !text.contains("\u{FF}")
            let line = text.hasPrefix("name = \"ada\"") ? 2 : 1
            let place = isNUL ? ", line \(line): expected text, found a NUL" : ": expected text in UTF-8"
            #expect(outcome.messages == "hand: \(file)\(place)\n")
            try FileManager.default.removeItem(atPath: file)
        }
    }

    /// A damaged file about the context in use does not send commands to another server.
    @Test(arguments: ["work\0", "../x", "\u{1}", "two words"]) func aDamagedChoiceIsReported(_ text: String) throws {
        try text.write(toFile: configuration + "/context", atomically: true, encoding: .utf8)
        let folders = ["XDG_STATE_HOME": folder.path, "XDG_CONFIG_HOME": folder.path]
        let outcome = try Binary.run(["ls"], environment: folders)
        #expect(outcome.status == 2 && outcome.messages.contains("hand context use NAME"), "\(outcome)")
        #expect(try hand("context", "list").status == 0)
        #expect(try hand("context", "use").status == 0)
        #expect(try hand("lists").status == 6)
    }

    /// A unit has no way to write a line break.
    @Test func aUnitHasOneLineForEachSetting() throws {
        for arguments in [
            ["--user", "x\nExecStartPre=/bin/evil"], ["--program", "/x\n[Service]"], ["--socket", "/x\ny.sock"],
            ["--", "--data", "/x\ny"],
        ] {
            let outcome = try Binary.run(["unit"] + arguments)
            #expect(outcome.status == 2 && outcome.output == "", "\(arguments): \(outcome)")
        }
    }
}
