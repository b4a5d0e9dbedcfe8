import HandCore
import HandFormats
import HandTestSupport
import Testing

/// The written formats, and the results of reading files of other programs.
@Suite struct ListFilesTests {
    private func contents(_ text: String, _ format: ListFormat) throws -> [Content] {
        var random = SplitMix64(seed: 1)
        return try format.read(text.utf8, using: &random).map(\.content)
    }

    /// An export may replace an earlier one, but no file of a person, even if some of its lines are the list's.
    @Test func onlyAnExportIsReplaced() throws {
        var random = SplitMix64(seed: 1)
        let text = "bread\nmilk\ntea\n"
        let items = try ListFormat.todotxt.read(text.utf8, using: &random)
        func isExport(_ text: String, _ format: ListFormat = .todotxt) -> Bool {
            format.isExport(Array(text.utf8), of: items)
        }
        #expect(isExport(text) && isExport("bread\nmilk\nwine\n") && isExport("milk\nwine\n"))
        #expect(!isExport("bread\nwine\nbeer\n") && !isExport("my own\ntasks\nmilk\n") && !isExport("bread\n\nmilk\n"))
        #expect(isExport("- [ ] bread\n- [ ] wine\n", .markdown))
        #expect(!isExport("Diary\n\n- [ ] bread\n- [ ] milk\n", .markdown))
        #expect(!isExport("text\n\"bread\"\nmine\n", .csv))
    }

    @Test(arguments: [
        (
            ListFormat.markdown,
            """
            ## Dairy

            - [ ] Milk
            - [x] Cheese
            - two
              lines
            - [Swift [lang]](https://swift.org/(a))
            - Q♠ <!--card-->
            <!--kind 900 AAEC-->

            """
        ),
        (
            .todotxt,
            """
            Dairy kind:heading
            Milk
            x Cheese
            two%0Alines kind:note escaped:percent
            Swift [lang] url:https://swift.org/(a) kind:link
            Q♠ kind:card
            bytes:AAEC kind:900

            """
        ),
        (
            .csv,
            """
            text,done,level,kind,url,escaped\r
            Dairy,,0,heading,,\r
            Milk,false,0,task,,\r
            Cheese,true,0,task,,\r
            "two
            lines",,0,note,,\r
            Swift [lang],,0,link,https://swift.org/(a),\r
            Q♠,,0,card,,\r
            AAEC,,0,900,,\r

            """
        ),
        (
            .jsonl,
            """
            {"id":"0000000000002","kind":"heading","text":"Dairy","level":0}
            {"id":"0000000000004","kind":"task","text":"Milk","done":false,"level":0}
            {"id":"0000000000006","kind":"task","text":"Cheese","done":true,"level":0}
            {"id":"0000000000008","kind":"note","text":"two\\nlines","level":0}
            {"id":"000000000000a","kind":"link","text":"Swift [lang]","url":"https://swift.org/(a)","level":0}
            {"id":"000000000000c","kind":"card","card":"Q♠","level":0}
            {"id":"000000000000e","kind":900,"bytes":"AAEC","level":0}

            """
        ),
    ])
    func whatTheyLookLike(format: ListFormat, expected: String) {
        let items = sampleContents.enumerated().map { Item(id: ItemID(rawValue: UInt64($0 + 1)), content: $1) }
        #expect(String(decoding: listText(of: items, in: format), as: UTF8.self) == expected)
    }

    /// Some programs drop blanks at the ends of values that are not quoted.
    @Test(arguments: [(" a", "\" a\""), ("a ", "\"a \""), ("a b", "a b"), ("\ta", "\"\ta\""), ("", "")])
    func blanksAtTheEndsOfValuesAreQuoted(text: String, value: String) {
        let items = [Item(id: ItemID(rawValue: 2), content: .note(text))]
        let rows = String(decoding: listText(of: items, in: .csv), as: UTF8.self).split(separator: "\r\n")
        #expect(rows.last == "\(value),,0,note,,")
    }

    @Test func todoOfOthers() throws {
        let text = """
            (A) 2026-01-01 Call Mum +family @phone due:2026-02-01
            x 2026-01-02 2026-01-01 100%25 done
            X not done
            x
            about kind:of
            Zz kind:card
            no url kind:link
            x a note that is done kind:note
            %zz kind:note escaped:percent
            C:\\dir %20
            kind:0
            bytes:?? kind:900
              indented\twords
            \tx indented
            """
        #expect(
            try contents(text, .todotxt) == [
                .task("(A) 2026-01-01 Call Mum +family @phone due:2026-02-01", done: false),
                .task("2026-01-02 2026-01-01 100%25 done", done: true), .task("X not done", done: false),
                .task("x", done: false), .task("about kind:of", done: false), .task("Zz kind:card", done: false),
                .task("no url kind:link", done: false), .task("a note that is done kind:note", done: true),
                .task("%zz kind:note escaped:percent", done: false), .task("C:\\dir %20", done: false),
                .task("kind:0", done: false), .task("bytes:?? kind:900", done: false),
                .task("  indented\twords", done: false), .task("\tx indented", done: false),
            ])
        // They come back as they were.
        let items = try contents(text, .todotxt).map { Item(id: ItemID(rawValue: 1), content: $0) }
        #expect(String(decoding: listText(of: items, in: .todotxt), as: UTF8.self) == text + "\n")
    }

    // MARK: Files

    @Test func endsOfLinesMarksAndBlanks() throws {
        for format in ListFormat.written {
            // In Markdown, blank lines within a note are its own.
            let contents = sampleContents.filter { $0 != .note("two\nlines") }
            let items = contents.enumerated().map { Item(id: ItemID(rawValue: UInt64($0 + 1)), content: $1) }
            let text = String(decoding: listText(of: items, in: format), as: UTF8.self)
            let foreign = "\u{FEFF}\r\n" + text.split(whereSeparator: \.isNewline).joined(separator: "\r\n \t\r\n\n")
            #expect(try self.contents(foreign, format) == contents)
            #expect(try self.contents("", format) == [])
            #expect(try self.contents("\u{FEFF}", format) == [])
        }
    }

    @Test func errorsSayTheLine() throws {
        let note = #"{"id":"0000000000002","kind":"note","text":"","level":0}"#
        let texts: [(String, ListFormat, String)] = [
            (note + "\n\n{", .jsonl, "line 3: byte 2: expected the name of a field in quotes, found the end"),
            (note + "\r\n" + note, .jsonl, "line 2: id: expected an id that no earlier line has, found 0000000000002"),
            (
                #"{"id":1,"kind":"note","text":"","level":0}"#, .jsonl,
                "line 1: id: expected an id of 13 characters, found 1"
            ),
            ("[]", .jsonl, "line 1: expected an item, found []"),
        ]
        for (text, format, message) in texts {
            let error = #expect(throws: FormatError.self) { try contents(text, format) }
            #expect(error?.description == message)
        }
        var random = SplitMix64(seed: 1)
        for format in ListFormat.allCases {
            let error = #expect(throws: FormatError.self) { try format.read([0x0A, 0xFF, 0x0A], using: &random) }
            #expect(error?.description == "line 2: expected text in UTF-8, found other bytes")
        }
    }

    /// A line of JSON needs only what nobody can guess.
    @Test func linesMayLeaveOutKinds() throws {
        let text =
            #"{"text":"a"}"# + "\n" + #"{"done":true,"text":"b"}"# + "\n" + #"{"text":"c","url":"d"}"# + "\n"
            + #"{"card":"Q♠"}"# + "\n" + #"{"kind":"task","text":"e","level":1}"#
        var random = SplitMix64(seed: 3)
        #expect(
            try ListFormat.jsonl.read(text.utf8, using: &random).map(\.content) == [
                .task("a", done: false), .task("b", done: true), .link("c", url: "d"),
                .card(try #require(Card("Q♠"))), .task("e", done: false),
            ])
    }

    @Test func idsAreKeptOrMinted() throws {
        let text =
            #"{"id":"0000000000002","kind":"note","text":"a","level":0}"# + "\n"
            + #"{"kind":"note","text":"b","level":0}"#
        var random = SplitMix64(seed: 3)
        let kept = try ListFormat.jsonl.read(text.utf8, using: &random)
        #expect(kept[0].id == ItemID(rawValue: 1))
        let minted = try ListFormat.jsonl.read(text.utf8, as: .init(ids: .minted), using: &random)
        #expect(minted.map(\.content) == kept.map(\.content))
        #expect(Set((kept + minted).map(\.id)).count == 4)
        #expect(throws: Never.self) {
            try ListFormat.jsonl.read((text + "\n" + text).utf8, as: .init(ids: .minted), using: &random)
        }
    }

    @Test func namesOfFiles() {
        #expect(ListFormat(fileName: "list.jsonl") == .jsonl)
        #expect(ListFormat(fileName: "/tmp/a.b/README.MD") == .markdown)
        #expect(ListFormat(fileName: "todo.txt") == .todotxt)
        #expect(ListFormat(fileName: "list") == nil)
        #expect(ListFormat(fileName: "list.") == nil)
        #expect(ListFormat(fileName: "tasks.CSV") == .csv)
        #expect(ListFormat(fileName: "a.ics") == .icalendar)
        #expect(ListFormat.written.map(\.name) == ["jsonl", "markdown", "todotxt", "csv"])
    }

    struct Full: Error {}

    @Test func whatTheWriterThrowsIsHandedOn() {
        let items = tasks(3)
        var written = 0
        #expect(throws: Full.self) {
            try ListFormat.jsonl.export(items) { _ throws(Full) in
                written += 1
                if written == 2 { throw Full() }
            }
        }
        #expect(written == 2)
    }
}

/// One item of each kind, and both states of a task.
let sampleContents: [Content] = [
    .heading("Dairy"), .task("Milk", done: false), .task("Cheese", done: true), .note("two\nlines"),
    .link("Swift [lang]", url: "https://swift.org/(a)"), .card(.faceUp(.queen, .spades)),
    .unknown(Content.Kind(rawValue: 900), [0, 1, 2]),
]

/// Returns the items as the text of a file.
func listText(of items: [Item], in format: ListFormat) -> [UInt8] {
    var text: [UInt8] = []
    format.export(items) { text += $0.utf8 }
    return text
}
