import Foundation
import HandTestSupport
import Testing

/// Finding items over all lists.
@Suite(.serialized) struct FindTests {
    let user: CommandUser

    init() throws {
        user = try CommandUser()
        for list in ["list", "a trip", "work", "empty"] { try user.hand("create", list) }
        try user.hand("add", "bread", "oat MILK")
        try user.hand("add", "-l", "a trip", "milk @ada", "tent", "milk again due:2020-01-01")
        try user.hand("add", "-l", "work", "call Bob \u{1B}[31m")
        try user.hand("done", "-l", "a trip", "1")
    }

    private func found(_ arguments: String..., expecting status: Int32 = 0) throws -> [String] {
        let outcome = try user.run(["find"] + arguments)
        #expect(outcome.status == status, "\(arguments): \(outcome.messages)")
        return outcome.output.split(separator: "\n").map {
            String($0).replacing(#/ [ @][0-9a-z]{4}  /#, with: " ").replacing("\t", with: "|")
        }
    }

    @Test func itemsOfAllListsAreFound() throws {
        let all = ["a trip|1 [x] milk @ada", "a trip|3 [ ] milk again due:2020-01-01", "list|2 [ ] oat MILK"]
        #expect(try found("milk") == all)
        #expect(try found("milk", "--open") == Array(all.dropFirst()))
        #expect(try found("Milk", "-n", "2") == Array(all.prefix(2)))
        #expect(try found("--mine") == [all[0]] && found("--due", "overdue") == [all[1]])
        #expect(try found("call") == ["work|1 [ ] call Bob \u{FFFD}[31m"])
        #expect(try found("nothing", expecting: 3) == [])
        #expect(try found(expecting: 2) == [] && found("a", "--grep", "b", expecting: 2) == [])
        let json = try user.hand("find", "oat", "--json")
        #expect(
            json.firstMatch(of: #/^\{"list":"list","number":2,"id":"\w{13}","kind":"task","text":"oat MILK",/#) != nil,
            "\(json)")
    }

    /// Many lists are loaded, some at the same time, and printed in their order.
    @Test func manyListsAreSearchedInOrder() throws {
        for number in 10..<40 {
            try user.hand("create", "n\(number)")
            try user.hand("add", "-l", "n\(number)", "needle")
        }
        #expect(try found("needle") == (10..<40).map { "n\($0)|1 [ ] needle" })
    }

    @Test func copiesAreSearchedWithoutTheServer() throws {
        #expect(try found("milk", "--offline", expecting: 3) == [])
        try user.hand("ls")
        try user.hand("add", "--queue", "-l", "work", "milk, too")
        user.server.kill()
        try user.hand("add", "--queue", "waiting milk", "--timeout", "1")
        #expect(
            try found("milk", "--offline") == [
                "list|2 [ ] oat MILK", "list|3 [ ] waiting milk", "work|2 [ ] milk, too",
            ])
        #expect(try found("milk", "--timeout", "1", expecting: 6) == [])
    }
}
