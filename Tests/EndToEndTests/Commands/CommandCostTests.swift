import Foundation
import HandTestSupport
import Testing

/// A command costs what it requests, not what the list contains: measured by the bytes that the server sends.
@Suite(.serialized) struct CommandCostTests {
    private let user: CommandUser

    init() throws {
        user = try CommandUser()
        try user.hand("create", "list")
        let lines = (1...20_000).map { "- [ ] item \($0)\n" }.joined()
        try user.hand("import", "-", "--format", "markdown", input: lines)
        try user.hand("add", "last")
    }

    /// Returns the number of bytes sent to clients since the server started, and the number of snapshots among the
    /// messages.
    private func sent() throws -> (bytes: Int, snapshots: Int) {
        (try user.server.figure("bytesSent"), try user.server.figure("snapshots"))
    }

    private func cost(_ arguments: String...) throws -> (bytes: Int, snapshots: Int, output: String) {
        let before = try sent()
        let output = try user.run(arguments)
        #expect(output.status == 0, "\(arguments): \(output.messages)")
        let after = try sent()
        return (after.bytes - before.bytes, after.snapshots - before.snapshots, output.output + output.messages)
    }

    @Test func commandsRequestOnlyWhatTheyName() throws {
        let whole = try cost("ls")
        #expect(whole.bytes > 400_000)
        let id = try #require(try cost("ls", "10000", "--json").output.firstMatch(of: #/"id":"([0-9a-z]+)"/#)?.1)
        let file = user.server.folder.path + "/two.txt"
        try "one\ntwo\n".write(toFile: file, atomically: true, encoding: .utf8)
        let commands: [([String], says: String)] = [
            (["add", "x"], "revision"), (["add", "y", "--top"], "revision"), (["done", "@\(id)"], "revision"),
            (["mv", "@\(id)", "--after", "20000"], "revision"), (["edit", "@\(id)", "new"], "revision"),
            (["rm", "@\(id)"], "new"), (["rm", "3-5"], "item 4"), (["log", "-n", "1"], "item 4"),
            (["log", "-n", "5"], "new"), (["who"], "nobody has"), (["ls", "-n", "20"], "item 20"),
            (["ls", "15000-15002"], "15001"), (["done", "7", "--if-revision", "18"], "revision 19"),
            (["undo"], "~ 7  [ ] item"), (["redo"], "~ 7  [x] item"), (["undo", "-n", "3"], "+ 5  [ ] item 4"),
            (["undo", "19"], "nothing is left of that edit"), (["import", file], "imported 2 items"),
            (["import", file, "--new-ids", "--after", "100"], "imported 2 items"),
        ]
        for (command, says) in commands {
            let before = try sent()
            let outcome = try user.run(command)
            let after = try sent()
            #expect(outcome.status == 0, "\(command): \(outcome.messages)")
            #expect(
                (outcome.output + outcome.messages).contains(says), "\(command): \(outcome.output + outcome.messages)")
            #expect(after.bytes - before.bytes < 8_000, "\(command)")
            #expect(after.snapshots == before.snapshots, "\(command)")
        }
    }
}
