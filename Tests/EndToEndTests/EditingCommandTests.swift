import Foundation
import HandTestSupport
import Testing

/// Edits that commands make, and what they say of them.
@Suite(.serialized) struct EditingCommandTests {
    let user: CommandUser

    init() throws {
        user = try CommandUser()
        try user.hand("create", "list")
    }

    private func revision() throws -> Int? {
        let line = try user.hand("lists", "--json")
        return line.firstMatch(of: #/"revision":(\d+)/#).flatMap { Int($0.1) }
    }

    /// What changes nothing makes no commit, says so, and is no failure.
    @Test func nothingToDo() throws {
        try user.hand("add", "a", "b", "c")
        try user.hand("done", "1")
        for command in [
            ["done", "1"], ["undone", "2", "3"], ["mv", "1", "--after", "1"], ["mv", "1", "--top"],
            ["mv", "2", "3", "--end"], ["edit", "1", "a"], ["restore", "--at", "2"],
            ["done", "1", "--if-revision", "2"],
            ["done", "1", "--queue"],
        ] {
            let outcome = try user.run(command)
            #expect(outcome.status == 0 && outcome.messages == "nothing to do\n", "\(command): \(outcome.messages)")
        }
        #expect(try user.hand("done", "1", "--json") == "{\"revision\":null}\n")
        #expect(try revision() == 2)
        try user.hand("done", "1", "--if-revision", "1", expecting: 7)
        try user.hand("mv", "1", "--after", "2")
        #expect(try user.lines() == ["[ ] b", "[x] a", "[ ] c"])
    }

    /// By the clock on the wall, also across the change to summer time; for programs in UTC.
    @Test func timesOfTheLog() throws {
        try user.hand("add", "a")
        let utc = try #require(try user.hand("log", "--json").firstMatch(of: #/"at":"([^"]+)"/#)?.1)
        #expect(try user.hand("log", "--utc").contains("revision 1  \(utc)  ada"))
        var elsewhere = user
        // Five hours behind UTC, as POSIX counts.
        elsewhere.environment["TZ"] = "Etc/GMT+5"
        let shown = try #require(try elsewhere.hand("log").firstMatch(of: #/revision 1  (.*)  ada/#)?.1)
        let parser = ISO8601DateFormatter()
        let time = try #require(parser.date(from: "\(shown.replacing(" ", with: "T"))-05:00"))
        #expect(parser.string(from: time).dropLast() == utc.prefix { $0 != "." })
    }
}
