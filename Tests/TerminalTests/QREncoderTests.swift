import HandApp
import HandScreens
import Testing

/// QR codes, as far as they can be checked without a camera: their sizes, and the three squares that cameras look for.
@Suite struct QREncoderTests {
    /// The modules of a code, read from its drawing without the margin.
    private static func modules(_ code: QRCode) -> [[Bool]] {
        let lines = code.lines(hasColors: false).map { Array($0.text) }
        return (2..<code.side + 2).map { row in
            (2..<code.side + 2).map { column in
                let character = lines[row / 2][column]
                return character != "█" && character != (row % 2 == 0 ? "▀" : "▄")
            }
        }
    }

    @Test(arguments: [("hand://host:7777/groceries", 25), ("x", 21), (String(repeating: "x", count: 53), 29)])
    func aCodeHasItsSquares(_ text: String, _ side: Int) throws {
        let code = try #require(QREncoder.code(for: text))
        #expect(code.side == side)
        let modules = Self.modules(code)
        for (top, left) in [(0, 0), (0, side - 7), (side - 7, 0)] {
            for row in 0..<7 {
                for column in 0..<7 {
                    let ring = min(row, column, 6 - row, 6 - column)
                    #expect(modules[top + row][left + column] == (ring != 1), "\(text): \(top + row), \(left + column)")
                }
            }
        }
        #expect(QREncoder.code(for: text + "y").map(Self.modules) != modules)
    }

    @Test func whatDoesNotFitHasNoCode() {
        #expect(QREncoder.code(for: "") == nil)
        #expect(QREncoder.code(for: String(repeating: "x", count: 2_953))?.side == 177)
        #expect(QREncoder.code(for: String(repeating: "x", count: 2_954)) == nil)
    }
}
