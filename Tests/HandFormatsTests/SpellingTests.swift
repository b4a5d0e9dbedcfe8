import HandFormats
import HandTestSupport
import Testing

@Suite struct SpellingTests {
    private static let commands = ["ls", "add", "lists", "delete", "done", "undone", "undo", "show", "mv"]

    @Test(arguments: [
        ("lsx", "ls"), ("sl", "ls"), ("lits", "lists"), ("dleete", "delete"), ("unod", "undo"), ("DONE", "done"),
        ("adds", "add"), ("mvv", "mv"),
    ])
    func aSlipIsSeen(word: String, meant: String) {
        #expect(Spelling.nearest(to: word, among: Self.commands) == meant)
    }

    @Test(arguments: ["", "x", "frobnicate", "push", "destroyed"]) func somethingElseIsNotGuessed(word: String) {
        #expect(Spelling.nearest(to: word, among: Self.commands) == nil)
        #expect(Spelling.question(word, among: Self.commands) == "")
    }

    @Test func distancesCountEditsAndSwaps() {
        #expect(
            Spelling.distance("", "") == 0 && Spelling.distance("", "abc") == 3 && Spelling.distance("abc", "") == 3)
        #expect(Spelling.distance("kitten", "sitting") == 3 && Spelling.distance("ab", "ba") == 1)
        #expect(Spelling.distance("abc", "cab") == 2 && Spelling.distance("abcd", "badc") == 2)
    }
}
