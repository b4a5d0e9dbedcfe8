import Foundation
import HandTestSupport
import Testing

/// The programs in `Sources/Examples`, together with people who use the command.
@Suite(.serialized) struct ExamplesTests {
    private let user: CommandUser
    private var address: String { "hand+unix://\(user.server.socket)" }

    init() throws {
        user = try CommandUser()
        try user.hand("create", "list")
    }

    /// An example program that runs until the test is over.
    private final class Running {
        private let process = Process()

        init(_ name: String, _ arguments: [String], environment: [String: String] = [:]) throws {
            process.environment = outerEnvironment.merging(environment) { $1 }
            process.executableURL = URL(filePath: Binary.path).deletingLastPathComponent().appending(path: name)
            process.arguments = arguments
            try process.run()
        }

        deinit {
            if process.isRunning { kill(process.processIdentifier, SIGKILL) }
            process.waitUntilExit()
        }

        var isRunning: Bool { process.isRunning }
    }

    /// Waits until a condition holds, at most a minute.
    private func wait(until isSo: () throws -> Bool) throws {
        for _ in 0..<600 {
            if try isSo() { return }
            usleep(100_000)
        }
        Issue.record("the expected list does not appear: \(try user.lines())")
    }

    @Test func theBotTicksWhatContainsTheWord() throws {
        let bot = try Running("tick-bot", [address, "list", "milk"])
        try user.hand("add", "milk", "bread", "oat milk")
        try wait { try user.lines() == ["[x] milk", "[ ] bread", "[x] oat milk"] }
        try user.hand("edit", "2", "bread and milk")
        try wait { try user.lines() == ["[x] milk", "[x] bread and milk", "[x] oat milk"] }
        #expect(bot.isRunning)
    }

    @Test func theMirrorWorksInBothDirections() throws {
        try user.hand("add", "milk", "bread")
        let file = user.server.folder.path + "/list.md"
        func text() -> String { (try? String(contentsOfFile: file, encoding: .utf8)) ?? "" }
        let mirror = try Running("markdown-mirror", [address, "list", file])
        try wait { text() == "- [ ] milk\n- [ ] bread\n" }
        let ids = try user.hand("ls", "--json")
        try user.hand("done", "1")
        try wait { text() == "- [x] milk\n- [ ] bread\n" }
        try "# Today\n- [x] milk\n- [ ] brown bread\n- eggs\n".write(toFile: file, atomically: true, encoding: .utf8)
        try wait { try user.lines().count == 4 }
        #expect(try user.lines().dropFirst() == ["[x] milk", "[ ] brown bread", "eggs"])
        // A changed line is still the same item.
        let bread = try #require(ids.firstMatch(of: #/"id":"([0-9a-z]+)"[^{}]*"bread"/#)?.1)
        #expect(try user.hand("ls", "--json").contains(bread))
        try user.hand("rm", "2")
        try wait { text() == "# Today\n- [ ] brown bread\n- eggs\n" }
        #expect(mirror.isRunning)
    }

    /// An editor that empties the file, or moves it away, before it writes deletes nothing. A link keeps its address.
    @Test func theMirrorWaitsForTheEditor() throws {
        try user.hand("add", "milk", "bread")
        try user.hand("add", "bakery", "--link", "https://example.org/")
        let file = user.server.folder.path + "/list.md"
        func text() -> String { (try? String(contentsOfFile: file, encoding: .utf8)) ?? "" }
        let mirror = try Running("markdown-mirror", [address, "list", file])
        let all = "- [ ] milk\n- [ ] bread\n- bakery\n"
        try wait { text() == all }
        for empties in [true, false] {
            if empties { try "".write(toFile: file, atomically: false, encoding: .utf8) } else { unlink(file) }
            // The mirror looks ten times a second, and these commands take longer than it needs to delete something.
            for _ in 0..<5 { #expect(try user.lines().count == 3) }
            try all.write(toFile: file, atomically: false, encoding: .utf8)
        }
        try all.replacing("bakery", with: "the bakery").write(toFile: file, atomically: false, encoding: .utf8)
        try wait { try user.hand("ls", "--json").contains("the bakery") }
        let items = try user.hand("ls", "--json")
        #expect(items.contains("https://example.org/"), "\(items)")
        #expect(mirror.isRunning)
    }

    /// Somebody saves the file, once or twice, when the mirror is about to replace it. Nothing is lost.
    @Test(arguments: [1, 2]) func theMirrorKeepsWhatIsSavedInBetween(saves: Int) throws {
        try user.hand("add", "milk")
        let folder = user.server.folder.path
        let (file, code, library) = (folder + "/list.md", folder + "/late.c", folder + "/late.so")
        func text() -> String { (try? String(contentsOfFile: file, encoding: .utf8)) ?? "" }
        // Is loaded before the C library. Saves as editors do, by renaming, before the next calls of `renameat2`.
        try """
        #define _GNU_SOURCE
        #include <stdio.h>
        #include <stdlib.h>
        #include <sys/syscall.h>
        #include <unistd.h>
        int renameat2(int from, const char *old, int to, const char *new, unsigned flags) {
            if (rename("\(file).late", "\(file)") == 0 && \(saves) == 2)
                rename("\(file).later", "\(file).late");
            return syscall(SYS_renameat2, from, old, to, new, flags);
        }
        """.write(toFile: code, atomically: true, encoding: .utf8)
        try #require(
            Binary.run(["clang", "-shared", "-fPIC", "-o", library, code], program: "/usr/bin/env").status == 0)
        let mirror = try Running("markdown-mirror", [address, "list", file], environment: ["LD_PRELOAD": library])
        try wait { text() == "- [ ] milk\n" }
        try "- [ ] milk\n- early\n".write(toFile: file + ".later", atomically: true, encoding: .utf8)
        try "- [ ] milk\n- late\n".write(toFile: file + ".late", atomically: true, encoding: .utf8)
        try user.hand("add", "bread")
        let saved = saves == 1 ? "late" : "early"
        try wait { try Set(user.lines()) == ["[ ] milk", saved, "[ ] bread"] }
        try wait { text().split(separator: "\n").count == 3 }
        #expect(mirror.isRunning)
    }

    @Test func aTableNeedsADeck() throws {
        let outcome = try example("five-cards", [address, "list", "1"])
        #expect(outcome.status == 1 && outcome.messages.contains("'list' is no table for five cards"), "\(outcome)")
        #expect(try user.lines() == [])
    }

    @Test(arguments: ["tick-bot", "markdown-mirror", "five-cards"]) func failuresHaveOneLine(name: String) throws {
        let last = name == "five-cards" ? "1" : user.server.folder.path + "/file"
        var wrong = ["http://example.org", "list", last]
        for _ in 0..<2 {
            // Five cards makes a missing list.
            if name == "five-cards", wrong[1] == "missing" { wrong[0] = "hand+unix:///nowhere/hand.sock" }
            let outcome = try example(name, wrong)
            #expect(outcome.status == 1, "\(outcome)")
            #expect(outcome.messages.hasPrefix("\(name): ") && outcome.messages.count { $0 == "\n" } == 1, "\(outcome)")
            wrong = [address, "missing", last]
        }
    }

    private func example(_ name: String, _ arguments: [String]) throws -> Binary.Outcome {
        try Binary.run(
            arguments, program: URL(filePath: Binary.path).deletingLastPathComponent().appending(path: name).path)
    }

    @Test func theBotsPlayToAFlush() throws {
        let outcome = try Binary.run(
            [address, "table", "3"],
            program: URL(filePath: Binary.path).deletingLastPathComponent().appending(path: "five-cards").path)
        #expect(outcome.status == 0, "\(outcome.messages)")
        let cards = outcome.output.split(whereSeparator: \.isWhitespace)
        #expect(cards.count == 5 && Set(cards).count == 5 && Set(cards.map(\.last)).count == 1, "\(outcome.output)")
        #expect(try user.hand("verify", "--data", user.server.folder.path + "/data").contains("sound"))
    }

    @Test(arguments: ["tick-bot", "markdown-mirror", "five-cards"]) func examplesPrintTheirUsage(name: String) throws {
        let program = URL(filePath: Binary.path).deletingLastPathComponent().appending(path: name).path
        let outcome = try Binary.run([], program: program)
        #expect(outcome.status == 2 && outcome.messages.hasPrefix("usage: \(name) ADDRESS LIST "))
    }
}
