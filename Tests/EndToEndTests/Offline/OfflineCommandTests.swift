import Foundation
import HandClient
import HandStore
import HandTestSupport
import HandWire
import Testing

/// Commands without a server: they edit the list as this machine last saw it.
@Suite(.serialized, .timeLimit(.minutes(5))) struct OfflineCommandTests {
    let ada: CommandUser

    init() throws {
        ada = try CommandUser()
        try ada.hand("create", "list")
        try ada.hand("add", "a", "b", "c")
    }

    @Test func editsApplyToTheListAsLastSeen() throws {
        try ada.hand("ls")
        ada.server.kill()
        try ada.hand("rm", "2", "--queue")
        try ada.hand("mv", "2", "--top", "--queue")
        #expect(try ada.hand("rm", "3", "--queue", expecting: 3).contains("the list has 2"))
        try ada.server.start()
        #expect(try ada.lines() == ["[ ] a", "[ ] b", "[ ] c"])
        // Pending edits build on the kept copy: a newer copy does not replace it.
        try ada.hand("sync")
        #expect(try ada.lines() == ["[ ] c", "[ ] a"])
    }

    /// The numbers are those that the person has seen last: also in the answers to edits, with what others did before.
    @Test func theCopyHasOnesOwnEdits() throws {
        try ada.hand("ls")
        try ada.hand("mv", "3", "--top")
        try ada.named("ben").hand("add", "d", "--top")
        try ada.hand("done", "2")
        try ada.hand("undo")
        #expect(try ada.lines("--offline") == ["[ ] d", "[ ] c", "[ ] a", "[ ] b"])
        ada.server.kill()
        #expect(try ada.messages("rm", "2", "--queue", "--timeout", "1").contains("[ ] c"))
        try ada.server.start()
        try ada.hand("sync")
        #expect(try ada.lines() == ["[ ] d", "[ ] a", "[ ] b"])
    }

    /// An edit that was made after reading a list is made once: the kept copy of the list does not make it again.
    @Test func aCopyMakesNothingTwice() throws {
        try ada.hand("ls")
        try ada.hand("add", "d")
        try ada.hand("rm", "1", "--queue")
        try ada.hand("ls")
        try ada.hand("undo")
        #expect(try ada.messages("sync") == "nothing was waiting\n")
        try ada.hand("add", "e", "--queue")
        try ada.hand("undo")
        #expect(try ada.lines() == ["[ ] a", "[ ] b", "[ ] c", "[ ] d"])
        #expect(try ada.hand("log").split(separator: "\n").filter { $0.hasPrefix("revision") }.count == 6)
    }

    /// Whichever command has read the list: the next one edits its copy.
    @Test func commandsShareTheirCopies() throws {
        // While one command runs, another one uses its own id.
        let running = try heldJournal()
        try ada.hand("ls")
        try running.close()
        ada.server.kill()
        try ada.hand("rm", "2", "--queue", "--timeout", "1")
        try ada.server.start()
        try ada.hand("sync")
        #expect(try ada.lines() == ["[ ] a", "[ ] c"])
    }

    /// A running command uses the id with the pending edits: they are sent when it has ended. If it does not end, no
    /// command claims that nothing is pending, and the exit code says that something is.
    @Test func syncDuringAnotherCommand() throws {
        ada.server.kill()
        try ada.hand("add", "d", "--queue", "--timeout", "1")
        try ada.server.start()
        let path = try journal()
        let running = try heldJournal()
        let held = "'list': edits wait with another running command, which sends them itself\n"
        let failure = "hand: not everything was sent: list\n"
        #expect(try sync() == (1, held + failure))
        #expect(try sync("-q") == (1, failure))
        #expect(try ada.run(["sync", "--json"]).output == #"{"list":"list","revision":null,"waits":true}"# + "\n")
        #expect(try sync("-l", "other") == (0, "nothing was waiting\n"))
        #expect(try ada.lines() == ["[ ] a", "[ ] b", "[ ] c"])
        let attempt = try ClosingOfFile(path + ".lock")
        let start = ContinuousClock.now
        let sending = try RunningCommand(["sync"], ada.environment, ada.server.folder.path + "/said")
        try attempt.wait()
        try running.close()
        // The command waits for two seconds, which may be too short on a busy machine.
        let isSlow = ContinuousClock.now - start > .seconds(2)
        var end = try sending.end()
        if isSlow, end.messages == held + failure { end = try sync() }
        #expect(end == (0, "'list': sent; revision 2\n"), "\(end)")
        #expect(try ada.lines() == ["[ ] a", "[ ] b", "[ ] c", "[ ] d"])
    }

    /// What a running command has sent waits no longer.
    @Test func syncAfterAnotherCommandHasSent() throws {
        ada.server.kill()
        try ada.hand("add", "d", "--queue", "--timeout", "1")
        try ada.server.start()
        let watch = try RunningCommand(["watch"], ada.environment, ada.server.folder.path + "/watched")
        let path = try journal()
        #expect(eventually { ClientJournal.isInUse(at: path) })
        #expect(try eventually { try ada.lines().count == 4 })
        #expect(try eventually { try sync() == (0, "nothing was waiting\n") })
        watch.process.interrupt()
        _ = try watch.end()
    }

    private func sync(_ arguments: String...) throws -> (Int32, String) {
        let outcome = try ada.run(["sync"] + arguments)
        return (outcome.status, outcome.messages)
    }

    @Test func discardDuringAnotherCommand() throws {
        try ada.hand("ls")
        ada.server.kill()
        try ada.hand("add", "d", "--queue", "--timeout", "1")
        let running = try heldJournal()
        #expect(
            try sync("--discard")
                == (1, "hand: edits of 'list' wait with another running command: end it, and discard them then\n"))
        try running.close()
        #expect(try ada.messages("sync", "--discard") == "discarded 1 unsent edit of 'list'\n")
        #expect(try ada.hand("sync", "--discard", "--json") == #"{"list":"list","discarded":0}"# + "\n")
        // The copy stays, as the server has it.
        #expect(try ada.lines("--offline") == ["[ ] a", "[ ] b", "[ ] c"])
        try ada.server.start()
        try ada.hand("add", "e")
        #expect(try ada.lines() == ["[ ] a", "[ ] b", "[ ] c", "[ ] e"])
    }

    /// Opens the journal of Ada's first id, as a running command does.
    private func heldJournal() throws -> ClientJournal {
        try ClientJournal(path: journal(), fresh: ClientID(high: 1, low: 1))
    }

    private func journal() throws -> String {
        let clients = ada.server.folder.path + "/state/hand/clients/"
        return try clients + FileManager.default.contentsOfDirectory(atPath: clients)[0] + "/0.sqlite"
    }

    /// Numbers are those of `ls --offline`, whichever command has the edits that wait.
    @Test func numbersCountWhatWaitsWithOtherCommands() throws {
        try ada.hand("ls")
        ada.server.kill()
        let running = try heldJournal()
        try ada.hand("add", "new", "--top", "--queue", "--timeout", "1")
        try running.close()
        #expect(try ada.lines("--offline") == ["[ ] new", "[ ] a", "[ ] b", "[ ] c"])
        try ada.hand("rm", "2", "--queue", "--timeout", "1")
        #expect(try ada.lines("--offline") == ["[ ] new", "[ ] b", "[ ] c"])
        let refused = try ada.hand("rm", "1", "--queue", "--timeout", "1", expecting: 7)
        #expect(refused.contains("waits to be sent with the edits of another command"), "\(refused)")
        try ada.server.start()
        try ada.hand("sync")
        #expect(try ada.lines() == ["[ ] new", "[ ] b", "[ ] c"])
    }

    /// Without a copy, what waits is not the list: its items have no numbers, and go to its top and its end.
    @Test func itemsThatWaitWithoutACopyHaveNoNumbers() throws {
        var far = ada
        far.environment["XDG_STATE_HOME"] = ada.server.folder.path + "/far"
        ada.server.kill()
        for arguments in [["end"], ["first", "--top"], ["last"]] {
            let outcome = try far.run(["add"] + arguments + ["--queue", "--timeout", "1"])
            #expect(outcome.status == 0, "\(outcome.messages)")
        }
        #expect(try far.hand("done", "1", "--queue", "--timeout", "1", expecting: 6).contains("no copy of 'list'"))
        try ada.server.start()
        try far.hand("sync")
        #expect(try far.lines() == ["[ ] first", "[ ] a", "[ ] b", "[ ] c", "[ ] end", "[ ] last"])
    }

    /// While a list is open, other commands learn that all of it is sent.
    @Test func whatAnOpenListHasSentDoesNotWait() throws {
        let tmux = try Tmux(environment: ada.environment, "\(Binary.path) open list")
        try tmux.wait(for: tmux.first, until: ScreenTests.isSynced)
        try tmux.press("space", in: tmux.first)
        try tmux.wait(for: tmux.first) { ScreenTests.items($0).first == "[x] a" && ScreenTests.isSynced($0) }
        let copy = "this machine's copy: revision 2 of the server\n"
        #expect(try eventually { try ada.messages("ls", "--offline") == copy })
        #expect(try ada.messages("sync") == "nothing was waiting\n")
    }

    /// Nobody could compare the text when the edit is sent, and only the server has the history.
    @Test func editsThatNeedTheServerDoNotWait() throws {
        try ada.hand("ls")
        ada.server.kill()
        for command in [["edit", "1", "A", "--was", "a"], ["sort", "--by", "newest"], ["undo", "2"]] {
            let refused = try ada.run(command + ["--queue", "--timeout", "1"])
            #expect(refused.status == 6 && refused.messages.contains("Nothing is kept for later"), "\(refused)")
        }
        try ada.server.start()
        #expect(try ada.messages("sync") == "nothing was waiting\n")
        try ada.hand("edit", "1", "A", "--was", "a", "--queue")
        #expect(try ada.lines() == ["[ ] A", "[ ] b", "[ ] c"])
    }

    /// Of several copies, the newest is shown and edited.
    @Test func theNewestCopyIsUsed() throws {
        try ada.hand("ls")
        let running = try heldJournal()
        try ada.hand("rm", "1")
        try ada.hand("ls")
        #expect(try running.load("list")?.view.count == 3 && ada.lines("--offline") == ["[ ] b", "[ ] c"])
        try running.close()
        ada.server.kill()
        #expect(try ada.lines("--offline") == ["[ ] b", "[ ] c"])
        try ada.hand("rm", "2", "--queue", "--timeout", "1")
        try ada.server.start()
        try ada.hand("sync")
        #expect(try ada.lines() == ["[ ] b"])
    }

    /// Edits wait in two copies, of different revisions. Both are shown, and each once.
    @Test func waitingEditsOfAllCopiesAreShown() throws {
        try ada.hand("ls")
        let running = try heldJournal()
        try ada.hand("rm", "1")
        try ada.hand("ls")
        ada.server.kill()
        try ada.hand("add", "from one", "--queue", "--timeout", "1")
        try running.close()
        try ada.hand("edit", "2", "changed", "--queue", "--timeout", "1")
        let all = ["[ ] b", "[ ] changed", "[ ] from one"]
        #expect(try ada.lines("--offline") == all)
        try ada.server.start()
        try ada.hand("sync")
        #expect(try ada.lines() == all)
    }

    /// One command sends the pending edits of several ids and several people.
    @Test func syncSendsTheEditsOfAllIDs() throws {
        ada.server.kill()
        for name in ["one", "two", "three"] {
            try ada.named(name).hand("add", "\(name)'s", "--queue", "--timeout", "1")
        }
        try ada.server.start()
        #expect(try ada.messages("sync").split(separator: "\n").count { $0.hasPrefix("'list': sent") } == 3)
        #expect(try Set(ada.lines().dropFirst(3)) == ["[ ] one's", "[ ] two's", "[ ] three's"])
        #expect(try ada.messages("sync") == "nothing was waiting\n")
    }

    /// Edits are sent under the name under which they were made, whoever sends them.
    @Test func pendingEditsKeepTheirAuthors() throws {
        let (one, two) = (ada.named("one"), ada.named("two"))
        ada.server.kill()
        try one.hand("add", "first", "--queue", "--timeout", "1")
        try two.hand("add", "second", "--queue", "--timeout", "1")
        try ada.server.start()
        try two.hand("add", "third")
        try ada.hand("add", "fourth")
        try ada.hand("sync")
        let people = try ada.hand("log", "--json").split(separator: "\n").compactMap { line in
            line.firstMatch(of: #/"person":"([a-z]+)".*"text":"([a-z]+)"/#).map { "\($0.1) \($0.2)" }
        }
        #expect(Set(people.dropFirst()) == ["one first", "two second", "two third", "ada fourth"])
        // Sent edits are in nobody's way.
        try two.hand("add", "fifth")
        try one.hand("undo")
        #expect(try !ada.lines().contains("[ ] first"))
        let clients = try FileManager.default.subpathsOfDirectory(atPath: ada.server.folder.path + "/state")
        #expect(clients.filter { $0.hasSuffix(".sqlite") }.count == 2)
    }

    /// Whoever sends the edits of another name is led to where what was lost of them is kept.
    @Test func lossesOfAnotherNameAreFound() throws {
        let bob = ada.named("Bob")
        try bob.hand("ls")
        ada.server.kill()
        try bob.hand("edit", "1", "Bob's words", "--queue", "--timeout", "1")
        try ada.server.start()
        try ada.hand("rm", "1")
        let told = try ada.messages("sync")
        #expect(told.contains("get it back: hand rejected --as Bob\n"), "\(told)")
        #expect(try ada.hand("rejected", "--as", "Bob").contains("Bob's words"))
        #expect(try ada.hand("rejected") == "")
    }

    @Test func editsMayNameTheRevisionThatWasSeen() throws {
        try ada.hand("export")
        ada.server.kill()
        #expect(try ada.hand("add", "x", "--queue", "--if-revision", "0", expecting: 7).contains("revision 1"))
        try ada.hand("add", "d", "--queue", "--if-revision", "1")
        // It would be refused, because the one before it makes a revision.
        let said = try ada.hand("rm", "1", "--queue", "--if-revision", "1", expecting: 7)
        #expect(said.contains("edits of yours wait to be sent first"), "\(said)")
        try ada.server.start()
        try ada.hand("sync")
        #expect(try ada.lines() == ["[ ] a", "[ ] b", "[ ] c", "[ ] d"])
    }

    private static let unshare = "/usr/bin/unshare"

    /// Whether a disk can be made read-only for a program.
    static let canMount: Bool = {
        (try? Binary.run(["-m", "mount", "--bind", "/", "/mnt"], program: unshare).status) == 0
    }()

    /// What is on a read-only disk can be read, with a server and without.
    @Test(.enabled(if: canMount, "needs root")) func aReadOnlyDiskIsRead() throws {
        try ada.hand("ls")
        let state = ada.server.folder.path + "/state"
        func hand(_ command: String) throws -> Binary.Outcome {
            let mount = "mount --bind \(state) \(state) && mount -o remount,ro,bind \(state)"
            return try Binary.run(
                ["-m", "sh", "-c", "\(mount) && '\(Binary.path)' \(command)"], environment: ada.environment,
                program: Self.unshare)
        }
        let shown = try hand("ls")
        #expect(shown.status == 0 && shown.output.contains("[ ] c"), "\(shown)")
        #expect(shown.messages.contains("Read-only file system") && shown.messages.hasPrefix("warning: "), "\(shown)")
        let doctor = try hand("doctor").output
        #expect(doctor.contains("make the disk writable, or set") && !doctor.contains("chmod"), "\(doctor)")
        #expect(try hand("rejected").status == 0)
        ada.server.kill()
        for command in ["ls --offline", "find c --offline"] {
            let outcome = try hand(command)
            #expect(outcome.status == 0 && outcome.output.contains("[ ] c"), "\(command): \(outcome)")
        }
        #expect(try hand("add x --queue").status == 1)
    }

    /// Without the server, nobody knows whether there is a list of that name.
    @Test func aMisspeltListIsDoubted() throws {
        try ada.hand("export")
        ada.server.kill()
        for _ in 0..<2 {
            #expect(try ada.messages("add", "x", "-l", "lisst", "--queue").hasSuffix(" Did you mean 'list'?\n"))
        }
        #expect(try ada.messages("add", "x", "--queue").hasSuffix("'hand sync' sends it\n"))
    }

    @Test func aMissingCopyIsReported() throws {
        var other = ada
        other.environment["XDG_STATE_HOME"] = ada.server.folder.path + "/other"
        ada.server.kill()
        for edit in [
            ["rm", "1"], ["mv", "1", "--top"], ["done", "1"], ["add", "x", "--after", "1"], ["edit", "1", "x"],
        ] {
            let outcome = try other.run(edit + ["--queue"])
            #expect(
                outcome.status == 6 && outcome.messages.contains("no copy of 'list'"), "\(edit): \(outcome.messages)")
        }
        #expect(try other.hand("add", "x", "--queue", "--if-revision", "1", expecting: 6).contains("no copy"))
        let doubt = try other.messages("add", "last", "--queue")
        #expect(doubt.contains("sends it. This machine has no copy of 'list': if there is no such list,"), "\(doubt)")
        try other.hand("add", "first", "--top", "--queue")
        try ada.server.start()
        try other.hand("sync")
        #expect(try ada.lines() == ["[ ] first", "[ ] a", "[ ] b", "[ ] c", "[ ] last"])
    }

    @Test func allPendingEditsAreSent() throws {
        #expect(try ada.messages("sync") == "nothing was waiting\n")
        for name in ["two", "gone"] { try ada.hand("create", name) }
        ada.server.kill()
        #expect(try ada.messages("sync") == "nothing was waiting\n")
        for name in ["list", "two", "gone"] { try ada.hand("add", "kept", "-l", name, "--queue") }
        try ada.hand("sync", expecting: 6)
        try ada.server.start()
        try ada.named("ben").hand("delete", "gone", "--force")
        let outcome = try ada.run(["sync"])
        #expect(outcome.status == 3)
        #expect(
            outcome.messages.contains("'list': sent; revision 2\n")
                && outcome.messages.contains("'two': sent; revision 1\n"))
        #expect(try ada.lines("-l", "two") == ["[ ] kept"])
        #expect(try ada.messages("sync", "-l", "list") == "nothing was waiting\n")
    }
}
