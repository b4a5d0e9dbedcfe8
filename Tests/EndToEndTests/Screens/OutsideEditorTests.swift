import Foundation
import HandTestSupport
import Testing

/// The user's own editor, opened from the screen of `hand open` in a real terminal. A script that obeys commands from
/// the terminal plays the editor.
@Suite(.serialized) struct OutsideEditorTests {
    let server: RunningServer
    let folder: String
    let environment: [String: String]

    init() throws {
        server = try RunningServer(try TemporaryFolder())
        folder = server.folder.path
        environment = [
            "HAND_URL": "hand+unix://\(server.socket)/list", "XDG_STATE_HOME": folder + "/state",
            "XDG_CONFIG_HOME": folder + "/config", "TMPDIR": folder + "/tmp", "VISUAL": "  ",
            "EDITOR": "'\(folder)/an editor' --flag",
        ]
        try FileManager.default.createDirectory(atPath: folder + "/tmp", withIntermediateDirectories: true)
        let script = """
            #!/bin/sh
            trap 'echo interrupted' INT
            trap 'echo quit' QUIT
            echo "open: $1 file $(stat -c %a "$2") folder $(stat -c %a "${2%/*}") name ${2##*/}"
            sed 's/^/given: /' "$2"
            while true; do
                # A signal ends the reading, and so does a terminal that is gone. The shell tests
                # that itself: a signal would end a program that does.
                read -r word text || { [ -t 0 ] || exit 1; continue; }
                case $word in
                size) stty size | sed 's/^/size /' ;;
                set) printf "$text" > "$2" ;;
                # What the next editor shows is not to be taken for what this one has shown.
                end) printf '\\033[2J\\033[H'; exit "$text" ;;
                kill) printf '\\033[2J\\033[H'; kill -9 $$ ;;
                gone) rm "$2" ;;
                esac
                echo "did $word"
            done
            """
        let path = folder + "/an editor"
        try script.write(toFile: path, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    }

    @discardableResult
    private func hand(_ arguments: String...) throws -> String {
        try Binary.run(arguments, environment: environment).output
    }

    private func enter(_ line: String, _ tmux: Tmux) throws {
        try tmux.type(line, in: tmux.first)
        try tmux.press("Enter", in: tmux.first)
    }

    private func wait(_ tmux: Tmux, for text: String...) throws {
        try tmux.wait(for: tmux.first) { screen in text.allSatisfy { word in screen.contains { $0.contains(word) } } }
    }

    /// Returns a terminal with a shell, in which the list is open and the only item is being edited.
    private func editing(_ settings: String = "") throws -> Tmux {
        let tmux = try Tmux(environment: environment, "/bin/sh")
        try tmux.wait(for: tmux.first) { ["#", "$"].contains($0.last { !$0.isEmpty } ?? "") }
        try enter("stty -g > \(folder)/before; \(settings) \(Binary.path) open --as ada", tmux)
        try tmux.wait(for: tmux.first) { ScreenTests.isSynced($0) && ScreenTests.items($0).count == 1 }
        try tmux.press("e", in: tmux.first)
        try wait(tmux, for: "✎ ")
        return tmux
    }

    /// Leaves the screen; the shell's terminal is as before, and no files remain.
    private func leave(_ tmux: Tmux, files: Int = 0) throws {
        try tmux.press("Q", in: tmux.first)
        try tmux.wait(for: tmux.first) { ["#", "$"].contains($0.last { !$0.isEmpty } ?? "") }
        try enter("echo status $?; stty -g > \(folder)/after; echo done", tmux)
        try tmux.wait(for: tmux.first) { $0.contains { $0.hasSuffix("status 0") } && $0.contains("done") }
        let modes = try ["before", "after"].map { try String(contentsOfFile: "\(folder)/\($0)", encoding: .utf8) }
        #expect(modes[0] == modes[1] && !modes[0].isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder + "/tmp").count == files)
    }

    @Test func severalLinesAreTypedAndSaved() throws {
        try hand("create", "list")
        try hand("add", "milk")
        let tmux = try editing()
        try tmux.type(" 2 l", in: tmux.first)
        try tmux.press("M-Enter", in: tmux.first)
        try tmux.type("漢字", in: tmux.first)
        try wait(tmux, for: "✎ milk 2 l", "     漢字")
        try tmux.paste("\none\ttwo", in: tmux.first)
        try wait(tmux, for: "     one two")
        try tmux.press("Up", "Up", "End", in: tmux.first)
        try tmux.type("!", in: tmux.first)
        try wait(tmux, for: "✎ milk 2 l!")
        try tmux.press("Enter", in: tmux.first)
        try tmux.wait(for: tmux.first) { ScreenTests.isSynced($0) && !$0.joined().contains("✎") }
        #expect(try hand("ls", "--json").contains(#""milk 2 l!\n漢字\none two""#))
        try leave(tmux)
    }

    /// Somebody edits in the meantime, the window changes its size, and the text that the editor saved is merged with
    /// that.
    @Test func theEditorsTextIsMerged() throws {
        try hand("create", "list")
        try hand("add", "milk")
        let tmux = try editing()
        try tmux.type(" 2", in: tmux.first)
        try tmux.press("C-o", in: tmux.first)
        try wait(tmux, for: "open: --flag file 600 folder 700 name task.txt", "given: milk 2")
        // The editor gets the terminal's own keys. A signal just before it reads is noticed at the next line.
        try tmux.press("C-c", "Enter", in: tmux.first)
        try wait(tmux, for: "interrupted")
        try tmux.send("\u{1C}\r", in: tmux.first)
        try wait(tmux, for: "quit")
        try hand("edit", "1", "oat milk")
        try tmux.resize(rows: 20, columns: 70)
        try enter("size", tmux)
        try wait(tmux, for: "size 20 70")
        try enter("set milk 2 l\\nbread\\n", tmux)
        try enter("end 0", tmux)
        try tmux.wait(for: tmux.first) { screen in
            screen.count == 20 && ScreenTests.isSynced(screen) && screen.contains { $0.contains("✎ oat milk 2 l") }
                && screen.contains { $0.hasPrefix("     ") && $0.contains("bread") }
        }
        try tmux.press("Enter", in: tmux.first)
        try tmux.wait(for: tmux.first) { ScreenTests.isSynced($0) && !$0.joined().contains("✎") }
        #expect(try hand("ls", "--json").contains(#""oat milk 2 l\nbread""#))
        try leave(tmux)
    }

    /// Keys that arrive together with ctrl-o are meant neither for the field afterwards nor for a later screen, and so
    /// are those that come with ctrl-z.
    @Test func keysThatComeWithTheLastOneAreNotTypedLater() throws {
        try hand("create", "list")
        try hand("add", "milk")
        let tmux = try editing()
        for round in 1...2 {
            try tmux.send("\u{0F}zz\r", in: tmux.first)
            try wait(tmux, for: "given: milk")
            try enter("set milk \(round)\\n", tmux)
            try enter("end 0", tmux)
            try tmux.wait(for: tmux.first) {
                ScreenTests.isSynced($0) && $0.contains { $0.contains("✎ milk \(round)") }
            }
        }
        try tmux.send("!", in: tmux.first)
        try wait(tmux, for: "✎ milk 2!")
        try tmux.press("Enter", in: tmux.first)
        try tmux.wait(for: tmux.first) { ScreenTests.isSynced($0) && !$0.joined().contains("✎") }
        try tmux.send("\u{1A}d", in: tmux.first)
        try tmux.wait(for: tmux.first) { $0.joined().contains("Stopped") }
        try enter("fg", tmux)
        try tmux.wait(for: tmux.first) { ScreenTests.isSynced($0) && ScreenTests.items($0).count == 1 }
        try leave(tmux)
        #expect(try hand("ls").contains("milk 2!"))
    }

    /// An editor that fails is reported; the text typed earlier is in the field, and the text that the editor saved is
    /// in its file.
    @Test func aFailingEditorIsReported() throws {
        try hand("create", "list")
        try hand("add", "milk")
        let tmux = try editing()
        try tmux.type(" typed", in: tmux.first)
        func open() throws {
            try tmux.press("C-o", in: tmux.first)
            try wait(tmux, for: "given: milk typed")
        }
        for (orders, told) in [
            (["end 3"], "ended with status 3; your text is as it was"), (["gone", "end 0"], "has removed its file"),
            (["kill"], "was ended by signal 9"), (["set caf\\351", "end 0"], "is not UTF-8"),
            (["set other words", "end 1"], "ended with status 1; what it saved is in"),
        ] {
            try open()
            for order in orders { try enter(order, tmux) }
            try tmux.wait(for: tmux.first) { screen in
                let text = screen.joined().replacing(" ", with: "")
                return text.contains(told.replacing(" ", with: "")) && screen.contains { $0.contains("✎ milk typed") }
            }
        }
        let kept = try FileManager.default.contentsOfDirectory(atPath: folder + "/tmp").map {
            try Data(contentsOf: URL(filePath: "\(folder)/tmp/\($0)/task.txt"))
        }
        #expect(Set(kept) == [Data([0x63, 0x61, 0x66, 0xE9]), Data("other words".utf8)])
        try tmux.press("Enter", in: tmux.first)
        try tmux.wait(for: tmux.first) { ScreenTests.isSynced($0) && ScreenTests.items($0) == ["[ ] milk typed"] }
        try leave(tmux, files: 2)
    }

    @Test(arguments: [
        ("EDITOR=/nowhere/at/all", "'/nowhere/at/all' was not found"), ("EDITOR= PATH=/nowhere", "no editor was found"),
        ("TMPDIR=/nowhere", "/nowhere"),
    ])
    func editorsThatCannotBeStartedAreReported(_ settings: String, _ told: String) throws {
        try hand("create", "list")
        try hand("add", "milk")
        let tmux = try editing(settings)
        try tmux.type(" typed", in: tmux.first)
        try tmux.press("C-o", in: tmux.first)
        try wait(tmux, for: told, "✎ milk typed")
        try tmux.press("Escape", in: tmux.first)
        try tmux.wait(for: tmux.first) { !$0.joined().contains("✎") }
        try leave(tmux)
    }

    /// The editor is suspended with everything that the shell started, and continues with it.
    @Test func theShellSuspendsBoth() throws {
        try hand("create", "list")
        try hand("add", "milk")
        let tmux = try editing()
        try tmux.press("C-o", in: tmux.first)
        try wait(tmux, for: "given: milk")
        try tmux.press("C-z", in: tmux.first)
        try tmux.wait(for: tmux.first) { $0.joined().contains("Stopped") }
        try enter("fg", tmux)
        try enter("set bread", tmux)
        try wait(tmux, for: "did set")
        try enter("end 0", tmux)
        try tmux.wait(for: tmux.first) { ScreenTests.isSynced($0) && $0.contains { $0.contains("✎ bread") } }
        try tmux.press("Enter", in: tmux.first)
        try tmux.wait(for: tmux.first) { ScreenTests.isSynced($0) && ScreenTests.items($0) == ["[ ] bread"] }
        try leave(tmux)
    }

    /// Ending the program also ends the editor; the text that it saved is kept.
    @Test func theProgramEndsWhileTheEditorIsOpen() throws {
        try hand("create", "list")
        try hand("add", "milk")
        let tmux = try editing("sh -c 'echo $$ > \(folder)/pid; exec \"$@\"' x")
        try tmux.press("C-o", in: tmux.first)
        try wait(tmux, for: "given: milk")
        try enter("set half a novel", tmux)
        try wait(tmux, for: "did set")
        let pid = try String(contentsOfFile: folder + "/pid", encoding: .utf8)
        _ = try Binary.run([pid.trimmingCharacters(in: .whitespacesAndNewlines)], program: "/bin/kill")
        try wait(tmux, for: "what it has saved is in")
        let left = try FileManager.default.contentsOfDirectory(atPath: folder + "/tmp")
        #expect(try String(contentsOfFile: "\(folder)/tmp/\(left[0])/task.txt", encoding: .utf8) == "half a novel")
    }
}
