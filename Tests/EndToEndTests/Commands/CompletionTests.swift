import FaultyNetwork
import Foundation
import HandTestSupport
import Testing

/// The completions that shells offer for Tab, with the script that the command prints.
@Suite(.serialized) struct CompletionTests {
    var user: CommandUser

    init() throws { user = try CommandUser() }

    /// Makes bash complete the last of the words. Returns what it offers.
    private func offered(_ words: String..., environment: [String: String] = [:]) throws -> [String] {
        let script = """
            source "$0"
            COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
            $(complete -p hand | sed 's/.*-F \\([^ ]*\\) .*/\\1/') hand "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = ["-c", script, try Self.script(.bash, in: user.server.folder)] + words
        let folder = URL(fileURLWithPath: Binary.path).deletingLastPathComponent().path
        process.environment = outerEnvironment.merging(user.environment) { $1 }
            .merging(["PATH": folder + ":/usr/bin:/bin"]) { $1 }.merging(environment) { $1 }
        let (output, messages) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = messages
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let errors = String(decoding: messages.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(errors == "", "Tab prints nothing")
        return text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    }

    @Test func listsAndItems() throws {
        for name in ["groceries", "garden", "work"] { try user.hand("create", name) }
        try user.hand("add", "-l", "garden", "roses", "tulips")
        let ids = try user.hand("ls", "-l", "garden").split(separator: "\n").map { line in
            String(line.split(separator: " ")[1])
        }
        #expect(try offered("hand", "delete", "g").sorted() == ["garden", "groceries"])
        #expect(try offered("hand", "open", "ga") == ["garden"])
        #expect(try offered("hand", "ls", "-l", "wo") == ["work"])
        #expect(try offered("hand", "rm", "-l", "garden", "").filter { !$0.hasPrefix("-") }.sorted() == ids.sorted())
        #expect(try offered("hand", "mv", "1", "--list", "garden", "--after", String(ids[0].prefix(3))) == [ids[0]])
        #expect(try offered("hand", "mv", "1", "-l", "nowhere", "--after", "") == [])
        try user.hand("delete", "--force", "work")
        #expect(try offered("hand", "undelete", "").filter { !$0.hasPrefix("-") } == ["work"])
    }

    @Test func filesAndFolders() throws {
        let folder = user.server.folder.path
        try Data().write(to: URL(fileURLWithPath: folder + "/a b.backup"))
        try FileManager.default.createDirectory(atPath: folder + "/a folder", withIntermediateDirectories: false)
        let both = [folder + "/a b.backup", folder + "/a folder"]
        for command in ["recover", "verify", "import"] {
            #expect(try offered("hand", command, folder + "/a ").sorted() == both, "\(command)")
        }
        for option in ["--config", "--tls-cert"] {
            #expect(try offered("hand", "serve", option, folder + "/a ").sorted() == both, "\(option)")
        }
        #expect(try offered("hand", "token", "create", "x", "--data", folder + "/a ") == [folder + "/a folder"])
    }

    /// What else has a name or a number: contexts before the command, topics, lists, tokens, connections.
    @Test func everythingWithANameIsOffered() async throws {
        let data = ["--data", user.server.folder.path + "/data"]
        for name in ["groceries", "garden"] { try user.hand("create", name) }
        try user.hand("context", "add", "home", user.environment["HAND_URL"] ?? "")
        #expect(try offered("hand", "-c", "h") == ["home"])
        #expect(try offered("hand", "-c", "home", "ls", "-l", "gar") == ["garden"])
        #expect(try offered("hand", "help", "m") == ["mv", "merging"])
        #expect(try offered("hand", "share", "gar") == ["garden"])
        #expect(try offered("hand", "token", "create", "eve", "-l", "gar") == ["garden"])
        #expect(try offered("hand", "load", "-l", "gar") == ["garden"])
        #expect(try offered("hand", "load", "five") == ["five-cards"])
        #expect(try offered("hand", "load", "--show", "re").sorted() == ["readers", "reconnect-storm"])
        let made = try user.run(["token", "create", "eve"] + data)
        let id = try #require(made.messages.firstMatch(of: #/token ([0-9a-z]{6}) for eve/#)?.1)
        #expect(try offered("hand", "token", "revoke", data[0], data[1], String(id.prefix(3))) == [String(id)])
        let guest = try user.server.client("ben")
        try await guest.connected()
        let numbers = try user.run(["admin", "connections"] + data).output.prefix { $0 != " " }
        #expect(try offered("hand", "admin", "close", data[0], data[1], "").contains(String(numbers)))
        await guest.close()
        #expect(try offered("hand", "rejected", "drop", "a") == ["all"])
    }

    /// Without a server, or if a person would have to type the token, nothing is offered, printed or asked.
    /// A shell's Tab prints nothing, so what is lost is told by the next command.
    @Test func tabTellsNothing() throws {
        var ben = user.named("ben")
        ben.environment["XDG_STATE_HOME"] = user.server.folder.path + "/ben"
        try user.hand("create", "list")
        try user.hand("add", "zebra")
        try ben.hand("ls")
        user.server.kill()
        try ben.hand("edit", "--queue", "1", "third", "--timeout", "1")
        try user.server.start()
        try user.hand("edit", "1", "second")
        try ben.hand("sync")
        #expect(try offered("hand", "rm", "-l", "list", "").count > 0)
        #expect(try user.messages("ls").contains("overwrote 'second' with 'third'"))
    }

    @Test func withoutAServerNothingIsOffered() throws {
        try user.hand("create", "garden")
        #expect(try offered("hand", "ls", "-l", "g", environment: ["HAND_TOKEN": "?"]) == [])
        #expect(try offered("hand", "ls", "--url", "nonsense", "-l", "g") == [])
        user.server.kill()
        #expect(try offered("hand", "ls", "-l", "g") == [])
    }

    /// Fish asks for each option of all commands whether the line is about it, which must not take a second.
    @Test func fishParsesTheLineOnlyForTheCommand() throws {
        let folder = try TemporaryFolder()
        let script = try Self.script(.fish, in: folder)
        let profile = folder.path + "/profile"
        let asked = try Binary.run(
            ["--profile", profile, "-c", "source \(script); complete -C 'hand token create --ro'"],
            environment: ["HOME": folder.path], program: "/usr/bin/fish")
        #expect(asked.output.hasPrefix("--role\t"), "\(asked)")
        let parses = try String(contentsOfFile: profile, encoding: .utf8).matches(of: /__hand_parse_subcommand/).count
        #expect(parses < 300, "\(parses)")
    }

    // MARK: In a terminal

    enum Shell: String, CaseIterable {
        case bash, zsh, fish

        var command: String {
            switch self {
            case .bash: "bash --norc --noprofile -i"
            case .zsh: "zsh -f -i"
            case .fish: "fish -i"
            }
        }

        var preparation: String { self == .zsh ? "autoload -Uz compinit; compinit -u -D; " : "" }
    }

    /// The scripts that the command prints; it takes its time.
    private static let scripts = Result {
        try Shell.allCases.map { try Binary.run(["--generate-completion-script", $0.rawValue]).output }
    }

    /// Writes the script of a shell into a folder. Returns its path.
    private static func script(_ shell: Shell, in folder: TemporaryFolder) throws -> String {
        let path = folder.path + "/script"
        let text = try scripts.get()[Shell.allCases.firstIndex(of: shell) ?? 0]
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    /// Starts a shell with the script in a folder, where the commands that it must not run would leave a file.
    private func terminal(_ shell: Shell, in folder: TemporaryFolder, path: String) throws -> Tmux {
        let script = try Self.script(shell, in: folder)
        // Without it, fish reads all of the machine's manual pages first.
        try FileManager.default.createDirectory(
            atPath: folder.path + "/.local/share/fish/generated_completions", withIntermediateDirectories: true)
        let environment = user.environment.merging(["HOME": folder.path, "PATH": path + ":/usr/bin:/bin"]) { $1 }
        let terminal = try Tmux(environment: environment, "cd \(folder.path); exec \(shell.command)")
        try terminal.type("\(shell.preparation)source \(script)", in: terminal.first)
        try terminal.press("Enter", in: terminal.first)
        // Until the shell reads keys itself, the system takes some of them for its own.
        try terminal.type("touch ready", in: terminal.first)
        try terminal.press("Enter", in: terminal.first)
        #expect(
            try eventually {
                guard FileManager.default.fileExists(atPath: folder.path + "/ready") else { return false }
                return try terminal.screen(terminal.first).last { !$0.isEmpty }?.contains("ready") == false
            })
        return terminal
    }

    /// Whatever a program offers is completed as it is, quoted, and nothing of it is run.
    @Test(arguments: Shell.allCases) func whatIsOfferedIsData(_ shell: Shell) throws {
        let folder = try TemporaryFolder()
        let offers = [
            "a b", "b'c", "c\"d", "d$(touch EVIL)", "e`touch EVIL`", "f;touch EVIL", "g&touch EVIL", "h|touch EVIL",
            "i*",
            "j\\k", "k!!", "l{1,2}", "m$HOME", "n>EVIL", "o<(touch EVIL)", "p:q", "r=s", "s~", "t#", "u(touch EVIL)",
            "vä漢",
        ]
        let hand = """
            #!/bin/sh
            if [ "$1" = ---completion ]; then cat offers; exit; fi
            printf '%s\\n' "$@" >new; mv new given
            """
        try hand.write(toFile: folder.path + "/hand", atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path + "/hand")
        try (offers + ["w", "$(touch EVIL)", "~"]).joined(separator: "\n")
            .write(toFile: folder.path + "/offers", atomically: true, encoding: .utf8)
        let terminal = try terminal(shell, in: folder, path: folder.path)
        for offer in offers {
            try? FileManager.default.removeItem(atPath: folder.path + "/given")
            try terminal.type("hand delete \(offer.first ?? "?")", in: terminal.first)
            try terminal.press("Tab", "Enter", in: terminal.first)
            #expect(eventually { FileManager.default.fileExists(atPath: folder.path + "/given") }, "\(offer)")
            let given = try String(contentsOfFile: folder.path + "/given", encoding: .utf8)
            #expect(given == "delete\n\(offer)\n")
        }
        // All at once, with those that have no first letter.
        try terminal.type("hand delete ", in: terminal.first)
        try terminal.press("Tab", "Tab", "C-u", in: terminal.first)
        try terminal.type("touch done", in: terminal.first)
        try terminal.press("Enter", in: terminal.first)
        #expect(eventually { FileManager.default.fileExists(atPath: folder.path + "/done") })
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/EVIL"))
    }

    /// A malicious server's names are not even offered.
    @Test(arguments: Shell.allCases) func namesOfAMaliciousServerAreNotOffered(_ shell: Shell) throws {
        let folder = try TemporaryFolder()
        let marks = ["qqqqqqqqqqqqqqqqqqqqqq", "rrrrrrrrrrrrrrrrrrrrrr", "ssssssssssssssssssssss"]
        let names = ["q$(touch EVIL);ls      ", "r`touch EVIL`\n$(ls)   ", "s\u{1B}[2J\u{9B}31m\u{202E}'\"\\   "]
        let user = try CommandUser("ada", ["--listen", "127.0.0.1:0"])
        for name in marks + ["tulips"] { try user.hand("create", name) }
        var faults = Faults()
        for (mark, name) in zip(marks, names) {
            faults.down.replaced[Array(mark.utf8)] = Array((name + "      ").utf8.prefix(22))
        }
        let proxy = try FaultyProxy(to: try user.server.tcpAddress(), seed: 1, faults: faults)
        var environment = user.environment
        environment["HAND_URL"] = "hand://\(proxy.address)"
        #expect(try Binary.run(["lists", "--json"], environment: environment).output.contains("$(touch EVIL)"))
        let terminal = try Self(user: user, environment).terminal(
            shell, in: folder, path: URL(fileURLWithPath: Binary.path).deletingLastPathComponent().path)
        for words in ["hand delete q", "hand ls -l r", "hand rename s", "hand ls -l "] {
            try terminal.type(words, in: terminal.first)
            try terminal.press("Tab", in: terminal.first)
            // A busy server does not answer in time for the first one. A shell draws nothing while keys wait.
            if words.hasSuffix(" ") {
                var looks = 0
                #expect(
                    try eventually {
                        looks += 1
                        if looks.isMultiple(of: 300) { try terminal.press("Tab", in: terminal.first) }
                        return try terminal.screen(terminal.first).joined().contains("-l tulips")
                    }, "\((try? terminal.screen(terminal.first)) ?? [])")
            }
            try terminal.press("C-u", in: terminal.first)
        }
        // More keys than were needed may still wait in the terminal.
        #expect(
            try eventually {
                try terminal.press("C-c", in: terminal.first)
                try terminal.type("touch done", in: terminal.first)
                try terminal.press("Enter", in: terminal.first)
                return FileManager.default.fileExists(atPath: folder.path + "/done")
            })
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/EVIL"))
    }

    private init(user: CommandUser, _ environment: [String: String]) {
        self.user = user
        self.user.environment = environment
    }
}
