import Foundation
import Testing

/// A person's disk fails below real commands, at every call in turn. Edits reported as kept are kept, others are
/// reported as not kept, and when the disk works again everything continues.
@Suite(.serialized) struct JournalFaultTests {
    /// Returns a person who has seen a list with one item.
    private static func user() throws -> FaultyUser {
        let user = try FaultyUser()
        #expect(try user.hand("create", "list").status == 0)
        #expect(try user.hand("add", "first").status == 0)
        #expect(try user.hand("ls").status == 0)
        return user
    }

    /// Returns the texts of the list, in order; if `offline`, those on this person's disk.
    private static func texts(_ user: FaultyUser, offline: Bool = false) throws -> [String] {
        let outcome = try offline ? user.hand("ls", "--offline") : user.hand("ls")
        #expect(outcome.status == 0, "\(outcome.messages)")
        return outcome.output.split(separator: "\n").compactMap { $0.split(separator: " ").last.map(String.init) }
    }

    /// Runs a command once for each of its calls that can fail, each time on the same disk contents.
    private static func strike(
        _ user: FaultyUser, _ arguments: [String], _ fault: String,
        _ check: (_ run: Int, FaultyUser.Outcome) throws -> Void
    ) throws {
        try user.saveState()
        try FaultyUser.untilItIsTooLate { run in
            try user.restoreState()
            let outcome = try user.run(arguments, fault: fault, after: run)
            try check(run, outcome)
            return outcome
        }
        try user.restoreState()
    }

    @Test(arguments: ["write full", "sync EIO"])
    func editsReportedAsKeptAreKept(fault: String) throws {
        let user = try Self.user()
        user.server.kill()
        #expect(try user.hand("add", "kept", "--queue").status == 0)
        try Self.strike(user, ["add", "struck", "--queue"], fault) { run, outcome in
            let texts = try Self.texts(user, offline: true)
            #expect(texts.starts(with: ["first", "kept"]), "\(run): \(texts)")
            let struck = texts.dropFirst(2)
            if outcome.status == 0 {
                #expect(struck == ["struck"], "\(run): \(outcome.messages)")
            } else if fault != "sync EIO" {
                // Data that a flush has not confirmed may still be stored.
                #expect(struck.isEmpty, "\(run): \(outcome.messages)")
            }
            #expect(try user.hand("add", "after", "--queue").status == 0)
            #expect(try Self.texts(user, offline: true) == texts + ["after"])
        }
    }

    /// The kept edit is sent once, whenever the disk fails during that.
    @Test(arguments: ["write full", "sync EIO"])
    func keptEditsAreSentOnce(fault: String) throws {
        let user = try Self.user()
        var expected = ["first"]
        try FaultyUser.untilItIsTooLate { run in
            user.server.kill()
            #expect(try user.hand("add", "run-\(run)", "--queue").status == 0)
            expected.append("run-\(run)")
            try user.server.start()
            let outcome = try user.hand("sync", fault: fault, after: run)
            if outcome.status == 0 {
                #expect(outcome.messages.contains("'list': sent"), "\(run): \(outcome.messages)")
            }
            #expect(try user.hand("sync").status == 0)
            #expect(try Self.texts(user) == expected, "\(run): \(outcome.messages)")
            return outcome
        }
    }

    /// The local copy of a list is either the old one or the new one. A list that cannot be kept is shown all the same.
    @Test func theLocalCopyIsNeverPartial() throws {
        let user = try Self.user()
        // The copy is older than the list.
        try user.saveState()
        #expect(try user.hand("add", "second").status == 0)
        var copies: [[String]] = []
        while copies.count < 60, copies.suffix(3).count(where: { $0.count == 2 }) < 3 {
            try user.restoreState()
            let outcome = try user.run(["ls"], fault: "write ENOSPC", after: copies.count)
            #expect(outcome.status == 0 && outcome.output.contains("second"), "\(copies.count): \(outcome.messages)")
            copies.append(try Self.texts(user, offline: true))
            #expect(copies.last == ["first"] || copies.last == ["first", "second"])
        }
        #expect(copies.first == ["first"] && copies.last == ["first", "second"])
    }

    /// An export that fails, at any point, reports that, leaves the file as it was, and leaves no other file.
    @Test(arguments: ["write ENOSPC export", "sync EIO export"]) func aFailedExportChangesNothing(fault: String) throws
    {
        let user = try Self.user()
        let file = user.state + "/export.md"
        #expect(try user.hand("export", file, "-q").status == 0)
        let before = try String(contentsOfFile: file, encoding: .utf8)
        #expect(try user.hand("add", "second").status == 0)
        let fault = fault.replacing("export", with: ".new")
        let outcome = try user.run(["export", file, "-q"], fault: fault)
        #expect(
            outcome.status == 1 && outcome.messages.hasPrefix("hand: cannot write \(file): "), "\(outcome.messages)")
        #expect(try String(contentsOfFile: file, encoding: .utf8) == before)
        #expect(try !FileManager.default.contentsOfDirectory(atPath: user.state).contains { $0.hasSuffix(".new") })
        #expect(try user.hand("export", file, "-q").status == 0)
        #expect(try String(contentsOfFile: file, encoding: .utf8).contains("second"))
    }

    /// A newcomer with a full disk can read and edit like everybody, with a warning.
    @Test func aFullDiskDoesNotPreventReading() throws {
        let user = try Self.user()
        try FileManager.default.removeItem(atPath: user.state)
        for command in [["ls"], ["ls", "-n", "1"], ["log"], ["who"], ["lists"], ["export", "-"], ["show", "1"]] {
            let outcome = try user.run(command, fault: "write ENOSPC")
            #expect(outcome.status == 0 && outcome.messages.hasPrefix("warning: "), "\(command): \(outcome.messages)")
            #expect(command == ["who"] || !outcome.output.isEmpty, "\(command)")
        }
        for command in [["add", "x"], ["rm", "1"]] {
            let outcome = try user.run(command, fault: "write ENOSPC")
            // The server has the edit; only this machine keeps nothing.
            #expect(outcome.status == 0 && outcome.messages.contains("full"), "\(command): \(outcome.messages)")
        }
        #expect(try Self.texts(user) == ["x"])
    }

    /// A disk that is full is not taken for a server that is away.
    @Test func aFullDiskIsToldAsOne() throws {
        let user = try Self.user()
        var problems: Set<Int32> = []
        try Self.strike(user, ["add", "x"], "write full") { run, outcome in
            problems.insert(outcome.status)
            #expect(!outcome.messages.contains("reached"), "\(run): \(outcome.messages)")
        }
        // The edit is made, although nothing can be kept, or it is not made.
        #expect(problems == [0, 1])
    }
}
