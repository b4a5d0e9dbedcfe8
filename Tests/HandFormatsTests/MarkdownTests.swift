import HandCore
import HandFormats
import HandTestSupport
import Testing

/// Markdown of other programs: what its lines become, and that it comes back as it was.
@Suite struct MarkdownTests {
    private func contents(_ text: String) throws -> [Content] {
        var random = SplitMix64(seed: 1)
        return try ListFormat.markdown.read(text.utf8, using: &random).map(\.content)
    }

    private func exported(_ contents: [Content]) -> String {
        let items = contents.enumerated().map { Item(id: ItemID(rawValue: UInt64($0 + 1)), content: $1) }
        return String(decoding: listText(of: items, in: .markdown), as: UTF8.self)
    }

    // MARK: Kept

    /// Each block is kept byte for byte: alone, after a heading, after a list, after itself, and before all of these.
    @Test(arguments: blocks)
    func blocksAreKept(_ block: String) throws {
        let others = ["## Next", "- [ ] a task", "1. first\n2. second", "A paragraph.", block]
        for text in [block] + others.flatMap({ ["\($0)\n\n\(block)", "\(block)\n\n\($0)"] }) {
            #expect(exported(try contents(text + "\n")) == text + "\n")
        }
    }

    /// Indented code may have blank lines, and begin with a mark that combines with its last blank.
    @Test func indentedCodeIsKept() throws {
        let notes = ["    \u{301}a\n", "    b\n"].map { Content.note($0) }
        #expect(try contents(exported(notes)) == notes)
        let block = "    x\n" + String(repeating: "\n", count: 30_000) + "    y\n"
        #expect(try contents(block) == [.note(block)])
        #expect(try contents(block + "\n\nwords\n") == [.note(block), .note("words\n")])
    }

    private static let blocks = [
        // Headings of all sorts.
        "# Title", "### Deeper", "###### Deepest", "## Closed ##", "# `code` and *stars* #", "#", "## # Two",
        "Title\n=====", "Title *with* marks\n---", "Two\nlines\n===",
        // Paragraphs, with everything that a line may hold.
        "See [the docs](https://example.org/a_(b) \"title\"), [this][ref] and <https://example.org>.",
        "[![build](https://ci.example/badge.svg)](https://ci.example) [![x][y]][z]\n![image](a.png)",
        "[ref]: https://example.org\n[y]: <https://example.org/a b> 'title'",
        "Escapes \\*stay\\*, &amp; and &#42; too, <br> and <br/>, C:\\dir.",
        "A hard break  \nand one more\\\nend.", "#hashtag, 1.5 and -x are words.", "*emphasis* first",
        "wrapped text that\n  is indented\n    somewhere", "a\n2. is no list in a paragraph",
        // Other blocks.
        "> a quote\n> - [ ] with a task\n>\n> ```\n> # code\n> ```", "---", "* * *", "___",
        "| a | b |\n|---|:-:|\n| - [ ] c | # d |", "a | b\n- | -\nc | d",
        "    indented code\n\n    # no heading\n\n\n    end",
        "[^1]: A footnote\n    with an indented line",
        // Fences.
        "```sh\n# a comment\n- [ ] no task\n\n\n1. no item\n```", "~~~\n```\n- [x] a\n~~~",
        "````md\n```\n## x\n```\n````",
        "```\n\n  trailing blanks  \n\t\n```", "   ```\n   - [ ] x\n   ```", "```\n```",
        // HTML.
        "<div align=\"center\">\n  <h1>Title</h1>\n- [ ] no task\n## no heading\n</div>",
        "<!-- a comment\n\n- [ ] no task\n\n# no heading\n-->", "<!-- lint off -->\n| a |\n|---|",
        "<pre>\n\n# no heading\n\n- [ ] no task\n</pre>", "<?xml\n\n# a\n?>", "<!DOCTYPE html>",
        "<img src=\"a.png\">\n- no item",
        "<b>bold</b> words", "<details>\n<summary>More</summary>", "<!-- kind 900 AAEC -->",
        // Invisible characters that have a meaning where they are.
        "👩‍👩‍👧 and ©️, نمی‌خواهم",
    ]

    /// Each list item is kept byte for byte, alone and next to others.
    @Test(arguments: items)
    func listItemsAreKept(_ item: String) throws {
        for text in [item, "- x\n\(item)\n- [ ] y", "# t\n\n\(item)\n\nparagraph", "3. three\n\(item)\n4. four"] {
            #expect(exported(try contents(text + "\n")) == text + "\n")
        }
    }

    private static let items = [
        "- [docs](https://example.org) explain it", "- [ref]", "- [a][b]", "- [a]: b", "- [x]done", "- [ ]",
        "- [a [b]](https://en.wikipedia.org/wiki/Hand_(disambiguation))", "- [a](b \"title\")", "- [a](<b c>)",
        "- [![CI](https://ci.example/a.svg)](https://ci.example)", "- <https://example.org>", "- **bold** and `code`",
        "- \\[ ] no task", "- a \\*star\\* &#x41;&#66; <br/> &amp;", "- # no heading", "- > quoted", "- - nested",
        "- a | b",
        "- two\n  lines", "- a paragraph\n\n  and another\n\n\n  and a third",
        "- `a`\n  ```sh\n  # x\n\n    - [ ] y\n  ```",
        "- ```\n  code\n  ```", "- [ ] a task\n  with a second line", "- [x] done\n\n  ```\n  - [ ] no task\n  ```",
        "- a\n\n      - code in an item", "1. one", "10) ten", "2024. was a year", "1.",
        "1. one\n\n   ```sh\n   - [ ] x\n   ```",
        "12. twelve\n    and more", "- [ ] 1. a task", "- [ ] [docs](https://example.org)", "- [ ] # x",
        "- Q♠ <!--card--> or not",
        "- Zz <!--card-->", "-", "- 50 % &copy; &", "- a\n\n  b <!--escaped--> c",
    ].map { $0 == "-" ? "- " : $0 == "- [ ]" ? "- [ ] " : $0 }

    @Test func aWholeFileIsKept() throws {
        let text = """
            ---
            title: hand

            draft: true
            ---

            <p align="center">
              <img src="logo.png">
            </p>

            # Soup

            [![ci](https://ci.example/x.svg)](https://ci.example)

            A soup that people
            cook together. See [the book][1].

            ## Contents

            - [Cook](#cook)
            - [Eat](#eat) soon

            ## Cook

            1. Boil water:

               ```sh
               # as the first thing
               boil --water
               ```

            2. Wait.

            - [ ] buy salt
            - [x] buy leeks

            Then
            ----

            ```yaml
            steps:
              - [ ] stir

              # done
            ```

            [1]: https://example.org/book

            """
        // A list that is written with blank lines between its items comes back without them.
        let expected = text.replacing("   ```\n\n2. Wait.\n\n- [ ]", with: "   ```\n2. Wait.\n- [ ]")
        #expect(exported(try contents(text)) == expected)
        #expect(exported(try contents(expected)) == expected)
    }

    // MARK: Not kept

    @Test(arguments: [
        // Blank lines between blocks; a file without an end of line; a byte order mark; CR LF.
        ("# a\n- b\nc\n", "# a\n\n- b\n  c\n"), ("- a\n\n- b\n\n\n\n## c\n\n\n\nd\n\n", "- a\n- b\n\n## c\n\nd\n"),
        ("a\n- b", "a\n\n- b\n"), ("\u{FEFF}# a\r\n\r\nb\r\nc\r\n", "# a\n\nb\nc\n"),
        ("```\na\n```\nb", "```\na\n```\n\nb\n"),
        // Indentation, bullets, numbers of tasks, capital X.
        ("  # a", "# a\n"), ("* a\n  + b\n    * [X] c\n-   d", "- a\n- b\n- [x] c\n- d\n"),
        ("-\ta\n\n\tb", "- a\n\n  b\n"),
        ("1. [ ] tag it\n2. [x] push", "- [ ] tag it\n- [x] push\n"), ("1.   a\n     b", "1. a\n   b\n"),
        ("- a  \n-  [ ]   b ", "- a\n- [ ] b\n"), ("- a\n- b\nlazy\n\n> c", "- a\n- b\n  lazy\n\n> c\n"),
        ("- a\n  - b\n\n  of a", "- a\n- b\n\nof a\n"),
        ("- a\n    - b\n    ```\n    # c\n\n      - d\n    ```\n- e", "- a\n- b\n\n```\n# c\n\n  - d\n```\n\n- e\n"),
        // A number behind a bullet would lose the bullet; it stays as it is.
        ("- a\n- 1. b", "- a\n\n- 1. b\n"),
    ])
    func whatIsNotKept(text: String, expected: String) throws {
        #expect(exported(try contents(text)) == expected)
        #expect(exported(try contents(expected)) == expected)
    }

    // MARK: What lines become

    @Test func linesOfOthers() throws {
        let text = """
            # Title #
            ## Plain
            ### Deep
            Some *prose* with C:\\dir & <b>marks</b>.

              * [X] nested, done
            \t+ [ ]\ttab
            - [ ]
            -
            1. first
            1. [ ] numbered
            - [a [b]](https://en.wikipedia.org/wiki/Hand_(disambiguation))
            - [a](b) and more
            - Q♠ <!--card-->
            - a <br> b &#65; \\*
            <!--kind 900 AAEC-->
            Set
            ===
            """
        #expect(
            try contents(text) == [
                .heading("# Title #"), .heading("Plain"), .heading("### Deep"),
                .note("Some *prose* with C:\\dir & <b>marks</b>.\n"),
                .task("nested, done", done: true), .task("tab", done: false), .task("", done: false), .note(""),
                .note("1. first"), .task("numbered", done: false),
                .link("a [b]", url: "https://en.wikipedia.org/wiki/Hand_(disambiguation)"), .note("[a](b) and more"),
                .card(.faceUp(.queen, .spades)), .note("a <br> b &#65; \\*"),
                .unknown(Content.Kind(rawValue: 900), [0, 1, 2]), .heading("Set\n==="),
            ])
    }

    /// What people type may look like Markdown. It is escaped where it would become something else, and only there.
    @Test(arguments: [
        (Content.note("[ ] no task"), "- &#91; &#93; no task <!--escaped-->\n"),
        (.note(" a "), "- &#32;a&#32; <!--escaped-->\n"),
        (.note("- [ ] a"), "- - [ ] a\n"), (.note("a\nb"), "- a\n  b\n"), (.note("## a"), "- ## a\n"),
        (.note("*a*"), "- *a*\n"),
        (.heading("a #"), "## a &#35; <!--escaped-->\n"),
        (.note("```\nopen\n"), "- &#96;``&#10;open&#10; <!--escaped-->\n"),
        (.task("red \u{1B}[31m", done: true), "- [x] red &#27;&#91;31m <!--escaped-->\n"),
        (.note("- -"), "- &#45; &#45; <!--escaped-->\n"),
        (.note("a\n\n"), "- a&#10;&#10; <!--escaped-->\n"), (.link("a", url: "b c"), "- [a](b&#32;c) <!--escaped-->\n"),
        (.note("```\n\u{200B}&#\n```\n"), "```\n&#8203;&#38;#\n```\n<!--escaped-->\n"),
        (.note("zero\u{200B}width\n"), "zero&#8203;width\n<!--escaped-->\n"),
    ])
    func whatIsEscaped(content: Content, expected: String) throws {
        #expect(exported([content]) == expected)
        #expect(try contents(expected) == [content])
    }

    /// Code that is moved behind a list stays code.
    @Test func codeBehindAListIsSeparated() throws {
        let moved: [Content] = [.task("a", done: false), .note("    code\n"), .note("    more\n")]
        #expect(exported(moved) == "- [ ] a\n\n<!---->\n\n    code\n\n<!---->\n\n    more\n")
        #expect(try contents(exported(moved)) == moved)
    }

    /// All sequences of three are read back: what stands before and after an item changes how it is written.
    @Test func neighboursAreReadBack() throws {
        let all =
            try Self.blocks.map { try contents($0 + "\n")[0] } + Self.items.map { try contents($0 + "\n")[0] } + [
                .note("---\na: b\n---\n"), .note("===\n"), .note("-->\n"), .note("  a\n"), .note("<!---->\n"),
                .note("a\n\nb\n"),
                .heading("a\nb"), .note("<!-- open\n"), .note("- a\n"), .note("1. a\n"), .note("\n"), .heading("\n"),
            ]
        var random = SplitMix64(seed: testSeed(64))
        for _ in 0..<3_000 {
            let some = (0..<3).map { _ in all[random.next(below: all.count)] }
            let text = exported(some)
            #expect(try contents(text) == some, "\(text)")
        }
    }

    /// A file of lines that mean something is the same after it was read and written twice.
    @Test func writingIsStable() throws {
        let lines =
            (Self.blocks + Self.items).flatMap { $0.split(separator: "\n").map(String.init) }
            + ["", "", "", "  ", "    x", "    - y"]
        var random = SplitMix64(seed: testSeed(65))
        for _ in 0..<3_000 {
            let text = (0..<random.next(below: 9)).map { _ in lines[random.next(below: lines.count)] }
            let once = exported(try contents(text.joined(separator: "\n")))
            #expect(exported(try contents(once)) == once, "\(text)")
        }
    }
}
