import Foundation
import HandFormats
import HandTestSupport
import Testing

/// The command line as scripts use it: data, messages, exit codes.
@Suite(.serialized) struct CommandTests {
    let server: RunningServer
    let environment: [String: String]

    init() throws {
        server = try RunningServer(try TemporaryFolder())
        environment = [
            "HAND_URL": "hand+unix://\(server.socket)/list", "HAND_NAME": "ada",
            "XDG_STATE_HOME": server.folder.path + "/state", "XDG_CONFIG_HOME": server.folder.path + "/config",
        ]
    }

    @discardableResult
    private func hand(_ arguments: String..., input: String = "", expecting status: Int32 = 0) throws -> String {
        let outcome = try Binary.run(arguments, input: input, environment: environment)
        #expect(outcome.status == status, "\(arguments): \(outcome.messages)")
        return status == 0 ? outcome.output : outcome.messages
    }

    private func texts() throws -> [String] {
        try hand("ls", "--json").split(separator: "\n").map { line in
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            return object?["text"] as? String ?? "?"
        }
    }

    /// Two names on one machine are two authors, whatever their later names; each undoes its own edits.
    @Test func undoTakesBackOnesOwnEdit() throws {
        try hand("create", "list")
        try hand("add", "one's", "--as", "ONE")
        try hand("add", "two's", "--as", "TWO")
        // The same name on another machine is another person.
        let elsewhere = environment.merging(["XDG_STATE_HOME": server.folder.path + "/elsewhere"]) { $1 }
        #expect(try Binary.run(["add", "another's", "--as", "ONE"], environment: elsewhere).status == 0)
        let people = try hand("log", "--json").split(separator: "\n").map { line in
            (try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])?["person"] as? String
        }
        #expect(people == ["ONE", "TWO", "ONE"])
        #expect(try texts() == ["one's", "two's", "another's"])
        let outcome = try Binary.run(["undo", "--as", "ONE"], environment: environment)
        #expect(outcome.status == 0 && outcome.messages.contains("took back revision 1:\n- 1  [ ] one's\n"))
        #expect(try texts() == ["two's", "another's"])
        try hand("undo", "--as", "THREE", expecting: 3)
        try hand("undo", "--as", "TWO")
        #expect(try texts() == ["another's"])
    }

    @Test func exitCodesTellWhatWentWrong() throws {
        try hand("ls", expecting: 3)
        try hand("create", "list", "--max-items", "2")
        try hand("create", "list", expecting: 7)
        try hand("create", "-bad", expecting: 2)
        try hand("create", "hand://127.0.0.1/list", expecting: 2)
        try hand("add", expecting: 2)
        try hand("nonsense", expecting: 2)
        try hand("add", "a", "b")
        try hand("add", "c", expecting: 4)
        try hand("rm", "3", expecting: 3)
        try hand("rm", "zzzz", expecting: 3)
        try hand("rm", "u", expecting: 3)
        try hand("done", "1", "--if-revision", "0", expecting: 7)
        try hand("show", "--at", "99", expecting: 3)
        try hand("ls", "--url", "hand+unix:///nowhere/hand.sock/list", expecting: 6)
        try hand("ls", "--url", "http://example.org", expecting: 2)
        try hand("--version")
        try hand("--help")
        #expect(try hand("--generate-completion-script", "bash").contains("hand"))
    }

    /// Several processes make one test; errors in a script, an unreachable server and missing things have exit codes of
    /// their own.
    @Test func severalProcessesMakeOneLoadTest() throws {
        let script = "items 20\nloop 5\nadd \"{client}\" at random\nend\n"
        let summary = try hand("load", "-l", "load", "-", "--clients", "4", "--json", input: script)
        let alone = try #require(summary.split(separator: "\n").last)
        #expect(alone.contains("\"commits\":20,") && alone.contains("\"converged\":true"))
        let file = server.folder.path + "/script.load"
        try script.write(toFile: file, atomically: true, encoding: .utf8)
        let joined = try hand("load", "-l", "load", file, "--clients", "4", "--processes", "2", "--json")
        #expect(joined.contains("\"commits\":20,") && joined.contains("\"agreed\":4"))
        #expect(joined.contains("\"clients\":4,") && joined.contains("\"items\":60,"))
        try hand("load", "-l", "load", file, "--threshold", "commits>100000000", expecting: 99)
        try hand("load", "-l", "load", file, "--threshold", "commits=1", expecting: 2)
        try hand("load", "-", input: "add x at botom", expecting: 2)
        try hand("load", "reconnect-storm", "--light", expecting: 2)
        try hand("load", "-", "--clients", "5", input: "role a 10\nadd x", expecting: 2)
        try hand("load", "nonsense", expecting: 3)
        // Of several processes, each would wait for the end of the script.
        try hand("load", "-", "--processes", "2", input: "role a 1\nadd \"x\"", expecting: 2)
        try hand("load", "--url", "hand+unix:///nowhere/hand.sock/list", expecting: 6)
    }

    /// A load test leaves alone the list of $HAND_URL, and every list with items that no load test made.
    @Test func loadTestsSpareOtherItems() throws {
        try hand("create", "list")
        try hand("add", "one", "two")
        let script = "items 3\nadd \"new\"\nedit 1 to \"changed\"\ndelete 2\n"
        // The second time, the list holds what the first test left there.
        for _ in 0..<2 { try hand("load", "-", "--clients", "1", input: script) }
        let url = try #require(environment["HAND_URL"])
        let file = server.folder.path + "/items.load"
        try script.write(toFile: file, atomically: true, encoding: .utf8)
        for options in [["-", "-l", "list"], ["-", "--url", url], [file, "-l", "list", "--processes", "2"]] {
            let refused = try Binary.run(["load"] + options, input: script, environment: environment)
            #expect(refused.status == 7, "\(options): \(refused.messages)")
            #expect(refused.messages.contains("'list' has 2 items that no load test made"), "\(refused.messages)")
        }
        #expect(try texts() == ["one", "two"])
        try hand("load", "-", "--clients", "1", "-l", "list", "--as-is", input: script)
        #expect(try texts().count == 2 && texts() != ["one", "two"])
    }

    @Test func placesAndStandardInput() throws {
        try hand("create", "list")
        try hand("add", "-", input: "one\ntwo\n\nthree\n")
        try hand("add", "zero", "--top")
        try hand("add", "half", "--after", "2")
        try hand("mv", "1", "5", "--before", "3")
        #expect(try texts() == ["one", "zero", "three", "half", "two"])
        try hand("edit", "1", "first")
        try hand("rm", "3", "2")
        #expect(try texts() == ["first", "half", "two"])
        try hand("restore", "--at", "1")
        #expect(try texts() == ["one", "two", "three"])
        try hand("undo")
        #expect(try texts() == ["first", "half", "two"])
        try hand("undo", "1")
        #expect(try texts() == ["half"])
    }

    @Test func exportedListsAreImported() throws {
        try hand("create", "list")
        try hand("add", "a task")
        try hand("add", "a note\twith a tab", "--note")
        try hand("add", "Heading", "--heading", "--top")
        try hand("add", "a link", "--link", "https://example.org/")
        for format in ["jsonl", "markdown", "todotxt", "csv"] {
            let text = try hand("export", "--format", format)
            try hand("create", format)
            try hand("import", "-", "-l", format, "--format", format, "--new-ids", input: text)
            #expect(try hand("export", "-l", format, "--format", "markdown") == hand("export", "--format", "markdown"))
        }
        try hand("import", "-", "--format", "jsonl", input: "{\"id\":1}\n", expecting: 1)
    }

    /// A long file is imported in portions, each after the previous one.
    @Test(arguments: [["--top"], ["--end"], ["--after", "1"], ["--before", "2"]])
    func longFilesKeepTheirOrder(place: [String]) throws {
        try hand("create", "list")
        try hand("add", "first", "last")
        let lines = (0..<4_100).map { "item \($0)" }
        let arguments = ["import", "-", "--format", "todotxt", "-q"] + place
        let outcome = try Binary.run(
            arguments, input: lines.joined(separator: "\n") + "\n", environment: environment)
        #expect(outcome.status == 0, "\(outcome.messages)")
        let index = place == ["--top"] ? 0 : place == ["--end"] ? 2 : 1
        var expected = ["first", "last"]
        expected.insert(contentsOf: lines, at: index)
        #expect(try texts() == expected)
    }

    /// Large items are imported in portions, too: together they exceed the size of a message.
    @Test func manyLargeItemsAreImported() throws {
        try hand("create", "list", "--max-size", "1048576")
        let lines = (0..<10).map { "\($0) " + String(repeating: "x", count: 1_000_000) }
        try hand("import", "-", "--format", "todotxt", "-q", input: lines.joined(separator: "\n") + "\n")
        #expect(try texts() == lines)
    }

    /// If there is no room for a whole file, the first portions stay, and their number of items is reported.
    @Test func aPartialImportIsReported() throws {
        try hand("create", "list", "--max-items", "3000")
        let lines = (0..<4_100).map { "item \($0)\n" }.joined()
        let message = try hand("import", "-", "--format", "todotxt", "-q", input: lines, expecting: 4)
        #expect(message.contains("2000 of 4100 items were imported, then: "), "\(message)")
        #expect(try texts().count == 2_000)
    }

    /// The list may change between the read and the submission: the server decides.
    @Test func anEditForOneRevisionIsNotMadeOnAnother() throws {
        try hand("create", "list")
        try hand("add", "one", "--queue")
        server.kill()
        try hand("add", "two", "--queue", "--timeout", "0.5", "--if-revision", "1")
        try server.start()
        let other = environment.merging(["XDG_STATE_HOME": server.folder.path + "/other"]) { $1 }
        #expect(try Binary.run(["add", "else"], environment: other).status == 0)
        _ = try Binary.run(["sync"], environment: environment)
        #expect(try texts() == ["one", "else"])
    }

    @Test func othersTextsCannotControlTheTerminal() throws {
        try hand("create", "list")
        try hand("add", "red \u{1B}[31m bell \u{7} turned \u{202E}txt")
        let output = try hand("ls")
        #expect(!output.unicodeScalars.contains { ($0.value < 32 && $0 != "\n") || $0.value == 0x202E })
    }

    @Test func editsAreKeptWhileTheServerIsAway() throws {
        try hand("create", "list")
        try hand("add", "here")
        server.kill()
        try hand("add", "later", expecting: 6)
        try hand("add", "kept", "--queue", "--timeout", "2")
        try hand("add", "kept too", "--queue", "--timeout", "2")
        try server.start()
        #expect(try texts() == ["here"])
        try hand("sync")
        #expect(try texts() == ["here", "kept", "kept too"])
        try hand("sync")
        #expect(try texts().count == 3)
    }

    @Test func syncTellsProgramsWhatWasRefused() throws {
        try hand("create", "list", "--max-items", "2")
        try hand("add", "here")
        server.kill()
        for text in ["kept", "too many"] { try hand("add", text, "--queue", "--timeout", "2") }
        try server.start()
        let outcome = try Binary.run(["sync", "--json"], environment: environment)
        let sent = try JSONValue.parse(outcome.output.trimmingCharacters(in: .newlines))
        #expect(try texts() == ["here", "kept"] && outcome.status != 0)
        #expect(sent["list"] == .string("list") && "\(sent["lost"] ?? .null)".contains("too many"), "\(sent)")
    }

    @Test func watchPrintsOneLinePerChange() throws {
        try hand("create", "list")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Binary.path)
        process.arguments = ["watch", "--json", "-q"]
        process.environment = outerEnvironment.merging(environment) { $1 }
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        func line() throws -> String {
            var line = Data()
            while let byte = try output.fileHandleForReading.read(upToCount: 1), byte != Data("\n".utf8), !byte.isEmpty
            {
                line += byte
            }
            return String(decoding: line, as: UTF8.self)
        }
        #expect(try line() == #"{"revision":0,"count":0,"items":[]}"#)
        try hand("add", "seen")
        let added = try line()
        #expect(added.contains(#""person":"ada","at":"20"#), "\(added)")
        let change = try #require(
            added.firstMatch(of: #/"changes":\[{"change":"added","item":"([0-9a-z]{13})","to":1,"after":({.*})}\]}$/#))
        #expect(change.2 == #"{"kind":"task","text":"seen","done":false,"level":0}"#)
        #expect(added.hasPrefix(#"{"revision":1,"author":"#) && added.contains(#""delta":[{"insert":[{"id":"#))
        #expect(try hand("log", "--json") == added + "\n", "the log has the same")
        server.kill()
        try server.start()
        try hand("rm", "1")
        let deleted = try line()
        #expect(deleted.hasPrefix(#"{"revision":2,"author":"#) && deleted.contains(#""delta":[{"delete":1}]"#))
        #expect(
            deleted.hasSuffix(
                #""changes":[{"change":"deleted","item":"\#(change.1)","from":1,"before":\#(change.2)}]}"#),
            "\(deleted)")
        process.terminate()
        process.waitUntilExit()
    }

    @Test func vectorsAreAnswered() throws {
        let folder = Project.root.appending(path: "Tests/Data/Vectors")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".jsonl") }
        #expect(files.count >= 10)
        for file in files {
            let text = try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
            #expect(try lab("vectors", "--check", input: text).output == "")
        }
        #expect(try lab("vectors", input: "nonsense\n").output.contains("error"))
        let wrong = #"{"law":"digest","list":[],"expect":{"law":"digest","digest":"1"}}"# + "\n"
        #expect(try lab("vectors", "--check", input: wrong).status == 1)
    }

    /// The server without clock and sockets says the same to the same events, and ends at a line that is none.
    @Test func eventsAreAnsweredTheSameWayEachTime() throws {
        let hello = [1] + Array("HAND".utf8) + [5, 5, 0] + [UInt8](repeating: 7, count: 16) + [0, 0, 0, 0]
        let frame = Data([UInt8(hello.count)] + hello).base64EncodedString()
        let events = "begin 7 0\nconnect 4 5\nreceive 4 \(frame) 6\nlose 4 7\ntick 60000\n"
        let outcome = try lab("machine", input: events)
        #expect(outcome.status == 0 && outcome.output.contains("\nsend 4 "), "\(outcome)")
        #expect(outcome.output.split(separator: "\n").count { $0.hasPrefix("until ") } == 5)
        #expect(try lab("machine", input: events).output == outcome.output)
        for line in ["begin", "receive 4 ? 8", "tick 3 4", "leave 4 8"] {
            let refused = try lab("machine", input: events + line + "\n")
            #expect(refused.status != 0 && refused.messages.contains("line 6: expected an event"), "\(refused)")
        }
    }

    private func lab(_ arguments: String..., input: String) throws -> Binary.Outcome {
        try Binary.run(arguments, input: input, program: Built.lab)
    }
}
