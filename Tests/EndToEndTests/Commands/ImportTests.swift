import Foundation
import HandTestSupport
import Testing

/// Files of all sorts go into lists, in portions, and out again.
@Suite struct ImportTests {
    let user: CommandUser

    init() throws {
        user = try CommandUser()
        try user.hand("create", "list")
    }

    private var folder: String { user.server.folder.path }

    private func file(_ name: String, _ text: String) throws -> String {
        try text.write(toFile: "\(folder)/\(name)", atomically: true, encoding: .utf8)
        return "\(folder)/\(name)"
    }

    // MARK: Portions

    /// Each portion of a large file has about a megabyte, not only the first one.
    @Test func portionsAreFilledToTheEnd() throws {
        let lines = (0..<3_500).map { "\($0) " + String(repeating: "x", count: 1_000) }
        let path = try file("large.txt", lines.joined(separator: "\n"))
        #expect(try user.messages("import", path) == "imported 3500 items, revision 4\n")
        #expect(try user.lines() == lines.map { "[ ] \($0)" })
    }

    // MARK: What cannot be imported

    /// What is wrong is found before anything is added, and its line is named.
    @Test func aLineThatDoesNotFitIsNamed() throws {
        let long = String(repeating: "x", count: 20_000)
        for (name, text, line) in [
            ("a.txt", "one\n\ntwo\n\(long)\nthree", 4), ("a.md", "# a\n\n- b\n- \(long)\n- c", 4),
            ("b.md", "- a\n\n```\n\(String(repeating: "x\n", count: 9_996))```\n", 3),
            (
                "a.jsonl",
                "{\"kind\":\"note\",\"text\":\"\",\"level\":0}\n{\"kind\":\"note\",\"text\":\"\(long)\",\"level\":0}", 2
            ),
        ] {
            let said = try user.hand("import", try file(name, text), expecting: 4)
            let what = "the item has 20000 bytes; this list takes at most 16384. Shorten it or split it."
            #expect(said == "hand: line \(line): \(what) Nothing was imported.\n")
        }
        try user.hand("create", "notes", "--kinds", "note")
        let path = try file("tasks.md", "- a\n- [ ] b\n")
        let refused = try user.hand("import", "-l", "notes", path, expecting: 4)
        #expect(refused == "hand: line 2: this list does not take items of kind task. Nothing was imported.\n")
        #expect(try user.hand("ls") + user.hand("ls", "-l", "notes") == "")
    }

    // MARK: Stopping and continuing

    private static func place(in said: String) throws -> String {
        String(try #require(said.firstMatch(of: #/--continue (\S+)\n$/#)).1)
    }

    /// An import that stopped says before which line, and goes on there. What is in the list is not added again.
    @Test(arguments: [[], ["--top"]]) func aStoppedImportIsContinued(place: [String]) throws {
        try user.hand("create", "small", "--max-items", "3000")
        let lines = (0..<4_100).map { "item \($0)" }
        let path = try file("items.txt", "\n" + lines.joined(separator: "\n"))
        let arguments = ["import", "-l", "small", path] + place
        let stopped = try user.run(arguments)
        #expect(stopped.status == 4)
        let stop = try Self.place(in: stopped.messages)
        #expect(
            stopped.messages == """
                hand: 2000 of 4100 items were imported, then: the list is full: it may hold 3000 items. Delete one first. \
                The import stopped before line 2002. To continue it: \
                hand \(arguments.joined(separator: " ")) --continue \(stop)

                """)
        let told = try user.run(arguments + ["--continue", stop, "--json"])
        #expect(told.output == "{\"imported\":2000,\"uncertain\":0,\"continue\":\"\(stop)\"}\n", "\(told)")
        // It stops in the third portion.
        try user.hand("create", "larger", "--max-items", "4050")
        let late = try user.run(["import", "-l", "larger", path] + place)
        #expect(late.messages.hasPrefix("hand: 4000 of 4100 items were imported"), "\(late.messages)")
        #expect(late.messages.contains("before line 4002. ") && late.messages.contains("--continue 4000-"))
        try user.hand("rm", "-l", "small", "1-1500", "-q")
        // As if the answer to the first portion, or to the second one, had been lost.
        for known in ["0", "2000"] {
            let place = stop.replacing("2000", with: known, maxReplacements: 1)
            let again = try user.run(arguments + ["--continue", place])
            #expect(again.status == 0, "\(again.messages)")
            #expect(again.messages.hasPrefix("imported \(known == "0" ? 2_100 : 0) items"), "\(again.messages)")
        }
        #expect(try user.lines("-l", "small") == lines[1_500...].map { "[ ] \($0)" })
    }

    /// A place of another import adds nothing.
    @Test(arguments: ["10-10", "2000-zzz", "4000-1"]) func anotherPlaceIsRefused(place: String) throws {
        let path = try file("items.txt", (0..<2_100).map { "item \($0)" }.joined(separator: "\n"))
        let told = try user.hand("import", path, "--continue", place, expecting: 3)
        #expect(told.contains("is not a place in this import") && told.contains("nothing was imported"), "\(told)")
        #expect(try user.hand("ls") == "")
    }

    /// A signal ends an import, also while it waits for the server; it tells where, and ends by the signal.
    @Test func anInterruptedImportSaysWhere() throws {
        let path = try file("items.txt", "a\nb\n")
        user.server.signal(SIGSTOP)
        defer { user.server.signal(SIGCONT) }
        let command = try RunningCommand(["import", path, "--timeout", "600"], user.environment, "\(folder)/said")
        let status = "/proc/\(command.process.processIdentifier)/status"
        let catches = try eventually {
            try String(contentsOfFile: status, encoding: .utf8).firstMatch(of: #/SigCgt:\t([0-9a-f]+)/#)
                .flatMap { Int($0.1, radix: 16) }.map { $0 & (1 << (SIGINT - 1)) != 0 } ?? false
        }
        #expect(catches)
        command.process.interrupt()
        let end = try command.end()
        user.server.signal(SIGCONT)
        #expect(end.messages == "hand: the import was interrupted. Nothing was imported.\n")
        #expect(command.process.terminationReason == .uncaughtSignal && end.status == SIGINT)
        #expect(try user.hand("ls") == "")
    }

    /// Without an answer nobody knows what was added. The import that continues finds out.
    @Test func anUnansweredPortionIsNotAddedTwice() throws {
        let path = try file("items.txt", "a\nb\n")
        user.server.kill()
        let said = try user.hand("import", path, "--timeout", "0.5", expecting: 6)
        #expect(!said.contains("--continue"))
        #expect(try user.run(["import", path, "--timeout", "0.5", "--json"]).output == "")
        try user.server.start()
        try user.hand("import", path, "--continue", "0-k3f9")
        try user.hand("import", path, "--continue", "0-k3f9")
        #expect(try user.lines() == ["[ ] a", "[ ] b"])
        #expect(try user.hand("import", path, "--continue", "nowhere", expecting: 2).contains("--continue"))
    }

    // MARK: Files of all sorts

    @Test func pipesAreReadToTheirEnd() throws {
        let text = (0..<20_000).map { "- [ ] item \($0)\n" }.joined()
        let path = try file("source", text)
        let pipe = "\(folder)/pipe.md"
        #expect(mkfifo(pipe, 0o600) == 0)
        let writer = Process()
        writer.executableURL = URL(fileURLWithPath: "/bin/sh")
        writer.arguments = ["-c", "cat '\(path)' > '\(pipe)'"]
        try writer.run()
        try user.hand("import", pipe, "-q")
        writer.waitUntilExit()
        #expect(try user.hand("export", "--format", "markdown") == text)
        try user.hand("create", "other")
        for name in ["/dev/stdin", "-"] {
            try user.hand("import", "-l", "other", name, "--format", "markdown", input: "- [ ] \(name)\n")
        }
        #expect(try user.lines("-l", "other") == ["[ ] /dev/stdin", "[ ] -"])
    }

    /// What an import leaves out is said; without an extension, the contents select the format.
    @Test func whatIsNotKeptIsSaid() throws {
        let task = #"[{"description":"Pay rent","due":"20261201T110000Z","priority":"H","status":"completed"}]"#
        #expect(
            try user.run(["import", "-"], input: task).messages == "imported 1 item, revision 1; not kept: priority\n")
        let path = try file("tasks.csv", "Title;Owner\nmilk;Bob\n")
        let said = try user.hand("import", path, "--json")
        #expect(said == #"{"imported":1,"revision":2,"notKept":["the column owner"]}"# + "\n")
        let lines = #"{"text":"taxes","due":"2026-12-01"}"# + "\n" + #"{"text":"rent","prio":1}"#
        try user.hand("create", "lines")
        #expect(
            try user.run(["import", "-l", "lines", "-"], input: lines).messages
                == "imported 2 items, revision 1; not kept: due, prio\n")
        #expect(try user.run(["import", "-l", "lines", "-"], input: "milk\nbread\n").status == 2)
        try user.hand("import", "-q", "--format", "markdown", "--tasks", "-", input: "- eggs\n")
        #expect(try user.lines() == ["[x] Pay rent due:2026-12-01", "[ ] milk", "[ ] eggs"])
        #expect(try user.hand("import", path, "--tasks", expecting: 2).contains("not for CSV"))
    }

    /// A file that cannot be taken is named, before anything is added.
    @Test func otherFilesAreNamed() throws {
        let org = try file("a.md", "* TODO milk\n")
        let start = "hand: \(org) is an Org file, not Markdown. Import it with --format org."
        #expect(try user.hand("import", org, expecting: 1) == start + " --force imports it as Markdown all the same.\n")
        // What is given is not guessed.
        try user.hand("create", "given")
        try user.hand("import", "-l", "given", "--format", "todotxt", "-", input: "* milk\n* TODO list\n")
        #expect(try user.lines("-l", "given") == ["[ ] * milk", "[ ] * TODO list"])
        let page = try file("a.html", "<html>")
        let reason = "is an HTML page, which cannot be imported. Copy its text into a file."
        #expect(try user.hand("import", page, expecting: 1) == "hand: \(page) \(reason)\n")
        let wide = "standard input is text in UTF-16, not todo.txt. Save it as text in UTF-8."
        let arguments = ["--format", "todotxt", "--force", "-"]
        #expect(try user.run(["import"] + arguments, input: "m\0i\0l\0k\0").messages == "hand: \(wide)\n")
        #expect(try user.hand("ls") == "")
        try user.hand("import", org, "--force", "-q")
        try user.hand("import", org, "--format", "org", "-q")
        #expect(try user.lines() == ["TODO milk", "[ ] milk"])
        let exported = try user.hand("export", "list.org", expecting: 2)
        #expect(exported.hasPrefix("hand: Org (.org) is only imported. Use --format: jsonl"), "\(exported)")
        #expect(try user.hand("export", "--format", "icalendar", expecting: 2).contains("iCalendar is only imported"))
    }

    /// A file that would come back as it is from an export is still not one: it is not overwritten without a question.
    @Test func othersFilesAreNotOverwritten() throws {
        for (name, text) in [
            ("a.md", "# Title\n\n- [ ] a\n"), ("b.md", "A paragraph.\n"), ("c.md", "- [ ] a\n\nb"),
            ("notes.md", "- my notes\n- more\n"), ("diary.txt", "Dear diary,\nthis is my only copy.\n"),
        ] {
            let path = try file(name, text)
            #expect(try user.hand("export", path, expecting: 1).contains("lines that would be lost"))
            #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
        }
        let path = try file("d.md", "## Dairy\n\n- [ ] milk\n")
        try user.hand("import", path, "-q")
        try user.hand("export", path, "-q")
    }

    /// An export is known again, whatever the list has: one that runs each night goes on.
    @Test func exportsAreOverwritten() throws {
        try user.hand("import", try file("a.md", "# One\n\nA paragraph.\n\n1. first\n2. second\n\n- [ ] milk\n"), "-q")
        for name in ["again.md", "again.txt", "again.jsonl", "again.csv"] {
            let path = "\(folder)/\(name)"
            try user.hand("export", path, "-q")
            try user.hand("add", "more for \(name)", "-q")
            try user.hand("export", path, "-q")
            #expect(try String(contentsOfFile: path, encoding: .utf8).contains("more for \(name)"))
        }
        let path = "\(folder)/again.csv"
        #expect(
            try user.hand("export", path, "--json") == #"{"file":"\#(path)","exported":9,"revision":5}"# + "\n")
    }

    /// Headings of others' Markdown are shown with their own marks.
    @Test func headingsKeepTheirMarks() throws {
        try user.hand("import", try file("a.md", "# One\n\n## Two\n\n### Three\n\nFour\n====\n"), "-q")
        #expect(try user.lines() == ["# One", "## Two", "### Three", "## Four ===="])
    }
}
