import Foundation
import HandCore
import HandTestSupport
import Testing

/// Real terminals, the real binary, a real server.
@Suite(.serialized) struct ScreenTests {
    let server: RunningServer
    let environment: [String: String]

    init() throws {
        server = try RunningServer(try TemporaryFolder())
        environment = [
            "HAND_URL": "hand+unix://\(server.socket)/list", "XDG_STATE_HOME": server.folder.path + "/state",
            "XDG_CONFIG_HOME": server.folder.path + "/config",
        ]
    }

    private func hand(_ arguments: String...) throws -> String {
        try Binary.run(arguments, environment: environment).output
    }

    /// Returns the texts of the items on a screen, without numbers, marks and people.
    static func items(_ screen: [String]) -> [String] {
        screen.dropFirst().dropLast(2).compactMap { line in
            guard let box = line.range(of: "[ ] ") ?? line.range(of: "[x] ") else { return nil }
            let text = line[box.upperBound...].prefix { $0 != "◂" && $0 != "✎" }
            return String(line[box].prefix(3)) + " " + text.trimmingCharacters(in: .whitespaces)
        }
    }

    static func isSynced(_ screen: [String]) -> Bool { screen.last?.contains("synced") ?? false }

    @Test func threeTerminalsOneListAndAServerThatIsKilled() throws {
        _ = try hand("create", "list")
        let names = ["ada", "bob", "cleo"]
        let commands = names.map { "\(Binary.path) open --as \($0)" }
        let tmux = try Tmux(environment: environment, commands[0])
        let panes = [tmux.first, try tmux.open(commands[1]), try tmux.open(commands[2])]
        for pane in panes { try tmux.wait(for: pane) { Self.isSynced($0) && $0.last?.contains("3 people") == true } }

        // Everybody types at the same time; the keys reach the terminals interleaved.
        for pane in panes { try tmux.press("a", in: pane) }
        for round in 1...3 {
            for (name, pane) in zip(names, panes) {
                try tmux.type("\(name) \(round)", in: pane)
                try tmux.press("Enter", in: pane)
            }
        }
        for pane in panes { try leaveField(tmux, pane) }
        try agree(tmux, panes, count: 9)

        server.kill()
        for pane in panes { try tmux.wait(for: pane) { $0.last?.contains("offline") ?? false } }
        try tmux.press("g", "g", "Space", in: panes[0])
        try tmux.press("g", "g", "J", in: panes[1])
        try tmux.press("G", "d", in: panes[2])
        try tmux.press("o", in: panes[2])
        try tmux.type("written offline", in: panes[2])
        try tmux.press("Enter", in: panes[2])
        try leaveField(tmux, panes[2])
        try tmux.wait(for: panes[0]) { $0.last?.contains("offline, 1 queued") ?? false }
        try tmux.wait(for: panes[2]) { $0.last?.contains("offline, 2 queued") ?? false }

        try server.start()
        let list = try agree(tmux, panes, count: 9)
        #expect(list.contains("[ ] written offline"))
        #expect(list.filter { $0.hasPrefix("[x]") }.count == 1)

        // The screens show the server's list.
        let stored = try hand("ls").split(separator: "\n").map { String($0.drop { $0 != "[" }) }
        #expect(stored == list)
        for pane in panes { try tmux.press("Q", in: pane) }
    }

    /// Stops adding items, and waits until the screen shows that: a key right after Esc would be taken as one with Alt.
    private func leaveField(_ tmux: Tmux, _ pane: String) throws {
        try tmux.press("Escape", in: pane)
        // A screen that is being drawn has neither.
        try tmux.wait(for: pane) { $0.joined().contains("o add") && !$0.joined().contains("+ task ▸") }
    }

    /// Waits until all terminals show the same list, saved. Returns it.
    @discardableResult
    private func agree(_ tmux: Tmux, _ panes: [String], count: Int) throws -> [String] {
        while true {
            let lists = try panes.map { pane in
                Self.items(try tmux.wait(for: pane) { Self.isSynced($0) && Self.items($0).count == count })
            }
            if Set(lists).count == 1 { return lists[0] }
        }
    }

    /// What somebody folds stays folded in the next run, and only for that person.
    @Test func foldsOutliveTheProgram() throws {
        for arguments in [["create", "list"], ["add", "tent"], ["add", "pegs", "--level", "1"], ["add", "food"]] {
            _ = try Binary.run(arguments, environment: environment)
        }
        let command = "\(Binary.path) open --as"
        let tmux = try Tmux(environment: environment, "\(command) bob")
        try tmux.wait(for: tmux.first, until: Self.isSynced)
        func open(_ isExpected: @escaping ([String]) -> Bool) throws -> String {
            let pane = try tmux.open("\(command) ada")
            try tmux.wait(for: pane) { Self.isSynced($0) && isExpected($0) }
            return pane
        }
        func press(_ keys: String..., in pane: String) throws {
            for key in keys { try tmux.press(key, in: pane) }
            // The journal, which keeps the folds, is free again once the program has ended.
            #expect(try eventually { try !tmux.panes().contains(pane) })
        }
        func isFolded(_ screen: [String]) -> Bool { screen[1].contains("[ ] tent  1 hidden, 0 of 1 done") }
        // The journal may not have told yet what was folded before.
        try press("z", "Q", in: try open { Self.items($0).count == 3 })
        let second = try open(isFolded)
        #expect(try Self.items(tmux.wait(for: tmux.first, until: Self.isSynced)).count == 3)
        try tmux.press("z", in: second)
        try tmux.wait(for: second) { Self.items($0).count == 3 }
        try press("Q", in: second)
        try press("Q", in: try open { Self.items($0).count == 3 })
        try tmux.press("Q", in: tmux.first)
    }

    /// Everybody sees who has an item's editor open: until it is closed, through an outage, and not once that terminal
    /// is gone.
    @Test func editingIsVisibleToOthers() throws {
        _ = try hand("create", "list")
        _ = try hand("add", "milk")
        // Started by a shell, like the program that is killed below.
        let tmux = try Tmux(environment: environment, "\(Binary.path) open --as ada; true")
        let (ada, bob) = (tmux.first, try tmux.open("\(Binary.path) open --as bob"))
        func bobSees(_ text: String) throws {
            try tmux.wait(for: bob) { Self.isSynced($0) && $0[1].hasSuffix(text) }
        }
        try bobSees(" ◂ada")
        try tmux.press("e", in: ada)
        try bobSees(" ✎ ada")
        #expect(try hand("who").contains("ada\tedits 1: [ ] milk"))
        try tmux.type(" 2 l", in: ada)
        try tmux.press("Enter", in: ada)
        try bobSees(" ◂ada")
        try tmux.wait(for: bob) { $0[1].contains("milk 2 l") }

        try tmux.press("e", in: ada)
        try bobSees(" ✎ ada")
        server.kill()
        for pane in [ada, bob] { try tmux.wait(for: pane) { $0.last?.contains("offline") ?? false } }
        #expect(!(try tmux.screen(bob).joined().contains("ada")))
        try server.start()
        try bobSees(" ✎ ada")
        try tmux.killProgram(in: ada)
        try bobSees("milk 2 l")
    }

    @Test func withoutAServerTheKeptListIsOpened() throws {
        _ = try hand("create", "list")
        _ = try hand("add", "kept on this machine")
        let command = "\(Binary.path) open --as ada"
        do {
            let tmux = try Tmux(environment: environment, command)
            try tmux.wait(for: tmux.first) { Self.isSynced($0) && Self.items($0).count == 1 }
            server.kill()
            try tmux.wait(for: tmux.first) { $0.last?.contains("offline") ?? false }
            try tmux.press("o", in: tmux.first)
            try tmux.type("edited offline", in: tmux.first)
            try tmux.press("Enter", in: tmux.first)
            try leaveField(tmux, tmux.first)
            try tmux.wait(for: tmux.first) { $0.last?.contains("1 queued") ?? false }
            // The whole terminal disappears at once.
        }
        let tmux = try Tmux(rows: 10, columns: 40, environment: environment, command)
        let screen = try tmux.wait(for: tmux.first) { $0.last?.contains("1 queued") ?? false }
        #expect(Self.items(screen) == ["[ ] kept on this machine", "[ ] edited offline"])
        try server.start()
        try tmux.wait(for: tmux.first, until: Self.isSynced)
        #expect(try hand("ls").contains("edited offline"))
    }

    /// Even if all of it arrives in one turn of the loop: the loading notice disappears once the list is complete.
    @Test func aCompleteLongListIsNotShownAsLoading() throws {
        let file = server.folder.path + "/long.txt"
        try (0..<100_000).map { "item \($0)\n" }.joined().write(toFile: file, atomically: true, encoding: .utf8)
        _ = try hand("create", "list")
        _ = try hand("import", file)
        let tmux = try Tmux(environment: environment, "\(Binary.path) open --as newcomer")
        let screen = try tmux.wait(for: tmux.first, until: Self.isSynced)
        #expect(screen[0].contains("100000 items") && !screen[0].contains("loading"), "\(screen[0])")
    }

    private func isAtPrompt(_ screen: [String]) -> Bool { ["#", "$"].contains(screen.last { !$0.isEmpty } ?? "") }

    /// Starts a shell, and makes it print its terminal's settings.
    private func shell() throws -> Tmux {
        let tmux = try Tmux(environment: environment, "/bin/sh")
        try tmux.wait(for: tmux.first, until: isAtPrompt)
        try enter("stty -g > \(server.folder.path)/before", tmux)
        return tmux
    }

    /// Makes a shell run a command, without waiting for its end.
    private func enter(_ command: String, _ tmux: Tmux) throws {
        try tmux.type(command, in: tmux.first)
        try tmux.press("Enter", in: tmux.first)
    }

    /// Leaves the screen: the shell's terminal is as before.
    private func leave(_ tmux: Tmux) throws {
        try tmux.press("Q", in: tmux.first)
        try tmux.wait(for: tmux.first, until: isAtPrompt)
        try enter("echo status $?; stty -g > \(server.folder.path)/after; echo done", tmux)
        try tmux.wait(for: tmux.first) { $0.contains { $0.hasSuffix("status 0") } && $0.contains("done") }
        let modes = try ["before", "after"].map {
            try String(contentsOfFile: "\(server.folder.path)/\($0)", encoding: .utf8)
        }
        #expect(modes[0] == modes[1] && !modes[0].isEmpty)
    }

    @Test func theTerminalIsRestored() throws {
        _ = try hand("create", "list")
        let tmux = try shell()
        try enter("\(Binary.path) open --as ada", tmux)
        try tmux.wait(for: tmux.first, until: Self.isSynced)
        try tmux.press("C-z", in: tmux.first)
        try tmux.wait(for: tmux.first) { isAtPrompt($0) && $0.joined().contains("Stopped") }
        // The window is resized while the screen is suspended, and while it is visible.
        try tmux.resize(rows: 20, columns: 70)
        try enter("fg", tmux)
        try tmux.wait(for: tmux.first) { $0.count == 20 && Self.isSynced($0) }
        try tmux.resize(rows: 12, columns: 60)
        try tmux.wait(for: tmux.first) { $0.count == 12 && Self.isSynced($0) }
        try leave(tmux)
    }

    /// Whoever sends the signal, the shell gets its terminal back.
    @Test func theTerminalIsRestoredWhoeverStopsIt() throws {
        _ = try hand("create", "list")
        let tmux = try shell()
        let file = server.folder.path + "/pid"
        try enter("sh -c 'echo $$ > \(file); exec \(Binary.path) open --as ada'", tmux)
        try tmux.wait(for: tmux.first, until: Self.isSynced)
        let text = try String(contentsOfFile: file, encoding: .utf8)
        let process = try #require(Int32(text.trimmingCharacters(in: .whitespacesAndNewlines)))
        for _ in 1...3 {
            kill(process, SIGTSTP)
            try tmux.wait(for: tmux.first) { isAtPrompt($0) && $0.joined().contains("Stopped") }
            try enter("clear; fg", tmux)
            try tmux.wait(for: tmux.first, until: Self.isSynced)
        }
        // This cannot be noticed: the shell gets the terminal as it is, and the screen takes it back later.
        kill(process, SIGSTOP)
        try tmux.wait(for: tmux.first) { $0.joined().contains("Stopped (signal)") }
        try tmux.type("stty sane; fg", in: tmux.first)
        try tmux.press("C-j", in: tmux.first)
        try tmux.wait(for: tmux.first) { Self.isSynced($0) && !$0.joined().contains("Stopped") }
        try leave(tmux)
    }

    /// Both replace the same word without the server. The first to reconnect is overridden, is notified, and can
    /// restore its word.
    @Test func anOverriddenPersonIsNotified() throws {
        _ = try hand("create", "list")
        _ = try hand("add", "eggs")
        let tmux = try Tmux(environment: environment, "\(Binary.path) open --as ada")
        let panes = [tmux.first, try tmux.open("\(Binary.path) open --as bob")]
        for pane in panes { try tmux.wait(for: pane) { Self.isSynced($0) && $0.last?.contains("2 people") == true } }
        server.kill()
        for (pane, words) in zip(panes, ["ducks", "hens"]) {
            try tmux.wait(for: pane) { $0.last?.contains("offline") ?? false }
            try tmux.press("e", "C-u", in: pane)
            try tmux.type(words, in: pane)
            try tmux.press("Enter", in: pane)
            try tmux.wait(for: pane) { $0.last?.contains("1 queued") ?? false }
        }
        try server.start()
        let screens = try panes.map { pane in
            try tmux.wait(for: pane) { Self.isSynced($0) && $0.last?.contains(" r3 ") == true }
        }
        let told = screens.map { $0.contains { $0.contains(" overwrote '") } }
        #expect(told.filter { $0 }.count == 1)
        let loser = try #require(told.firstIndex(of: true))
        // The author's name may arrive a moment after the commit.
        let winner = ["ada", "bob"][1 - loser]
        try tmux.wait(for: panes[loser]) { $0.contains { $0.contains("\(winner) overwrote '") } }
        let mine = loser == 0 ? "[ ] ducks" : "[ ] hens"
        #expect(Self.items(screens[loser]) != [mine])
        try tmux.press("R", in: panes[loser])
        for pane in panes { try tmux.wait(for: pane) { Self.items($0) == [mine] && Self.isSynced($0) } }
    }

    @Test func theMousePastingAndWideCharacters() throws {
        _ = try hand("create", "list")
        _ = try hand("add", "漢字 🍊", "two", "three")
        let tmux = try Tmux(environment: environment, "\(Binary.path) open --as ada")
        let pane = tmux.first
        try tmux.wait(for: pane) { Self.isSynced($0) && Self.items($0).count == 3 }
        // A click on the second row, then the first row is dragged below it.
        try tmux.send("\u{1B}[<0;9;3M\u{1B}[<0;9;3m", in: pane)
        try tmux.wait(for: pane) { $0[2].hasPrefix("▸ 2 [ ] two") }
        try tmux.send("\u{1B}[<0;9;2M\u{1B}[<32;9;3M\u{1B}[<0;9;3m", in: pane)
        try tmux.wait(for: pane) { Self.items($0) == ["[ ] two", "[ ] 漢字 🍊", "[ ] three"] && Self.isSynced($0) }
        try tmux.press("G", in: pane)
        try tmux.paste("four\nfive", in: pane)
        let screen = try tmux.wait(for: pane) { Self.items($0).count == 5 && Self.isSynced($0) }
        #expect(Self.items(screen).suffix(2) == ["[ ] four", "[ ] five"])
        #expect(try hand("log", "-n", "1").contains("five"))
    }

    /// Edits that do not fit on one's own disk are not sent. They are sent once there is room; whoever leaves earlier
    /// is warned.
    @Test func aFullLocalDiskDelaysEdits() throws {
        _ = try hand("create", "list")
        let control = server.folder.path + "/control"
        func disk(_ fault: String) throws { try fault.write(toFile: control, atomically: true, encoding: .utf8) }
        try disk("")
        let tmux = try shell()
        try enter(
            "LD_PRELOAD=\(Built.faultyDisk) FAULTY_DISK_FOLDER=\(server.folder.path)/state FAULTY_DISK_CONTROL=\(control) "
                + "\(Binary.path) open --as ada; echo status $?", tmux)
        try tmux.wait(for: tmux.first, until: Self.isSynced)
        for text in ["one", "two"] {
            try disk("write ENOSPC")
            try tmux.press("o", in: tmux.first)
            try tmux.type(text, in: tmux.first)
            try tmux.press("Enter", in: tmux.first)
            try leaveField(tmux, tmux.first)
            try tmux.wait(for: tmux.first) { $0.last?.contains("disk refuses, 1 not sent") ?? false }
            #expect(try !hand("ls").contains(text))
            guard text == "one" else { break }
            try disk("")
            try tmux.wait(for: tmux.first, until: Self.isSynced)
            #expect(try hand("ls").contains("one"))
        }
        try tmux.press("Q", in: tmux.first)
        try tmux.wait(for: tmux.first) { $0.contains { $0.contains("Quit again to lose them") } }
        try tmux.press("Q", in: tmux.first)
        let screen = try tmux.wait(for: tmux.first) { $0.contains { $0.hasSuffix("status 1") } }
        #expect(screen.joined().contains("cannot be kept on disk"))
        #expect(!screen.joined().contains("to be sent"), "nothing waits")
    }

    /// tmux draws a joined family as one character, and a thumb and its skin tone as two.
    @Test func joinedEmojiAreDrawnAsTheTerminalDoes() throws {
        _ = try hand("create", "list")
        _ = try hand("add", "👩‍👩‍👧 family", "👍🏽 thumb")
        let tmux = try Tmux(environment: environment, "\(Binary.path) open --as ada")
        try tmux.wait(for: tmux.first) { Self.items($0).count == 2 && Self.isSynced($0) }
        try tmux.press("G", "o", in: tmux.first)
        try tmux.type("👩‍👩‍👦 typed", in: tmux.first)
        try tmux.press("Enter", in: tmux.first)
        try leaveField(tmux, tmux.first)
        let drawn = ["[ ] 👩‍👩‍👧 family", "[ ] 👍 thumb", "[ ] 👩‍👩‍👦 typed"]
        try tmux.wait(for: tmux.first) { Self.items($0) == drawn && Self.isSynced($0) }
        // An emoji with the same beginning replaces it, and so does that beginning alone.
        for text in ["👩‍👩‍👦 family", "👩 family"] {
            _ = try hand("edit", "1", text)
            try tmux.wait(for: tmux.first) { Self.items($0)[0] == "[ ] \(text)" && Self.isSynced($0) }
        }
    }

    @Test func aLinkLeadsToAnotherServer() throws {
        let other = try RunningServer(try TemporaryFolder())
        let there = "hand+unix://\(other.socket)/elsewhere"
        _ = try Binary.run(["create", "elsewhere", "--url", there], environment: environment)
        _ = try Binary.run(["add", "over there", "--url", there], environment: environment)
        _ = try hand("create", "list")
        _ = try hand("add", "the other list", "--link", there)
        let tmux = try Tmux(environment: environment, "\(Binary.path) open --as ada")
        try tmux.wait(for: tmux.first) { Self.isSynced($0) && $0.joined().contains("the other list") }
        try tmux.press("C-o", in: tmux.first)
        try tmux.wait(for: tmux.first) { Self.isSynced($0) && Self.items($0) == ["[ ] over there"] }
        try tmux.press("a", in: tmux.first)
        try tmux.type("from far away", in: tmux.first)
        try tmux.press("Enter", in: tmux.first)
        try leaveField(tmux, tmux.first)
        try tmux.wait(for: tmux.first) { Self.isSynced($0) && Self.items($0).count == 2 }
    }

    @Test func withoutColoursNoneAreUsed() throws {
        _ = try hand("create", "list")
        _ = try hand("add", "x", "--link", "https://example.org")
        for (value, isColored) in [("", true), ("1", false)] {
            let plain = environment.merging(["NO_COLOR": value]) { $1 }
            let tmux = try Tmux(environment: plain, "\(Binary.path) open --as ada")
            try tmux.wait(for: tmux.first, until: Self.isSynced)
            #expect(try tmux.colors(tmux.first) == isColored)
        }
    }

    @Test func theDemonstrationRuns() throws {
        let tmux = try Tmux(environment: environment, "\(Binary.path) demo")
        try tmux.wait(for: tmux.first) { Self.isSynced($0) && $0.joined().contains("Bob (scripted)") }
        try tmux.press("a", in: tmux.first)
        try tmux.type("something of mine", in: tmux.first)
        try tmux.press("Enter", in: tmux.first)
        try leaveField(tmux, tmux.first)
        try tmux.wait(for: tmux.first) { Self.isSynced($0) && Self.items($0).contains("[ ] something of mine") }
        try tmux.press("Q", in: tmux.first)
    }

    @Test func withoutATerminalItSaysWhatToDo() throws {
        let outcome = try Binary.run(["open"], environment: environment)
        #expect(outcome.status == 2)
        #expect(outcome.messages.contains("this needs a terminal"))
    }
}
