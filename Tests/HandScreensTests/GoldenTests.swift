import Foundation
import HandCore
import HandFormats
import HandScreens
import HandSync
import HandTestSupport
import HandWire
import Testing

/// The drawing of every screen and state, in three sizes, with and without colours, compared with the files in
/// `Golden`. `HAND_WRITE_GOLDEN=1` rewrites them; read the differences before you commit them.
@Suite struct GoldenTests {
    static let folder = Project.root.appending(path: "Tests/HandScreensTests/Golden")
    static let sizes = [Size(rows: 24, columns: 80), Size(rows: 50, columns: 200), Size(rows: 12, columns: 40)]

    @Test(arguments: Scene.all)
    func screenEqualsItsGoldenFile(_ scene: Scene) throws {
        var text = ""
        for size in Self.sizes {
            for hasColors in [true, false] {
                let stage = scene.play(size, hasColors)
                text += "=== \(size.columns)×\(size.rows)\(hasColors ? ", colours" : "")\n"
                text += Self.drawing(stage.app.view())
            }
        }
        let file = Self.folder.appendingPathComponent(scene.name + ".txt")
        if ProcessInfo.processInfo.environment["HAND_WRITE_GOLDEN"] != nil {
            try Data(text.utf8).write(to: file)
        }
        let expected = try String(contentsOf: file, encoding: .utf8)
        #expect(text == expected, "\(scene.name) is drawn differently")
    }

    /// Returns the lines, each followed by the styles of its columns if they are not plain.
    static func drawing(_ canvas: Canvas) -> String {
        var text = ""
        for (row, line) in canvas.lines.enumerated() {
            text += "|\(line)\n"
            let looks = canvas.rows[row].map { look($0.style) }.joined()
            if looks.contains(where: { $0 != " " }) {
                text += ":" + String(looks.reversed().drop { $0 == " " }.reversed()) + "\n"
            }
        }
        if let cursor = canvas.cursor { text += "cursor \(cursor.row):\(cursor.column)\n" }
        return text
    }

    /// Returns one character for a style: colours by their letter, a capital for bold; without a colour b, d, r, u, i.
    private static func look(_ style: Style) -> String {
        if style.background != .standard { return style.background == .blue ? "#" : "%" }
        if style.attributes.contains(.reverse) { return "r" }
        let letters: [Style.Color: String] = [
            .red: "r", .green: "g", .yellow: "y", .blue: "l", .magenta: "m", .cyan: "c", .black: "k", .white: "w",
        ]
        if let letter = letters[style.foreground] {
            return style.attributes.contains(.bold) ? letter.uppercased() : letter
        }
        if style.attributes.contains(.bold) { return "B" }
        if style.attributes.contains(.dim) { return "d" }
        if style.attributes.contains(.underline) { return "u" }
        return style.attributes.contains(.italic) ? "i" : " "
    }

    /// A planted fault: another style or another letter must be visible.
    @Test func aDrawingDistinguishesTextAndStyle() {
        var one = Canvas(Size(rows: 1, columns: 5))
        one.write(Line("a", .bold), at: Point(row: 0, column: 0))
        var two = Canvas(Size(rows: 1, columns: 5))
        two.write(Line("a", Style(.red)), at: Point(row: 0, column: 0))
        #expect(Self.drawing(one) != Self.drawing(two))
    }

    @Test func noFileIsLeftOver() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
        #expect(Set(files) == Set(Scene.all.map { $0.name + ".txt" }))
    }
}
