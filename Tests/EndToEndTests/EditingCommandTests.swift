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
}
