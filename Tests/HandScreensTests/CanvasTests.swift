import HandCore
import HandFormats
import HandScreens
import HandTestSupport
import HandWire
import Testing

@Suite struct CanvasTests {
    /// What is printed must not hold a character, and neither does a canvas, whoever writes on it: any scalar, alone and
    /// between letters.
    @Test func aCanvasTakesNothingThatMustNotBePrinted() {
        for value in 0...0x10FFFF as ClosedRange<UInt32> {
            guard let scalar = Unicode.Scalar(value), !VisibleText.isHarmless(scalar, after: nil) else { continue }
            var canvas = Canvas(Size(rows: 1, columns: 8))
            canvas.write(Line("a\(scalar)b\(scalar)"), at: Point(row: 0, column: 0))
            #expect(canvas.lines[0] == "ab", "U+\(String(value, radix: 16))")
        }
    }

    /// Whatever others write, nothing that controls a terminal reaches the screen.
    @Test func noControlCharacterReachesAScreen() {
        var random = SplitMix64(seed: testSeed(44, "controls"))
        func garbage() -> String {
            var text = String.UnicodeScalarView()
            for _ in 0..<random.next(below: 30) {
                let value = random.next(below: 3) == 0 ? random.next(below: 0x20000) : random.next(below: 0x100)
                if let scalar = Unicode.Scalar(UInt32(value)) { text.append(scalar) }
            }
            return String(text)
        }
        for round in 0..<150 {
            let contents: [Content] = [
                .note(garbage()), .task(garbage(), done: true), .link(garbage(), url: garbage()), .heading(garbage()),
                .unknown(Content.Kind(rawValue: 77), Array(garbage().utf8)),
            ]
            let items = contents.enumerated().map {
                Item(id: ItemID(rawValue: UInt64($0.offset + 1)), content: $0.element)
            }
            var stage = Stage(["things": Hand(items)], rows: 30, columns: 20 + random.next(below: 80))
            stage.presence(garbage(), on: items[0].id)
            stage.send(.list("things", .refused(.noSuchList, garbage())))
            stage.send(.lists([DownMessage.ListEntry(name: garbage(), count: 1, revision: 1, rules: Rules())]))
            for keys in ["", "e", "esc enter", "esc w", "esc esc"] {
                stage.press(keys)
                for cell in stage.app.view().rows.joined() {
                    let isSafe = cell.text.unicodeScalars.allSatisfy(Self.isSafe)
                    #expect(isSafe, "round \(round), after \(keys): \(cell.text.unicodeScalars.map(\.value))")
                }
            }
        }
    }

    private static func isSafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x61C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: false
        default: true
        }
    }

    /// Rows are always as wide as the screen, whatever is drawn over whatever.
    @Test func wideCharactersKeepTheirHalves() {
        var random = SplitMix64(seed: testSeed(45, "halves"))
        for _ in 0..<500 {
            var canvas = Canvas(Size(rows: 2, columns: 1 + random.next(below: 12)))
            for _ in 0..<8 {
                let text = (0..<random.next(below: 6)).map { _ in ["a", "漢", "🍊", "é"][random.next(below: 4)] }.joined()
                let point = Point(row: random.next(below: 3), column: random.next(below: 13))
                canvas.write(Line(text), at: point)
            }
            for row in canvas.rows {
                #expect(row.count == canvas.size.columns)
                for (index, cell) in row.enumerated() {
                    let isWide = cell.text.first.map { Columns.width(of: $0) == 2 } ?? false
                    let hasRest = index + 1 < row.count && row[index + 1].text.isEmpty
                    #expect(isWide == hasRest)
                    #expect(!cell.text.isEmpty || index > 0)
                }
            }
        }
    }

    @Test func truncatedTextEndsInDots() {
        var canvas = Canvas(Size(rows: 1, columns: 5))
        canvas.write(Line("abcdefg"), at: Point(row: 0, column: 0))
        #expect(canvas.lines == ["abcd…"])
        canvas.write(Line("漢字漢"), at: Point(row: 0, column: 0))
        #expect(canvas.lines == ["漢字…"])
        canvas.write(Line("x"), at: Point(row: 9, column: 9))
        #expect(canvas.lines == ["漢字…"])
    }
}
