import FaultyNetwork
import Foundation
import HandTestSupport
import Testing

/// `hand watch` misses nothing and reports nothing twice, whatever happens to the connection, the server and the list.
@Suite(.serialized, .timeLimit(.minutes(5))) struct WatchTests {
    /// A process that watches, and its output, line by line.
    final class Watcher {
        private let process = Process()
        private let output = Pipe()
        private let messages: String

        init(_ user: CommandUser, _ arguments: String...) throws {
            messages = user.server.folder.path + "/messages"
            _ = FileManager.default.createFile(atPath: messages, contents: nil)
            process.executableURL = URL(fileURLWithPath: Binary.path)
            process.arguments = ["watch"] + arguments
            process.environment = outerEnvironment.merging(user.environment) { $1 }
            process.standardOutput = output
            process.standardError = FileHandle(forWritingAtPath: messages)
            try process.run()
        }

        deinit { end() }

        func end() {
            guard process.isRunning else { return }
            signal(SIGKILL)
            process.waitUntilExit()
        }

        func signal(_ signal: Int32) { kill(process.processIdentifier, signal) }

        /// Returns the next line, or an empty one at the end, or if none arrives within two minutes.
        func line() throws -> String {
            var line = Data()
            var waiting = pollfd(fd: output.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&waiting, 1, 120_000) == 1 else { return "" }
            while let byte = try output.fileHandleForReading.read(upToCount: 1), byte != Data("\n".utf8), !byte.isEmpty
            {
                line += byte
            }
            return String(decoding: line, as: UTF8.self)
        }

        func says(_ text: String) throws -> Bool {
            try eventually { try String(contentsOfFile: messages, encoding: .utf8).contains(text) }
        }
    }

    private static func revision(_ line: String) throws -> Int {
        let number = try #require(line.firstMatch(of: #/^{"revision":([0-9]+),/#)?.1, "\(line)")
        return Int(number) ?? -1
    }

    /// If the server has forgotten commits, the list after them is printed, then each later commit.
    @Test func forgottenCommitsAreReplacedByTheList() throws {
        let ada = try CommandUser("ada", ["--snapshot-commits", "10", "--keep-commits", "3"])
        try ada.hand("create", "list")
        let watch = try Watcher(ada, "--json", "-q")
        #expect(try watch.line() == #"{"revision":0,"count":0,"items":[]}"#)
        // It sleeps while more edits are made than the server keeps.
        watch.signal(SIGSTOP)
        for number in 1...25 { try ada.hand("add", "item \(number)", "-q") }
        func oldest() throws -> Int { try Self.revision(String(ada.hand("log", "--json").prefix { $0 != "\n" })) }
        #expect(try eventually { try oldest() > 10 })
        let first = try oldest()
        watch.signal(SIGCONT)
        let whole = try watch.line()
        #expect(
            try Self.revision(whole) == first - 1 && whole.contains("\"count\":\(first - 1),\"items\":[{"), "\(whole)")
        for revision in first...25 {
            let line = try watch.line()
            #expect(try Self.revision(line) == revision && line.contains("\"text\":\"item \(revision)\""), "\(line)")
        }
    }

    /// Pending edits on this machine are sent. From then on they are in the list or a commit: in no earlier list, and
    /// not twice.
    @Test func pendingEditsAreReportedOnce() throws {
        let ada = try CommandUser()
        try ada.hand("create", "list")
        try ada.hand("add", "first")
        ada.server.kill()
        try ada.hand("add", "waited", "--queue")
        try ada.server.start()
        let watch = try Watcher(ada, "--json", "-q")
        let whole = try watch.line()
        #expect(whole.hasPrefix(#"{"revision":2,"count":2,"#) && whole.contains("waited"), "\(whole)")
        try ada.hand("add", "next", "-q")
        let line = try watch.line()
        #expect(try Self.revision(line) == 3 && line.contains(#""text":"next""#), "\(line)")
    }

    /// A list that was deleted while the connection was lost is waited for like one whose deletion is seen.
    @Test func aListThatWasDeletedMeanwhileIsWaitedFor() throws {
        let ada = try CommandUser()
        try ada.hand("create", "list")
        let watch = try Watcher(ada, "--json")
        #expect(try watch.line().hasPrefix(#"{"revision":0,"#))
        watch.signal(SIGSTOP)
        ada.server.kill()
        try ada.server.start()
        try ada.hand("delete", "--force", "list")
        watch.signal(SIGCONT)
        #expect(try watch.says("waiting until it is back: hand undelete list"))
        try ada.hand("undelete", "list")
        #expect(try watch.says("'list' is back"))
        try ada.hand("add", "next", "-q")
        #expect(try watch.line().contains(#""text":"next""#))
        try ada.hand("delete", "--force", "list")
        #expect(try watch.says("waiting until it is back: hand undelete list"))
        try ada.hand("create", "list")
        #expect(try watch.says("there is another list 'list' now"))
    }

    /// Edits of other lists wait in the journal that the command takes. No other command can send them meanwhile.
    @Test(arguments: ["watch", "open"]) func editsOfOtherListsAreSent(command: String) throws {
        let ada = try CommandUser()
        for list in ["list", "other"] { try ada.hand("create", list) }
        for list in ["list", "other"] { try ada.hand("ls", "-l", list) }
        ada.server.kill()
        try ada.hand("add", "waited", "--queue", "-l", "other", "--timeout", "1")
        var tmux: Tmux?
        var watch: Watcher?
        if command == "open" {
            tmux = try Tmux(environment: ada.environment, "\(Binary.path) open")
            try #require(tmux).wait(for: try #require(tmux).first) { $0.contains { $0.contains("offline") } }
        } else {
            watch = try Watcher(ada)
            #expect(try #require(watch).says("offline"))
        }
        try ada.server.start()
        let ben = ada.named("ben")
        #expect(try eventually { try ben.lines("-l", "other") == ["[ ] waited"] })
        // Nobody is in the list because of that.
        #expect(try eventually { try !ben.hand("who", "-l", "other").contains("ada") })
        withExtendedLifetime((tmux, watch)) {}
    }

    /// A list that comes from a backup has another history: it is reported from the beginning.
    @Test func anotherHistoryIsReportedFromItsBeginning() throws {
        let ada = try CommandUser()
        try ada.hand("create", "list")
        try ada.hand("add", "kept", "-q")
        let (backup, data) = (ada.server.folder.path + "/backup", ada.server.folder.path + "/data")
        try ada.hand("backup", backup, "--data", data)
        try ada.hand("add", "lost", "-q")
        let watch = try Watcher(ada, "--json", "-q")
        #expect(try Self.revision(watch.line()) == 2)
        // A program gets the list after the gap, and nothing at the beginning.
        let program = try Watcher(ada, "--shell", "--exec", "cat")
        #expect(try eventually { try ada.hand("who", "--all").split(separator: "\n").count == 2 })
        ada.server.kill()
        let refused = try ada.hand("recover", backup, "--data", data, expecting: 1)
        #expect(refused.hasSuffix("hand recover --replace \(backup) --data \(data)\n"), "\(refused)")
        try ada.hand("recover", "--replace", backup, "--data", data)
        try ada.server.start()
        let whole = try watch.line()
        #expect(whole.hasPrefix(#"{"revision":1,"count":1,"items":[{"#) && whole.contains("kept"), "\(whole)")
        #expect(try program.line() == whole)
        try ada.hand("add", "new", "-q")
        let added = try watch.line()
        #expect(try Self.revision(added) == 2 && added.contains(#""text":"new""#), "\(added)")
        #expect(try program.line() == added)
    }

    /// Without a server, a watcher waits, but not longer than it is told.
    @Test func aWatcherGivesUpIfItIsTold() throws {
        let ada = try CommandUser()
        try ada.hand("create", "list")
        ada.server.kill()
        #expect(try ada.hand("watch", "--timeout", "0.5", expecting: 6).contains("did not answer within 0.5 s"))
        let watch = try Watcher(ada, "--json")
        #expect(try watch.says("next try in"))
        try ada.server.start()
        #expect(try Self.revision(watch.line()) == 0)
    }

    /// The store is put back as it was: with fewer commits, or with others up to the same or a later revision.
    @Test(arguments: [0, 1, 3]) func aStoreThatWasPutBackIsReportedFromItsState(more: Int) throws {
        let ada = try CommandUser()
        try ada.hand("create", "list")
        try ada.hand("add", "kept", "-q")
        let (former, data) = (ada.server.folder.path + "/former", ada.server.folder.path + "/data")
        #expect(ada.server.terminate() == 0)
        try FileManager.default.copyItem(atPath: data, toPath: former)
        try ada.server.start()
        try ada.hand("add", "lost", "-q")
        let watch = try Watcher(ada, "--json", "-q")
        #expect(try Self.revision(watch.line()) == 2)
        ada.server.kill()
        try FileManager.default.removeItem(atPath: data)
        try FileManager.default.copyItem(atPath: former, toPath: data)
        if more > 0 {
            // The others' edits come before the watcher is back.
            watch.signal(SIGSTOP)
            try ada.server.start()
            for number in 1...more { try ada.named("ben").hand("add", "other \(number)", "-q") }
            watch.signal(SIGCONT)
        } else {
            try ada.server.start()
        }
        let whole = try watch.line()
        #expect(whole.hasPrefix(#"{"revision":\#(1 + more),"count":\#(1 + more),"items":[{"#), "\(whole)")
        try ada.hand("add", "new", "-q")
        let added = try watch.line()
        #expect(try Self.revision(added) == 2 + more && added.contains(#""text":"new""#), "\(added)")
    }

    /// The connection is lost once after various numbers of bytes: before the list has arrived, or while a change is
    /// requested.
    @Test func noLineIsLostWithAConnection() throws {
        let ada = try CommandUser("ada", ["--listen", "127.0.0.1:0"])
        let proxy = try FaultyProxy(to: try ada.server.tcpAddress(), seed: 1)
        for bytes in stride(from: 20, through: 500, by: 17) {
            let list = "list\(bytes)"
            try ada.hand("create", list)
            proxy.change { faults in
                faults.down.strike = .reset(after: bytes)
                faults.strikesOnce = true
            }
            let watch = try Watcher(ada, "--json", "-q", "--url", "hand://127.0.0.1:\(proxy.address.port)/\(list)")
            #expect(try Self.revision(watch.line()) == 0)
            for revision in 1...2 {
                try ada.hand("add", "item", "-q", "-l", list)
                #expect(try Self.revision(watch.line()) == revision, "after \(bytes) bytes")
            }
            watch.end()
        }
    }

    /// Changes made while it was offline are reported, even if the list is the same as before.
    @Test func undoneChangesAreReported() throws {
        let ada = try CommandUser()
        try ada.hand("create", "list")
        let watch = try Watcher(ada, "--json")
        #expect(try Self.revision(watch.line()) == 0)
        watch.signal(SIGSTOP)
        ada.server.kill()
        try ada.server.start()
        try ada.hand("add", "item", "-q")
        try ada.hand("rm", "1", "-q")
        watch.signal(SIGCONT)
        #expect(try Self.revision(watch.line()) == 1)
        #expect(try Self.revision(watch.line()) == 2)
    }

    /// A watcher of a list follows it under its new name, and gets nothing of another list with the old name.
    @Test(arguments: [true, false]) func aRenamedListIsFollowed(isJSON: Bool) throws {
        let ada = try CommandUser()
        try ada.hand("create", "list")
        try ada.hand("add", "before", "-q")
        let watch = try isJSON ? Watcher(ada, "--json") : Watcher(ada)
        #expect(try watch.line().contains("before"))
        try ada.hand("rename", "list", "new")
        #expect(try watch.says("the list is called 'new' now"))
        try ada.hand("create", "list")
        try ada.hand("add", "elsewhere", "-q")
        for number in 1...3 {
            try ada.hand("add", "after \(number)", "-q", "-l", "new")
            let line = try watch.line()
            #expect(line.contains("after \(number)"), "\(line)")
            #expect(try !isJSON || Self.revision(line) == number + 1)
        }
        ada.server.kill()
        try ada.server.start()
        try ada.hand("add", "last", "-q", "-l", "new")
        #expect(try watch.line().contains("last"))
    }

    /// A program gets each commit as a line of JSON, one after the other, with its arguments; no shell reads them.
    @Test func aProgramIsRunForEachCommit() throws {
        let ada = try CommandUser()
        try ada.hand("create", "list")
        let (script, seen) = (ada.server.folder.path + "/tell", ada.server.folder.path + "/seen")
        try Data("#!/bin/sh\nread line\necho \"$1|$2|$line\" >> \(seen)\necho told; exit 3\n".utf8)
            .write(to: URL(fileURLWithPath: script))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: script)
        let watch = try Watcher(ada, "--exec", script, "--", "a b", "$HOME;")
        func lines() -> [Substring] {
            ((try? String(contentsOfFile: seen, encoding: .utf8)) ?? "").split(separator: "\n")
        }
        // A watcher that is not connected yet finds the list with the item.
        #expect(try eventually { try !ada.hand("who", "--all").isEmpty })
        try ada.hand("add", "milk", "-q")
        #expect(try watch.line() == "told" && watch.says("revision 1: '\(script)' exited with 3"))
        try ada.hand("add", "bread", "-q")
        #expect(try watch.line() == "told")
        #expect(lines().count == 2 && lines()[0].hasPrefix(#"a b|$HOME;|{"revision":1,"#))
        #expect(lines()[1].contains(#""person":"ada""#) && lines()[1].contains("bread"))
        watch.end()
        for missing in ["/no/such/program", "/usr/bin"] {
            let watch = try Watcher(ada, "--exec", missing)
            #expect(try watch.says("hand: --exec: there is no program '\(missing)' that can be run"))
        }
        let vanishing = try Watcher(ada, "--exec", script)
        #expect(try eventually { try !ada.hand("who", "--all").isEmpty })
        try FileManager.default.removeItem(atPath: script)
        try ada.hand("add", "eggs", "-q")
        #expect(try vanishing.says("hand: cannot run '\(script)': No such file"))
        let shell = try Watcher(ada, "--shell", "--exec", "cat > /dev/null; echo \"$1\"", "--", "x y")
        #expect(try eventually { try !ada.hand("who", "--all").isEmpty })
        try ada.hand("add", "tea", "-q")
        #expect(try shell.line() == "x y")
        try ada.hand("watch", "--shell", expecting: 2)
        try ada.hand("watch", "--exec", "", expecting: 2)
    }
}
