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
        "a\u{200B}", "a\u{200D}", "a\u{200C}", "\u{FE0F}", "a\u{FE0F}\u{FE0F}", "\u{FEFF}a", "a\u{2060}", "a\u{AD}b",
        "\u{115F}",
        "\u{3164}", "\u{E0001}", "a\u{E0041}", "a\u{180E}", "👩\u{200D}\u{200D}", "a\u{E0100}", "a\u{202E}", "a\u{7}",
    ])
    func whatNobodySeesIsSaid(_ text: String) {
        let clean = Printable.clean(text)
        #expect(clean.unicodeScalars.count { $0 == "\u{FFFD}" } == 1)
        #expect(clean.unicodeScalars.count == text.unicodeScalars.count)
    }

    /// A message hidden in tag characters, and one in joiners: nothing of them is left.
    @Test func nothingIsHidden() {
        #expect(Printable.clean("x\u{E0041}\u{E0042}\u{E0043}") == "x\u{FFFD}\u{FFFD}\u{FFFD}")
        #expect(Printable.clean("漢\u{200D}\u{200C}\u{200D}x") == "漢\u{200D}\u{FFFD}\u{200D}x")
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
        let back = try ListFormat.markdown.read(printed.utf8, ids: .minted, using: &random)
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
                var line = "1  "
                Printable.append(content, to: &line)
                #expect(line == "1  " + Printable.line(of: content))
            }
        }
    }
}
