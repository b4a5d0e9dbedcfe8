import HandCore
import HandFormats
import HandTestSupport
import Testing

@Suite struct ListFormatTests {
    /// Pieces that mean something in one of the forms, or to a reader of lines.
    private static let pieces = [
        "", "a", "x ", "x", "X ", " ", "\t", "\n", "\r", "\r\n", "\u{0}", "\u{7F}", "\u{85}", "\u{2028}", "\u{FEFF}", "\u{301}",
        "🂠 Q♠", "Q♠", "??", "👩‍👩‍👧", "- ", "* ", "[ ]", "[x] ", "[", "]", "(", ")", "](", "\\", "\\n", "#", "## ", " #", "<br>",
        "<br", "<!--card-->", " <!--card-->", "<!--kind 900 AA==-->", "&", "&#", "&#32;", "&amp;", ";", "%", "%20", "%zz", "kind:",
        "kind:note", "kind:task", " kind:card", "url:", " url:u kind:link", "escaped:percent", " escaped:percent", "bytes:AA==",
        "(A) ", "2026-01-01 ", "+project @home due:2026-01-01", "\"", "{\"id\":", "https://example.org/?a=1&b=%20(c)",
    ]

    private static func contents(_ text: String, _ other: String) -> [Content] {
        [
            .note(text), .task(text, done: false), .task(text, done: true), .heading(text), .link(text, url: other),
            .link(other, url: text), .unknown(Content.Kind(rawValue: 900), Array(text.utf8)), .card(.faceUp(.queen, .spades)),
            .card(.faceDown),
        ]
    }

    private func text(of items: [Item], in format: ListFormat) -> [UInt8] {
        var text: [UInt8] = []
        format.export(items) { text += $0.utf8 }
        return text
    }

    private func expectRoundTrip(_ contents: [Content], _ format: ListFormat) throws {
        var random = SplitMix64(seed: 7)
        let items = contents.map { Item(id: .random(using: &random), content: $0) }
        let bytes = text(of: items, in: format)
        #expect(bytes.split(separator: UInt8(ascii: "\n")).count == items.count)
        let read = try format.read(bytes, using: &random)
        if read.map(\.content) != contents {
            for (item, back) in zip(items, read) where item.content != back.content {
                Issue.record("\(format): \(item.content) was written as \(text(of: [item], in: format).description) and read as \(back.content)")
            }
            #expect(read.count == contents.count)
        }
        if format == .jsonl { #expect(read == items) }
    }

    @Test(arguments: ListFormat.allCases)
    func everyPairOfPiecesIsReadBack(format: ListFormat) throws {
        for first in Self.pieces {
            try expectRoundTrip(Self.pieces.flatMap { Self.contents(first + $0, $0) }, format)
        }
    }

    @Test(arguments: ListFormat.allCases)
    func randomTextsAreReadBack(format: ListFormat) throws {
        var random = SplitMix64(seed: testSeed(62))
        for _ in 0..<2000 {
            func text() -> String {
                (0..<random.next(below: 6)).map { _ in Self.pieces[random.next(below: Self.pieces.count)] }.joined()
            }
            try expectRoundTrip(Self.contents(text(), text()), format)
        }
    }

    @Test(arguments: ListFormat.allCases)
    func eachItemAloneIsReadBack(format: ListFormat) throws {
        for content in Self.pieces.flatMap({ Self.contents($0, $0) }) { try expectRoundTrip([content], format) }
    }

    // MARK: The forms

    private static let samples: [Content] = [
        .heading("Dairy"), .task("Milk", done: false), .task("Cheese", done: true), .note("two\nlines"),
        .link("Swift [lang]", url: "https://swift.org/(a)"), .card(.faceUp(.queen, .spades)),
        .unknown(Content.Kind(rawValue: 900), [0, 1, 2]),
    ]

    @Test(arguments: [
        (
            ListFormat.markdown,
            """
            ## Dairy
            - [ ] Milk
            - [x] Cheese
            - two<br>lines
            - [Swift \\[lang\\]](https://swift.org/\\(a\\))
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
            .jsonl,
            """
            {"id":"0000000000002","kind":"heading","text":"Dairy"}
            {"id":"0000000000004","kind":"task","text":"Milk","done":false}
            {"id":"0000000000006","kind":"task","text":"Cheese","done":true}
            {"id":"0000000000008","kind":"note","text":"two\\nlines"}
            {"id":"000000000000a","kind":"link","text":"Swift [lang]","url":"https://swift.org/(a)"}
            {"id":"000000000000c","kind":"card","card":"Q♠"}
            {"id":"000000000000e","kind":900,"bytes":"AAEC"}

            """
        ),
    ])
    func whatTheyLookLike(format: ListFormat, expected: String) {
        let items = Self.samples.enumerated().map { Item(id: ItemID(rawValue: UInt64($0 + 1)), content: $1) }
        #expect(String(decoding: text(of: items, in: format), as: UTF8.self) == expected)
    }

    private func contents(_ text: String, _ format: ListFormat) throws -> [Content] {
        var random = SplitMix64(seed: 1)
        return try format.read(text.utf8, using: &random).map(\.content)
    }

    @Test func markdownOfOthers() throws {
        let text = """
            # Title #
            Some *prose* with C:\\dir & <b>marks</b>.

              * [X] nested, done
            \t+ [ ]\ttab
            - [ ]
            -
            1. first
            #hashtag
            - [a [b]](https://en.wikipedia.org/wiki/Hand_(disambiguation))
            - [a](b "title")
            - [a](b) and more
            - [x]done
            - a \\*star\\* &#x41;&#66; <br/> &amp;
            - Q♠ <!--card--> or not
            - Zz <!--card-->
            <!--kind 3 AA==-->
            <!-- a comment -->
            ######## too deep
            ##
            """
        #expect(
            try contents(text, .markdown) == [
                .heading("Title"), .note("Some *prose* with C:\\dir & <b>marks</b>."), .task("nested, done", done: true),
                .task("tab", done: false), .task("", done: false), .note(""), .note("1. first"), .note("#hashtag"),
                .link("a [b]", url: "https://en.wikipedia.org/wiki/Hand_(disambiguation)"), .note("[a](b \"title\")"),
                .note("[a](b) and more"), .note("[x]done"), .note("a *star* AB \n &amp;"), .note("Q♠ <!--card--> or not"),
                .note("Zz <!--card-->"), .note("<!--kind 3 AA==-->"), .note("<!-- a comment -->"), .note("######## too deep"),
                .heading(""),
            ])
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
            """
        #expect(
            try contents(text, .todotxt) == [
                .task("(A) 2026-01-01 Call Mum +family @phone due:2026-02-01", done: false),
                .task("2026-01-02 2026-01-01 100%25 done", done: true), .task("X not done", done: false),
                .task("x", done: false), .task("about kind:of", done: false), .task("Zz kind:card", done: false),
                .task("no url kind:link", done: false), .task("a note that is done kind:note", done: true),
                .task("%zz kind:note escaped:percent", done: false), .task("C:\\dir %20", done: false),
                .task("kind:0", done: false), .task("bytes:?? kind:900", done: false),
            ])
    }

    // MARK: Files

    @Test func endsOfLinesMarksAndBlanks() throws {
        for format in ListFormat.allCases {
            let items = Self.samples.enumerated().map { Item(id: ItemID(rawValue: UInt64($0 + 1)), content: $1) }
            let text = String(decoding: text(of: items, in: format), as: UTF8.self)
            let foreign = "\u{FEFF}\r\n" + text.split(separator: "\n").joined(separator: "\r\n \t\r\n\n")
            #expect(try contents(foreign, format) == Self.samples)
            #expect(try contents("", format) == [])
            #expect(try contents("\u{FEFF}", format) == [])
        }
    }

    @Test func errorsSayTheLine() throws {
        let note = #"{"id":"0000000000002","kind":"note","text":""}"#
        let texts: [(String, ListFormat, String)] = [
            (note + "\n\n{", .jsonl, "line 3: byte 2: expected the name of a field in quotes, found the end"),
            (note + "\r\n" + note, .jsonl, "line 2: id: expected an id that no line before has, found 0000000000002"),
            (#"{"id":1,"kind":"note","text":""}"#, .jsonl, "line 1: id: expected an id of 13 characters, found 1"),
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

    @Test func idsAreKeptOrMinted() throws {
        let text = #"{"id":"0000000000002","kind":"note","text":"a"}"# + "\n" + #"{"kind":"note","text":"b"}"#
        var random = SplitMix64(seed: 3)
        let kept = try ListFormat.jsonl.read(text.utf8, using: &random)
        #expect(kept[0].id == ItemID(rawValue: 1))
        let minted = try ListFormat.jsonl.read(text.utf8, ids: .minted, using: &random)
        #expect(minted.map(\.content) == kept.map(\.content))
        #expect(Set((kept + minted).map(\.id)).count == 4)
        #expect(throws: Never.self) { try ListFormat.jsonl.read((text + "\n" + text).utf8, ids: .minted, using: &random) }
    }

    @Test func namesOfFiles() {
        #expect(ListFormat(fileName: "list.jsonl") == .jsonl)
        #expect(ListFormat(fileName: "/tmp/a.b/README.MD") == .markdown)
        #expect(ListFormat(fileName: "todo.txt") == .todotxt)
        #expect(ListFormat(fileName: "list") == nil)
        #expect(ListFormat(fileName: "list.") == nil)
        #expect(ListFormat.allCases.map(\.name) == ["jsonl", "markdown", "todotxt"])
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

    /// Whatever the bytes, there is a list or an error; and what is read is exported and read again as the same.
    @Test(arguments: ListFormat.allCases)
    func anyBytesAreAListOrAnError(format: ListFormat) throws {
        var random = SplitMix64(seed: testSeed(63))
        let sample = text(of: Self.samples.map { Item(id: .random(using: &random), content: $0) }, in: format)
        for round in 0..<4000 {
            var bytes = sample
            for _ in 0..<(1 + random.next(below: 8)) {
                let index = random.next(below: bytes.count)
                switch round % 3 {
                case 0: bytes[index] ^= 1 << UInt8(random.next(below: 8))
                case 1: bytes.removeSubrange(index..<min(bytes.count - 1, index + 3))
                default: bytes.insert(contentsOf: Self.pieces[random.next(below: Self.pieces.count)].utf8, at: index)
                }
            }
            guard let items = try? format.read(bytes, using: &random) else { continue }
            let again = try format.read(text(of: items, in: format), using: &random)
            #expect(again.map(\.content) == items.map(\.content))
        }
        for _ in 0..<500 {
            let noise = (0..<random.next(below: 200)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            _ = try? format.read(noise, using: &random)
        }
    }
}
