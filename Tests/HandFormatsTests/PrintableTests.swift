import Foundation
import HandCore
import HandFormats
import HandWire
import Testing

/// Invisible characters are made visible, and scripts that need such characters are left unchanged.
@Suite struct PrintableTests {
    @Test(arguments: [
        "plain", "é", "漢字", "🍊", "👍🏽", "👩‍👩‍👧", "🏳️‍🌈", "❤️", "1️⃣", "🇩🇪", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "می‌خواهم", "क्‍ष", "葛\u{E0100}",
    ])
    func writingStaysAsItIs(_ text: String) { #expect(Printable.clean(text) == text) }

    @Test(arguments: [
        "a\u{200B}", "a\u{200D}", "a\u{200C}", "\u{FE0F}", "❤\u{FE0F}\u{FE0F}", "\u{FEFF}a", "a\u{2060}", "a\u{AD}b",
        "\u{115F}",
        "\u{3164}", "\u{E0001}", "a\u{E0041}", "a\u{180E}", "👩\u{200D}\u{200D}", "a\u{E0100}", "a\u{202E}", "a\u{7}",
    ])
    func whatNobodySeesIsSaid(_ text: String) {
        let clean = Printable.clean(text)
        #expect(clean.unicodeScalars.count { $0 == "\u{FFFD}" } == 1)
        #expect(clean.unicodeScalars.count == text.unicodeScalars.count)
    }

    /// Every character of Unicode that is invisible or steers what is around it, in a word of its own. The signs that
    /// are left are drawn, although Unicode calls them format characters.
    @Test func noInvisibleCharacterIsForgotten() {
        let drawn: [ClosedRange<UInt32>] = [
            0x600...0x605, 0x6DD...0x6DD, 0x70F...0x70F, 0x890...0x891, 0x8E2...0x8E2, 0x110BD...0x110BD,
            0x110CD...0x110CD,
        ]
        let kinds: Set<Unicode.GeneralCategory> = [.control, .format, .lineSeparator, .paragraphSeparator]
        let scalars = (0...0x10FFFF as ClosedRange<UInt32>).compactMap(Unicode.Scalar.init)
        let forgotten = scalars.filter { scalar in
            let isHidden =
                scalar.properties.isDefaultIgnorableCodePoint || kinds.contains(scalar.properties.generalCategory)
            return isHidden && !drawn.contains { $0 ~= scalar.value }
                && Printable.clean("x\(scalar)").unicodeScalars.contains(scalar)
        }
        #expect(forgotten.map { String($0.value, radix: 16) } == [])
    }

    /// What the source says stays; whatever is put into it is cleaned, also its line breaks, tabs and colours.
    @Test func onlyTheSourceSaysLinesAndColours() {
        let evil = "a\u{1B}[31m\nb\tc\u{9B}\u{202E}"
        let clean = "a\u{FFFD}[31m b c\u{FFFD}\u{FFFD}"
        let part: Printable = "\u{1B}[1m\(evil)\u{1B}[0m\t"
        #expect(part.text == "\u{1B}[1m\(clean)\u{1B}[0m\t")
        #expect(("1\n" + part + "\(evil)").text == "1\n\u{1B}[1m\(clean)\u{1B}[0m\t\(clean)")
        #expect(("\(part)\(Optional(evil) ?? "")" as Printable).text == part.text + clean)
        #expect(("\([evil])" as Printable).text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x202E })
        var line: Printable = ""
        line.append(evil)
        line.append(.note(evil))
        #expect(line.text == clean + clean)
        #expect(Printable(lines: "1\n\t\(evil)").text == "1\n\ta\u{FFFD}[31m\nb\tc\u{FFFD}\u{FFFD}")
    }

    /// A message hidden in tag characters, and one in joiners: nothing of them is left.
    @Test func nothingIsHidden() {
        #expect(Printable.clean("x\u{E0041}\u{E0042}\u{E0043}") == "x\u{FFFD}\u{FFFD}\u{FFFD}")
        #expect(Printable.clean("漢\u{200D}\u{200C}\u{200D}x") == "漢\u{200D}\u{FFFD}\u{FFFD}x")
    }

    @Test func cleaningTwiceIsCleaningOnce() {
        var random = SplitMix64(seed: 13)
        let scalars = "a \u{FE0F}\u{200D}\u{200B}\u{E0041}\u{1F3F4}\u{7}\n👩漢\u{115F}\u{AD}\u{E0100}\u{202E}"
            .unicodeScalars.map(\.self)
        for _ in 0..<5_000 {
            let text = (0..<6).reduce(into: "") { text, _ in
                text.unicodeScalars.append(scalars[random.next(below: scalars.count)])
            }
            let clean = Printable.clean(text)
            #expect(Printable.clean(clean) == clean, "\(text.unicodeScalars.map(\.value))")
        }
    }

    /// An export can be printed, and read back unchanged.
    @Test func markdownHidesNothing() throws {
        var random = SplitMix64(seed: 7)
        let text = "a\u{202E}b\u{200B}c\u{E0041}\u{E0042} 👩‍👩‍👧 \u{FEFF}\ttab\u{2028}end\u{200F}"
        let items = [Content.note(text), .task(text, done: false), .heading(text), .link(text, url: "https://\(text)")]
            .map { Item(id: .random(using: &random), content: $0) }
        var printed = ""
        ListFormat.markdown.export(items) { printed += $0 }
        #expect(printed.contains("👩‍👩‍👧"))
        for line in printed.split(separator: "\n") {
            #expect(Printable.clean(String(line)) == line.replacing("\t", with: " "))
        }
        let back = try ListFormat.markdown.read(printed.utf8, as: .init(ids: .minted), using: &random)
        #expect(back.map(\.content) == items.map(\.content))
    }

    /// Lines of long lists are built in another way, with the same result.
    @Test func appendedItIsTheSameLine() {
        for text in ["milk", "", "café", "\u{200D}x", "a\u{7}b", "tab\there", "~", "\u{7F}"] {
            let contents: [Content] = [
                .task(text, done: false), .task(text, done: true), .note(text), .heading(text),
                .link(text, url: "https://x"), .card(.faceDown),
            ]
            for content in contents {
                var line: Printable = "1  "
                line.append(content)
                #expect(line.text == "1  " + Printable.line(of: content))
            }
        }
    }

    @Test func aRestoredListIsSaidToBe() {
        let text = "the server has an earlier state of this list now: it was restored from a backup"
        #expect(Printable.restored(gone: 0) == text)
        #expect(Printable.restored(gone: 1) == text + "; 1 item added since is gone")
        #expect(Printable.restored(gone: 2) == text + "; 2 items added since are gone")
    }
}
