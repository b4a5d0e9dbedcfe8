import HandCore
import HandFormats
import HandTestSupport
import Testing

@Suite struct ListFormatTests {
    /// Pieces of text that have a meaning in one of the formats, or for the line reader.
    private static let pieces = [
        "", "a", "x ", "x", "X ", " ", "\t", "\n", "\r", "\r\n", "\u{0}", "\u{7F}", "\u{85}", "\u{2028}", "\u{FEFF}",
        "\u{301}",
        "🂠 Q♠", "Q♠", "??", "👩‍👩‍👧", "- ", "* ", "[ ]", "[x] ", "[", "]", "(", ")", "](", "\\", "\\n", "#", "## ", " #",
        "<br>",
        "<br", "<!--card-->", " <!--card-->", "<!--kind 900 AA==-->", "&", "&#", "&#32;", "&amp;", ";", "%", "%20",
        "%zz", "kind:",
        "kind:note", "kind:task", " kind:card", "url:", " url:u kind:link", "escaped:percent", " escaped:percent",
        "bytes:AA==",
        ",", ";", "\"\"", "percent", "(A) ", "2026-01-01 ", "+project @home due:2026-01-01", "\"", "{\"id\":",
        "https://example.org/?a=1&b=%20(c)", "```", "~~~", "1. ", "    ", "<pre>",
    ]

    private static func contents(_ text: String, _ other: String) -> [Content] {
        [
            .note(text), .task(text, done: false), .task(text, done: true), .heading(text), .link(text, url: other),
            .link(other, url: text), .unknown(Content.Kind(rawValue: 900), Array(text.utf8)),
            .card(.faceUp(.queen, .spades)),
            .card(.faceDown),
        ]
    }

    private func expectRoundTrip(_ contents: [Content], _ format: ListFormat) throws {
        var random = SplitMix64(seed: 7)
        let items = contents.map {
            Item(id: .random(using: &random), level: UInt8(random.next(below: 16)), content: $0)
        }
        let bytes = listText(of: items, in: format)
        if format == .jsonl || format == .todotxt {
            #expect(bytes.split(separator: UInt8(ascii: "\n")).count == items.count)
        }
        let read = try format.read(bytes, using: &random)
        #expect(read.map(\.level) == items.map(\.level))
        if read.map(\.content) != contents {
            for (item, back) in zip(items, read) where item.content != back.content {
                let line = String(decoding: listText(of: [item], in: format), as: UTF8.self)
                Issue.record("\(format): \(item.content) was written as \(line) and read as \(back.content)")
            }
            #expect(read.count == contents.count)
        }
        if format == .jsonl { #expect(read == items) }
    }

    /// Whatever the text of an item is, its sub-items are read back as such.
    @Test(arguments: ListFormat.written)
    func subItemsAreReadBack(format: ListFormat) throws {
        var random = SplitMix64(seed: 7)
        for first in Self.pieces {
            let contents = Self.pieces.flatMap { second in
                ["", "\n"].flatMap { Self.contents(first + $0 + second, second) }
            }
            let items = contents.flatMap { content in
                [(content, 0), (.task("sub", done: true), 1), (.note("deeper"), 2)].map { content, level in
                    Item(id: .random(using: &random), level: level, content: content)
                }
            }
            let read = try format.read(listText(of: items, in: format), using: &random)
            let isSame = read.map(\.content) == items.map(\.content) && read.map(\.level) == items.map(\.level)
            #expect(isSame, "\(format), \(first.debugDescription)")
        }
    }

    @Test(arguments: ListFormat.written)
    func everyPairOfPiecesIsReadBack(format: ListFormat) throws {
        for first in Self.pieces {
            try expectRoundTrip(Self.pieces.flatMap { Self.contents(first + $0, $0) }, format)
        }
    }

    @Test(arguments: ListFormat.written)
    func randomTextsAreReadBack(format: ListFormat) throws {
        var random = SplitMix64(seed: testSeed(62))
        for _ in 0..<2000 {
            func text() -> String {
                (0..<random.next(below: 6)).map { _ in Self.pieces[random.next(below: Self.pieces.count)] }.joined()
            }
            try expectRoundTrip(Self.contents(text(), text()), format)
        }
    }

    @Test(arguments: ListFormat.written)
    func eachItemAloneIsReadBack(format: ListFormat) throws {
        for content in Self.pieces.flatMap({ Self.contents($0, $0) }) { try expectRoundTrip([content], format) }
    }

    /// No character that acts on a terminal or is invisible is in a file, wherever a text has it; it is read back.
    @Test(arguments: [ListFormat.markdown, .todotxt, .csv])
    func hostileCharactersAreEscaped(format: ListFormat) throws {
        let controls = (0..<0x20).filter { $0 != 0x0A && $0 != 0x09 } + (0x7F..<0xA0)
        let invisible = [0x200B, 0x200E, 0x202E, 0x2028, 0x2066, 0xFEFF, 0xAD, 0xE0041]
        for scalar in (controls + invisible).compactMap(Unicode.Scalar.init) {
            let word = "\(scalar)"
            for text in [word, "a\(word)b", "\(word)b", "a" + word, "```\n\(word)\n```\n", "a\(word)\n"] {
                let contents = Self.contents(text, text)
                try expectRoundTrip(contents, format)
                let written = listText(of: contents.map { Item(id: ItemID(rawValue: 1), content: $0) }, in: format)
                // In CSV, it ends each line.
                let count = scalar == "\r" && format == .csv ? contents.count + 1 : 0
                let text = String(decoding: written, as: UTF8.self)
                #expect(text.unicodeScalars.count { $0 == scalar } == count, "\(scalar.value)")
            }
        }
    }

    /// Any bytes give a list or an error; a list that was read is the same after exporting and reading it again.
    @Test(arguments: ListFormat.allCases)
    func anyBytesAreAListOrAnError(format: ListFormat) throws {
        var random = SplitMix64(seed: testSeed(63))
        let sampleItems = sampleContents.map { Item(id: .random(using: &random), content: $0) }
        let sample = foreignSamples[format].map { Array($0.utf8) } ?? listText(of: sampleItems, in: format)
        let written = ListFormat.written.contains(format) ? format : .markdown
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
            let again = try written.read(listText(of: items, in: written), using: &random)
            #expect(again.map(\.level) == items.map(\.level))
            #expect(again.map(\.content) == items.map(\.content))
        }
        for _ in 0..<500 {
            let noise = (0..<random.next(below: 200)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            _ = try? format.read(noise, using: &random)
            _ = FileKind(of: noise, otherThan: format)
        }
    }
}
