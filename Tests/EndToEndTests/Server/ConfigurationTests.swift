import Foundation
import HandTestSupport
import Testing

/// Settings of a server: the command line takes precedence over the environment, and that over the file.
@Suite struct ConfigurationTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func serve(
        _ arguments: [String], file: String? = nil, environment: [String: String] = [:]
    ) throws -> Binary.Outcome {
        var environment = environment.merging(["XDG_CONFIG_HOME": folder.path]) { $1 }
        if let file {
            try file.write(toFile: folder.path + "/file.toml", atomically: true, encoding: .utf8)
            environment["HAND_CONFIG"] = folder.path + "/file.toml"
        }
        return try Binary.run(["serve"] + arguments, environment: environment)
    }

    private func settings(_ outcome: Binary.Outcome) -> [String: String] {
        let lines = outcome.output.split(separator: "\n").filter { !$0.hasPrefix("#") }
        return Dictionary(
            uniqueKeysWithValues: lines.compactMap { line in
                line.wholeMatch(of: #/([a-z-]+) = (.*)  # .*/#).map { (String($0.1), String($0.2)) }
            })
    }

    @Test func theCommandLineComesFirst() throws {
        let file = "max-items = 1\nmax-lists = 1\nkeep-days = 2\nlisten = ['127.0.0.1:1']\ninsecure = true\n"
        let outcome = try serve(
            ["--print-config", "--max-items", "3", "--no-insecure"], file: file,
            environment: ["HAND_MAX_ITEMS": "2", "HAND_MAX_LISTS": "2", "HAND_LISTEN": "127.0.0.1:2,/x.sock"])
        let settings = settings(outcome)
        #expect(settings["max-items"] == "3" && settings["max-lists"] == "2" && settings["keep-days"] == "2.0")
        #expect(settings["listen"] == #"["127.0.0.1:2", "/x.sock"]"# && settings["insecure"] == "false")
        #expect(outcome.output.contains("max-items = 3  # the command line\n"))
        #expect(outcome.output.contains("max-lists = 2  # the environment\n"))
        #expect(outcome.output.contains("keep-days = 2.0  # \(folder.path)/file.toml\n"))
        #expect(outcome.output.contains("max-frame = 8388608  # default\n"))
    }

    @Test func aTildeIsTheHomeOfTheUser() throws {
        let outcome = try serve(
            ["--print-config"], file: "data = '~/lists'\nlisten = ['~/a.sock', '/b~/c.sock']",
            environment: ["HOME": "/home/ada", "HAND_AUDIT": "~/audit", "HAND_WEB_NAME": "a,~b"])
        let settings = settings(outcome)
        #expect(settings["data"] == #""/home/ada/lists""# && settings["audit"] == #""/home/ada/audit""#)
        #expect(settings["listen"] == #"["/home/ada/a.sock", "/b~/c.sock"]"# && settings["web-name"] == #"["a", "~b"]"#)
    }

    /// A variable that is almost a setting's changes nothing; the log says so.
    @Test func misspeltVariablesAreLogged() throws {
        let outcome = try serve(
            ["--listen", folder.path + "/none/a.sock", "--data", folder.path + "/data"],
            environment: ["HAND_MAX_ITEM": "5", "HAND_OF_SOMEBODY": "x", "HAND_MAX_LISTS": "7"])
        let text = "$HAND_MAX_ITEM means nothing. Did you mean $HAND_MAX_ITEMS?"
        #expect(outcome.status != 0 && outcome.messages.contains(text), "\(outcome.messages)")
        #expect(!outcome.messages.contains("SOMEBODY") && !outcome.messages.contains("$HAND_MAX_LISTS means"))
    }

    /// The printed settings are a configuration file with the same effect.
    @Test func printedSettingsReadBack() throws {
        let first = try serve([
            "--print-config", "--audit", "/a 'quoted' \\ path", "--keep-days", "0.5", "--socket-permissions", "660",
            "--log-format", "json", "--presence-interval", "0.25", "--max-user-requests", "7",
        ])
        #expect(first.status == 0, "\(first.messages)")
        let second = try serve(["--print-config"], file: first.output)
        #expect(second.status == 0, "\(second.messages)")
        #expect(settings(first) == settings(second) && settings(first).count > 35)
    }

    /// Every option is a setting, and every setting is an option that the help explains.
    @Test func theHelpListsAll() throws {
        let help = try serve(["--help"]).output
        var options = Set(
            help.matches(of: #/^  (?:-[a-z], )?--([a-z-]+)/#.anchorsMatchLineEndings()).map { String($0.1) })
        options.subtract(["config", "print-config", "example-config", "help", "version"])
        let printed = try serve(["--print-config"]).output
        let names = printed.split(separator: "\n").compactMap {
            $0.firstMatch(of: #/^(?:# )?([a-z-]+) (?:=|is not set)/#).map { String($0.1) }
        }
        #expect(Set(names) == options && names.count >= 44)
    }

    @Test(arguments: [
        ("max-itmes = 3", "unknown setting 'max-itmes'. Did you mean 'max-items'?"),
        ("max-items = '3'", "max-items: expected a whole number, found a string"),
        ("max-items = 3.5", "max-items: expected a whole number, found a number with a point"),
        ("listen = [1]", "listen: expected a list of strings"),
        ("log-level = 2026-11-30", "log-level: expected a string in quotes, found a date or a time"),
        ("keep-days = true", "keep-days: expected a number, found true or false"),
        ("audit = {file = 'x'}", "audit: expected a string in quotes, found a table"),
        ("insecure = 1", "insecure: expected true or false, found a whole number"),
        ("\n\nmax-items = = 3", "line 3: "),
        ("max-items = -1", "--max-items: expected a number from 1 to 2147483647, found -1"),
        ("max-connections = 9223372036854775807", "expected a number from 1 to"),
        ("chunk = 1000000000", "--chunk: expected a number from 1 to 16777216"),
        ("max-items = 0", "'max-items' is set in "),
        ("[limits]\nmax-items = 1", "unknown setting 'limits'"),
        ("durability = 'never'", "'never' is invalid for '--durability"),
    ])
    func errorsInTheFileAreReported(text: String, complaint: String) throws {
        let outcome = try serve([], file: text)
        #expect(outcome.status == 2 && outcome.messages.contains(complaint), "\(outcome.messages)")
        #expect(outcome.messages.contains("file.toml"))
    }

    @Test func errorsInSettingsAreReported() throws {
        let wrong = try serve([], environment: ["HAND_MAX_ITEMS": "many"])
        #expect(wrong.status == 2 && wrong.messages.contains("'max-items' is set in the environment"))
        let flag = try serve([], environment: ["HAND_INSECURE": "perhaps"])
        #expect(flag.status == 2 && flag.messages.contains("$HAND_INSECURE: expected true or false"))
        let missing = try serve(["--config", folder.path + "/missing.toml"])
        #expect(missing.status == 3 && missing.messages.contains("missing.toml cannot be read: no such file"))
    }

    /// A pipe is read once, to its end, even if its writer has already exited. A pipe that nobody closes is refused.
    @Test func theFileMayBeAPipe() throws {
        let serve = "mkfifo \(folder.path)/pipe && cd \(folder.path) && "
        func shell(_ script: String) throws -> Binary.Outcome {
            try? FileManager.default.removeItem(atPath: folder.path + "/pipe")
            return try Binary.run(
                ["-c", serve + script, Binary.path], environment: ["XDG_CONFIG_HOME": folder.path],
                program: "/bin/bash")
        }
        for pipe in ["<(echo max-items = 5)", "/dev/stdin < <(echo max-items = 5)"] {
            let outcome = try shell("\"$0\" serve --print-config --config \(pipe)")
            #expect(settings(outcome)["max-items"] == "5", "\(pipe): \(outcome.messages)")
        }
        // The writer has written and exited before the pipe is opened.
        let finished = try shell(
            "exec 3<>pipe 4<pipe && echo max-items = 5 >&3 && exec 3>&- && \"$0\" serve --print-config --config /dev/fd/4"
        )
        #expect(settings(finished)["max-items"] == "5", "\(finished.messages)")
        let open = try shell("exec 3<>pipe && \"$0\" serve --print-config --config pipe")
        #expect(open.status == 2 && open.messages.contains("cannot read pipe: it is a pipe that nobody writes to"))
    }

    /// The server's commands also read the file: they find its data.
    @Test func tokenCommandsUseTheServersData() throws {
        try FileManager.default.createDirectory(atPath: folder.path + "/hand", withIntermediateDirectories: true)
        try "data = '\(folder.path)/lists'".write(
            toFile: folder.path + "/hand/serve.toml", atomically: true, encoding: .utf8)
        let made = try Binary.run(
            ["token", "create", "ada"], environment: ["XDG_CONFIG_HOME": folder.path, "HAND_DATA": ""])
        #expect(made.status == 0, "\(made.messages)")
        #expect(FileManager.default.fileExists(atPath: folder.path + "/lists/access.json"))
    }

    /// The client's file has the same form.
    @Test func theClientsFile() throws {
        try FileManager.default.createDirectory(atPath: folder.path + "/hand", withIntermediateDirectories: true)
        func keys(_ text: String) throws -> Binary.Outcome {
            try text.write(toFile: folder.path + "/hand/config.toml", atomically: true, encoding: .utf8)
            return try Binary.run(["keys"], environment: ["XDG_CONFIG_HOME": folder.path])
        }
        let good = try keys("name = 'ada'\n[keys]\ndelete = ['d d']\n")
        #expect(good.status == 0 && good.output.contains("d d"), "\(good.messages)")
        let unknown = try keys("nmae = 'ada'")
        #expect(unknown.status == 2 && unknown.messages.contains("config.toml"), "\(unknown.messages)")
        let broken = try keys("name = \n")
        #expect(broken.status == 2 && broken.messages.contains("line 1"), "\(broken.messages)")
    }

    /// A person's name: the command line takes precedence over the environment, and that over the file.
    @Test func theClientsName() throws {
        let user = try CommandUser("environment")
        defer { user.server.kill() }
        let file = user.server.folder.path + "/config/hand"
        try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: true)
        try "name = 'file'".write(toFile: file + "/config.toml", atomically: true, encoding: .utf8)
        try user.hand("create", "list")
        try user.hand("add", "one", "--as", "flag")
        try user.hand("add", "two")
        var unnamed = user
        unnamed.environment["HAND_NAME"] = nil
        try unnamed.hand("add", "three")
        let people = try user.hand("log", "--json").split(separator: "\n").compactMap {
            $0.firstMatch(of: #/"person":"([a-z]+)"/#).map { String($0.1) }
        }
        #expect(people == ["flag", "environment", "file"])
    }
}
