import HandFormats
import Testing

/// Who does a task and when it is due, in its text.
@Suite struct TaskWordsTests {
    static let rows: [(String, [String])] = [
        ("milk", []), ("@bob", ["bob"]), ("call @bob due:2026-12-01", ["bob", "2026-12-01"]),
        ("due:2026-12-01 @bob @eve", ["2026-12-01", "bob", "eve"]), ("(@bob), @eve: ask!", ["bob", "eve"]),
        ("mail ada@example.org", []), ("@", []), ("@@bob", []), ("@a@b", []), ("due:", []), ("due:tomorrow", []),
        ("pay (due:2026-12-01) ((due:2026-12-02), due:(2026-12-03)", ["2026-12-01", "2026-12-02"]),
        ("due:2026-12-04(", []), ("due:2026-12-01.", ["2026-12-01"]), ("due:2026-12-011", []), ("xdue:2026-12-01", []),
        ("due:2026-02-29", []), ("due:2028-02-29", ["2028-02-29"]), ("due:1900-02-29", []),
        ("due:2000-02-29", ["2000-02-29"]), ("due:2026-13-01", []), ("due:2026-00-01", []), ("due:2026-01-00", []),
        ("due:2026-04-31", []), ("due:2026-1-01", []), ("due:+026-01-01", []), ("due:２０２６-01-01", []),
        ("a\n@bob\tdue:2026-12-01", ["bob", "2026-12-01"]), ("@Zoë @漢字", ["Zoë", "漢字"]),
    ]

    @Test(arguments: rows)
    func wordsAreFound(text: String, expected: [String]) {
        var found: [String] = []
        TaskWords.forEach(in: text) { word, range in
            switch word {
            case .person(let name):
                #expect(text[range] == "@" + name)
                found.append(String(name))
            case .due(let day):
                #expect(text[range] == "due:" + day)
                found.append(String(day))
            }
            return true
        }
        #expect(found == expected)
    }

    @Test func peopleAreNamedAsTheyAre() {
        #expect(TaskWords.names("Bob", in: "ask @bob") && TaskWords.names("bob", in: "ask @eve or @BOB"))
        #expect(!TaskWords.names("bob", in: "ask @bobby") && !TaskWords.names("bob", in: "ask bob"))
        #expect(TaskWords.word(for: "Ada  Lovelace") == "@Ada_Lovelace")
        #expect(TaskWords.names("Ada Lovelace", in: "@ada_lovelace"))
        #expect(TaskWords.names("(guest) bob", in: "@bob") && TaskWords.word(for: "(guest) Ada L") == "@Ada_L")
        #expect(TaskWords.due("a due:2026-12-01 due:2025-01-01") == "2026-12-01" && TaskWords.due("a @b") == nil)
    }
}
