import Glibc
import HandScreens
import Testing

@Suite struct ColumnsTests {
    /// A mark that takes its own column since Unicode 16. The system does not know that yet.
    private static let changedSince: Set<UInt32> = [0x1171E]

    /// Every drawn character takes as many columns as the system's library, and therefore ncurses, counts.
    @Test func widthsEqualThoseOfTheSystem() throws {
        let locale = try #require(newlocale(1 << LC_CTYPE, "C.UTF-8", nil))
        let before = uselocale(locale)
        defer {
            uselocale(before)
            freelocale(locale)
        }
        // The headers hide it from Swift.
        let symbol = try #require(dlsym(nil, "wcwidth"))
        let wcwidth = unsafeBitCast(symbol, to: (@convention(c) (wchar_t) -> Int32).self)
        var compared = 0
        for value in UInt32(0x20)...0x10FFFF {
            guard let scalar = Unicode.Scalar(value), let drawn = Columns.characters(of: String(scalar)).first else {
                continue
            }
            let system = wcwidth(wchar_t(bitPattern: value))
            // Code points that the library does not know yet.
            guard system >= 0, !Self.changedSince.contains(value) else { continue }
            compared += 1
            #expect(
                Columns.width(of: drawn) == Int(system),
                "U+\(String(value, radix: 16)), drawn as \(String(drawn).unicodeScalars.map(\.value))")
        }
        #expect(compared > 150_000)
    }

    @Test(arguments: [
        ("plain", 5), ("héllo", 5), ("漢字", 4), ("🍊", 2), ("👩‍👩‍👧", 6), ("👍🏽", 2), ("e\u{301}", 1), ("❤️", 1),
        ("한국", 4), ("한", 2), ("\u{200B}", 0), ("a\u{202E}b", 2),
    ])
    func textsHaveTheirColumns(_ text: String, _ columns: Int) {
        #expect(Columns.width(of: text) == columns)
    }

    @Test func aPileOfMarksIsCut() {
        let pile = "a" + String(repeating: "\u{301}", count: 500)
        #expect(Columns.characters(of: pile).first.map { $0.unicodeScalars.count } == 8)
    }
}
