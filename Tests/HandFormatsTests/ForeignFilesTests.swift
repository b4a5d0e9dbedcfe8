import HandCore
import HandFormats
import HandTestSupport
import Testing

/// Files of other programs, and what becomes of them.
@Suite struct ForeignFilesTests {
    private typealias Line = (level: Int, content: Content)

    private struct Reading: Equatable {
        var items: [String] = []
        var notKept: [String] = []
    }

    /// The items as lines such as `  [x] milk`, with two blanks for each level.
    private func read(
        _ text: String, _ format: ListFormat, bullets: ListFormat.Bullets = .notes, offset: Int = 0
    ) throws -> Reading {
        var random = SplitMix64(seed: 1)
        let reading = ListFormat.Reading(bullets: bullets, offset: { _ in offset })
        var reader = try ListReader(Array(text.utf8), in: format, as: reading)
        var result = Reading()
        while let item = try reader.next(using: &random) {
            result.items.append(String(repeating: "  ", count: Int(item.level)) + Printable.line(of: item.content))
        }
        result.notKept = reader.notKept
        return result
    }

    private func message(_ text: String, _ format: ListFormat) -> String? {
        #expect(throws: FormatError.self, "\(text)") { try read(text, format) }?.description
    }

    // MARK: CSV

    /// Without a bar, the last keyword of a line is for what is done.
    @Test func theLastKeywordOfOrgIsForWhatIsDone() throws {
        var random = SplitMix64(seed: 1)
        let text = "#+TODO: OPEN HALF SHUT\n* OPEN a\n* HALF b\n* SHUT c\n* BAR d\n"
        let items = try ListFormat.org.read(Array(text.utf8), using: &random)
        #expect(
            items.map(\.content) == [
                .task("a", done: false), .task("b", done: false), .task("c", done: true), .heading("BAR d"),
            ])
    }

    @Test func aHeaderChoosesColumns() throws {
        #expect(try read("done,text\ntrue,milk\n,eggs", .csv) == Reading(items: ["[x] milk", "[ ] eggs"]))
        let spreadsheet =
            "\u{FEFF}\"Title\";\"Owner\";\"Deadline\";\"Done\"\r\n\"milk; oats\";Ada;2026-12-01;TRUE\r\n;;;\r\n"
        #expect(
            try read(spreadsheet, .csv)
                == Reading(items: ["[x] milk; oats due:2026-12-01"], notKept: ["the column owner"]))
        #expect(
            try read("Task\tURL\nSwift\thttps://swift.org\nmilk\t\n", .csv).items == [
                "Swift <https://swift.org>", "[ ] milk",
            ])
        // A time in UTC may be on another day here.
        let due = "text,due\na,2026-12-01T23:00:00Z\nb,2026-12-01\nc,2026-12-01T23:00:00"
        #expect(
            try read(due, .csv, offset: 3_600).items == [
                "[ ] a due:2026-12-02", "[ ] b due:2026-12-01", "[ ] c due:2026-12-01",
            ])
        #expect(try read("text,url,done\nSwift,https://swift.org,yes", .csv).items == ["[x] Swift https://swift.org"])
        #expect(
            try read("TEXT,LEVEL,kind\na,0,\nb,1,note\nc,15,heading", .csv).items.map { $0.prefix(4) } == [
                "[ ] ", "  b", "    ",
            ])
        // The likelier name is the text; the other one is only named.
        #expect(
            try read("description,task\nlong,short", .csv)
                == Reading(items: ["[ ] short"], notKept: ["the column description"]))
    }

    @Test(arguments: [
        ("Foo,Bar\n", "line 1: expected the names of the columns, with one of text, task, "),
        ("text,text\n", "line 1: text: expected each column once, found two"),
        ("text,done\n\nmilk\n", "line 3: expected 2 values, as the first line has, found 1"),
        ("text,done\na,b,c\n", "line 2: expected 2 values, as the first line has, found 3"),
        ("text,done\n\"a\nb\",\nc,perhaps", "line 4: done: expected true or false, found \"perhaps\""),
        ("text,level\na,16", "line 2: level: expected a level from 0 to 15, found \"16\""),
        ("text,level\na,-1", "line 2: level: expected a level from 0 to 15, found \"-1\""),
        ("text,kind\na,tsk", "line 2: kind: expected the name of a kind or a number, found \"tsk\""),
        ("text,kind\nZz,card", "line 2: text: expected a card such as \"Q♠\" or \"??\", found \"Zz\""),
        ("text,kind,done\na,note,true", "line 2: done: expected nothing in a note, found \"true\""),
        ("text,kind,url\na,task,b", "line 2: url: expected nothing in a task, found \"b\""),
        ("text,due\na,12/01/2026", "line 2: due: expected a day such as 2026-12-01, found \"12/01/2026\""),
        ("text,due\na,2026-02-30", "line 2: due: expected a day such as 2026-12-01, found \"2026-02-30\""),
        ("text,escaped\n%zz,percent", "line 2: text: expected two hexadecimal digits after each %, found \"%zz\""),
        ("text,escaped\na,html", "line 2: escaped: expected \"percent\" or nothing, found \"html\""),
        ("text\n\"a", "line 2: text: expected a quote and then ',', found the end of the file"),
        ("text;done\n\"a\"b;", "line 2: text: expected a quote and then ';', found \"b;\""),
    ])
    func errorsOfCSV(text: String, expected: String) {
        #expect(message(text, .csv)?.hasPrefix(expected) == true, "\(message(text, .csv) ?? "")")
    }

    // MARK: Plain list items as tasks

    @Test func plainListItemsBecomeTasks() throws {
        let text = "- milk\n  - [x] eggs\n    1. bread\n- two\n  lines\n- [a](b)\n- Q♠ <!--card-->\n\nText.\n"
        let tasks = ["[ ] milk", "  [x] eggs", "    [ ] bread", "[ ] two lines", "a <b>", "Q♠", "Text. "]
        #expect(try read(text, .markdown, bullets: .tasks).items == tasks)
        #expect(try read(text, .markdown).items[0] == "milk")
    }

    /// Lists have fewer levels than texts may have.
    @Test func levelsThatAreTooHighAreLowered() throws {
        let markdown = (0..<18).map { String(repeating: "  ", count: $0) + "- a" }.joined(separator: "\n")
        let org = (1..<19).map { String(repeating: "*", count: $0) + " a" }.joined(separator: "\n")
        for (text, format) in [(markdown, ListFormat.markdown), (org, .org)] {
            let reading = try read(text, format)
            #expect(reading.items.suffix(4).map { $0.prefix { $0 == " " }.count } == [28, 30, 30, 30])
            #expect(reading.notKept == ["levels above 15"])
        }
        #expect(try read(markdown.split(separator: "\n").prefix(16).joined(separator: "\n"), .markdown).notKept == [])
    }

    // MARK: Org

    @Test func outlinesOfOrg() throws {
        let outline = try read(foreignSamples[.org] ?? "", .org)
        #expect(
            outline.items == [
                "Before the first headline, with two lines.", "## Errands :town:",
                "  [ ] [#A] Fetch parcel due:2026-12-01",
                "    It is at the post office.", "    [x] passport", "      the new one", "    [ ] fee", "    1. walk",
                "  [x] Buy stamps :post:mail:", "  [x] Paint shed", "## WAITING is no keyword here",
                "  #+begin_src sh echo Hello #+end_src",
            ])
        #expect(outline.notKept == ["settings (#+)", "scheduled days", "drawers", "comments", "clocked times"])
        #expect(try read("- a\n", .org, bullets: .tasks).items == ["[ ] a"])
        #expect(try read("**bold**\n *x\n*TODO y\n", .org).items == ["**bold** *x *TODO y"])
        #expect(
            try read("* TODO\n* TODO x\nDEADLINE: <2026-12-01 Tue 10:00 +1w>\n", .org).items == [
                "[ ] ", "[ ] x due:2026-12-01",
            ])
        #expect(
            try read(String(repeating: "*", count: 20) + " TODO deep\ntext", .org).items.map { $0.utf8.count } == [
                38, 34,
            ])
        #expect(
            message("* TODO x\nDEADLINE: soon", .org)
                == "line 1: DEADLINE: expected a day such as <2026-12-01>, found \"soon\"")
        // A drawer or a block without an end is text.
        #expect(try read(":NOTES:\nmine\n* b\n#+BEGIN_QUOTE\nc", .org).items == [":NOTES: mine", "## b", "  c"])
    }

    // MARK: Taskwarrior

    @Test func exportsOfTaskwarrior() throws {
        let tasks = Reading(
            items: [
                "[ ] Pay rent due:2026-12-01", "  by transfer", "  account 7", "[x] Call \"Bo\" {soon}", "[ ] Wait",
            ],
            notKept: ["project", "tags", "deleted tasks", "templates of recurring tasks"])
        let text = foreignSamples[.taskwarrior] ?? ""
        // The day begins in Berlin when it is 11 p.m. in UTC.
        #expect(try read(text, .taskwarrior, offset: 3_600) == tasks)
        #expect(try read(text, .taskwarrior).items[0] == "[ ] Pay rent due:2026-11-30")
        // On one line, on many, and without an array.
        #expect(try read(text.replacing("\n", with: " "), .taskwarrior, offset: 3_600) == tasks)
        #expect(
            try read(
                text.replacing(",", with: "\n,\n").replacing(" {soon}", with: " {soon}"), .taskwarrior, offset: 3_600)
                == tasks)
        let lines = text.split(separator: "\n").dropFirst().dropLast().joined(separator: "\n")
        #expect(try read(lines, .taskwarrior, offset: 3_600) == tasks)
    }

    @Test(arguments: [
        ("[\n{\"description\":\"a\"},\n{\"description\":1}]", "line 3: description: expected a text, found 1"),
        ("[{\"status\":\"pending\"}]", "line 1: description: expected a text, found nothing"),
        ("[{\"description\":\"a\"},\n", "line 1: expected ']' after the last task, found the end of the file"),
        ("\n{\"description\":\"a\",\n\"x\"", "line 2: byte 25: expected ':', found the end"),
        ("[1]", "line 1: expected a task in braces, found \"1]\""),
        (
            "[{\"description\":\"a\",\"due\":\"soon\"}]",
            "line 1: due: expected a time such as \"20261201T090000Z\", found \"soon\""
        ),
    ])
    func errorsOfTaskwarrior(text: String, expected: String) {
        #expect(message(text, .taskwarrior) == expected)
    }

    // MARK: iCalendar

    @Test func toDosOfCalendars() throws {
        let tasks = Reading(
            items: [
                "[ ] Plan the trip due:2026-12-01", "  Ask Bo, and Cy. Then book.", "  [x] Book rooms",
                "    [ ] Choose rooms",
                "  [ ] A long summary that is folded, here: ä", "[x] untitled", "[ ] Only a description",
            ],
            notKept: ["VEVENT", "PRIORITY", "RRULE", "cancelled to-dos"])
        let text = foreignSamples[.icalendar] ?? ""
        #expect(try read(text, .icalendar, offset: 3_600) == tasks)
        #expect(try read(text.replacing("\r\n", with: "\n"), .icalendar, offset: 3_600) == tasks)
        // The byte at which a line is folded may be within a character.
        var bytes = Array(text.utf8)
        let place = try #require(bytes.firstRange(of: Array("ä".utf8))).lowerBound + 1
        bytes.insert(contentsOf: "\r\n ".utf8, at: place)
        var random = SplitMix64(seed: 1)
        #expect(try ListFormat.icalendar.read(bytes, using: &random)[4].content.text.hasSuffix("here: ä"))
        // To-dos that are below each other all stay.
        let circle = ["a", "b"].map {
            "BEGIN:VTODO\nUID:\($0)\nRELATED-TO:\($0 == "a" ? "b" : "a")\nSUMMARY:\($0)\nEND:VTODO\n"
        }
        #expect(try read(circle.joined(), .icalendar).items == ["[ ] a", "  [ ] b"])
    }

    @Test(arguments: [
        ("hello\n", "line 1: expected a property and ':', found \"hello\""),
        ("SUMMARY:x\n", "line 1: expected BEGIN:VCALENDAR, found \"SUMMARY:x\""),
        ("BEGIN:VCALENDAR\nBEGIN:VTODO\nDUE:soon\n", "line 3: DUE: expected a day such as 20261201, found \"soon\""),
        (
            "BEGIN:VCALENDAR\nBEGIN:VTODO\nEND:VCALENDAR\n",
            "line 3: expected the end of a component that has begun, found \"END:VCALENDAR\""
        ),
        ("BEGIN:VCALENDAR\nBEGIN:VTODO\nSUMMARY:a\n  b\n", "line 1: expected END:VTODO, found the end of the file"),
        ("BEGIN:VCALENDAR\nX:a\n b\nY\n", "line 4: expected a property and ':', found \"Y\""),
    ])
    func errorsOfCalendars(text: String, expected: String) {
        #expect(message(text, .icalendar) == expected)
    }

    /// Where a violation is reported: the line of the to-do, although the file is read as a whole.
    @Test func toDosKnowTheirLines() throws {
        var random = SplitMix64(seed: 1)
        let text = "BEGIN:VCALENDAR\nBEGIN:VTODO\nSUMMARY:a\n a\nEND:VTODO\n\nBEGIN:VTODO\nEND:VTODO\nEND:VCALENDAR\n"
        var reader = try ListReader(Array(text.utf8), in: .icalendar)
        var lines: [Int] = []
        while try reader.next(using: &random) != nil { lines.append(reader.line) }
        #expect(lines == [2, 7])
    }

    // MARK: What a file is

    private func kind(_ text: String, as format: ListFormat?) -> String? {
        FileKind(of: text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }, otherThan: format)?.name
    }

    @Test(arguments: [
        ("%PDF-1.7\n%\u{E2}\n", "a PDF document"), ("<!DOCTYPE html>\n<ul>", "an HTML page"),
        ("\n <html lang=de>", "an HTML page"),
        ("PK\u{3}\u{4}\u{14}\0xl/workbook.xml", "an Excel workbook"), ("PK\u{3}\u{4}\u{14}\0a.txt", "a zip archive"),
        ("PK\u{3}\u{4}mimetypeapplication/vnd.oasis.opendocument.spreadsheet", "an OpenDocument table"),
        ("SQLite format 3\0", "an SQLite database"), ("\u{FF}\u{FE}m\0i\0", "text in UTF-16"),
        ("m\0i\0l\0k\0", "text in UTF-16"),
        ("\0m\0i\0l\0k", "text in UTF-16"), ("\u{89}PNG\r\n", "an image"), ("{\\rtf1 x}", "a document in RTF"),
        ("\u{1F}\u{8B}\u{8}\0", "a compressed file"), ("\u{7F}ELF\u{2}", "a program"),
        ("<?xml version=\"1.0\"?>", "an XML file"),
        ("[description:\"a\" status:\"pending\"]", "a data file of Taskwarrior"),
        ("BEGIN:VCARD\n", "a contact in vCard"),
        ("\u{D0}\u{CF}\u{11}\u{E0}\u{A1}\u{B1}\u{1A}\u{E1}", "a document of an old office program"),
    ])
    func filesThatNoFormatTakes(text: String, name: String) {
        for format in ListFormat.allCases + [nil] { #expect(kind(text, as: format) == name) }
    }

    @Test func filesOfAnotherFormat() {
        for (text, format, name) in [
            ("#+TITLE: a\n* b\n", ListFormat.org, "an Org file"), ("* TODO a\n* DONE b\n", .org, "an Org file"),
            ("# Local settings\n* Inbox\n** TODO a\n** b\n", .org, "an Org file"),
            ("BEGIN:VCALENDAR\r\n", .icalendar, "a calendar in iCalendar"),
            ("[\n{\"description\":\"a\",\"status\":\"pending\"}\n]", .taskwarrior, "an export of Taskwarrior"),
            ("{\"kind\":\"note\",\"text\":\"a\"}\n", .jsonl, "a list in JSON Lines"),
            ("Title;Status\na;b\n", .csv, "a table in CSV"),
            ("- [ ] a\n", .markdown, "a checklist in Markdown"),
        ] {
            for other in ListFormat.allCases + [nil] where other != format && !(format == .markdown && other == .org) {
                #expect(kind(text, as: other) == name, "\(text)")
                #expect(FileKind(of: Array(text.utf8), otherThan: other)?.format == format)
            }
            #expect(kind(text, as: format) == nil, "\(text)")
            #expect(kind("\u{EF}\u{BB}\u{BF}" + text, as: format == .todotxt ? .csv : .todotxt) == name)
        }
    }

    /// What no task is in was not made by Taskwarrior, whatever the file's name says.
    @Test func otherJSONIsNoExportOfTaskwarrior() {
        for text in ["{\"a\":1}\n", "[1,2]\n", "{\"items\":[]}\n", "{}\n", "[{\"title\":\"a\"}]\n"] {
            #expect(kind(text, as: .taskwarrior) == "a JSON file", "\(text)")
        }
        for text in ["[]\n", "[\n]\n", "{\"description\":\"a\"}\n"] {
            #expect(kind(text, as: .taskwarrior) == nil, "\(text)")
        }
    }

    /// What people write is not taken for something else.
    @Test func ordinaryFilesAreNotOfAnotherFormat() {
        for text in [
            "", "\n", "milk\n", "# Roadmap\n\n* TODO write docs\n", "[link](u)\n", "[ ] a\n", "{ braces }\n",
            "* a\n* b\n", "**bold** text",
            "Title, and more\n", "x done\n", "#hashtag: a\n", "PK is a name\n", "BZh is a word\n", "a\0b\n",
        ] {
            for format in [ListFormat.markdown, .todotxt] { #expect(kind(text, as: format) == nil, "\(text)") }
        }
        // An export is not, either, whatever its texts look like.
        let looks = [
            "#+tag: x", "BEGIN:VCALENDAR", "text,done", "- [ ] x", "{\"kind\":\"note\"}", "[a](b)", "<html>", "<?xml?>",
            "BEGIN:VCARD", "[description:\"a\"]", "{\"a\":1}", "%PDF-1.7", "GIF89a",
        ]
        let texts = ["** TODO call", "* TODO buy"].map { Content.task($0, done: false) }
        for format in ListFormat.written {
            for contents in [texts + sampleContents] + looks.map({ [.task($0, done: false)] }) {
                let items = contents.enumerated().map { Item(id: ItemID(rawValue: UInt64($0 + 1)), content: $1) }
                #expect(
                    FileKind(of: listText(of: items, in: format), otherThan: format) == nil, "\(format) \(contents)")
            }
        }
    }
}

/// A file for each format that is only read.
let foreignSamples: [ListFormat: String] = [
    .org: """
    #+TITLE: Errands
    Before the first headline,
      with two lines.

    * Errands                                  :town:
    ** TODO [#A] Fetch parcel
       SCHEDULED: <2026-11-30 Mon> DEADLINE: <2026-12-01 Tue>
       :PROPERTIES:
       :ID: 7
       :END:
       It is at the post office.
       - [X] passport
         - the new one
       - [-] fee
       1. walk
    # a comment
       CLOCK: [2026-11-21 Sat 10:00]--[2026-11-21 Sat 10:30] =>  0:30
    ** DONE Buy stamps    :post:mail:
    ** PAINTED Paint shed
    * WAITING is no keyword here
    #+begin_src sh
    echo Hello
    #+end_src
    #+TODO: BUY | BOUGHT(b) PAINTED(p!)

    """,
    .taskwarrior: #"""
    [
    {"id":1,"description":"Pay rent","due":"20261130T230000Z","project":"home","status":"pending","tags":["a"],"uuid":"1","annotations":[{"entry":"20261101T090000Z","description":"by transfer"},{"entry":"20261101T090000Z","description":"account 7"}],"urgency":9.1},
    {"id":0,"description":"Call \"Bo\" {soon}","status":"completed","uuid":"2"},
    {"id":0,"description":"Gone","status":"deleted","uuid":"3"},
    {"id":2,"description":"Each week","status":"recurring","recur":"weekly","uuid":"4"},
    {"id":3,"description":"Wait","status":"waiting","uuid":"5"}
    ]

    """#,
    .icalendar: """
    BEGIN:VCALENDAR
    VERSION:2.0
    BEGIN:VEVENT
    SUMMARY:A party
    END:VEVENT
    BEGIN:VTODO
    UID:c
    RELATED-TO;RELTYPE=PARENT:b
    SUMMARY:Choose rooms
    END:VTODO
    BEGIN:VTODO
    UID:a
    SUMMARY:Plan the trip
    DESCRIPTION:Ask Bo\\, and Cy.\\nThen book.
    DUE;X-NOTE="a:b":20261130T230000Z
    PRIORITY:1
    BEGIN:VALARM
    DESCRIPTION:Reminder
    END:VALARM
    END:VTODO
    BEGIN:VTODO
    UID:b
    RELATED-TO:a
    SUMMARY:Book rooms
    STATUS:COMPLETED
    RRULE:FREQ=DAILY
    END:VTODO
    BEGIN:VTODO
    UID:d
    RELATED-TO:a
    SUMMARY:A long summary that
      is folded\\, here: ä
    STATUS:NEEDS-ACTION
    END:VTODO
    BEGIN:VTODO
    COMPLETED:20261101T090000Z
    RELATED-TO:missing
    END:VTODO
    BEGIN:VTODO
    SUMMARY:Not any more
    STATUS:CANCELLED
    END:VTODO
    BEGIN:VTODO
    DESCRIPTION:Only a description
    END:VTODO
    END:VCALENDAR

    """.replacing("\n", with: "\r\n"),
]
