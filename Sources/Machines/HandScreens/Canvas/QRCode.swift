/// A QR code as a square of dark and light modules. Somebody else makes it; this type only draws it.
package struct QRCode: Equatable, Sendable {
    /// The modules of a side.
    package let side: Int
    /// The modules row by row; true is dark.
    private let modules: [Bool]

    /// The light modules around the code. The standard asks for 4; cameras read it with 2, and terminals are small.
    private static let margin = 2

    /// - Precondition: `modules` are as many as a square of `side` has.
    package init(side: Int, modules: [Bool]) {
        precondition(side > 0 && modules.count == side * side, "a QR code is a square")
        (self.side, self.modules) = (side, modules)
    }

    /// The columns and the rows of the terminal that the drawing takes. A row shows two rows of modules.
    var size: Size {
        let all = side + 2 * Self.margin
        return Size(rows: (all + 1) / 2, columns: all)
    }

    /// The drawing: light blocks on a dark ground, as a terminal usually is. With colours, it is so in every theme.
    package func lines(hasColors: Bool) -> [Line] {
        let style = hasColors ? Style(.white, on: .black) : .plain
        return (0..<size.rows).map { row in
            let text = (0..<size.columns).map { column in
                switch (isLight(2 * row, column), isLight(2 * row + 1, column)) {
                case (true, true): "█"
                case (true, false): "▀"
                case (false, true): "▄"
                case (false, false): " "
                }
            }
            return Line(text.joined(), style)
        }
    }

    private func isLight(_ row: Int, _ column: Int) -> Bool {
        let (row, column) = (row - Self.margin, column - Self.margin)
        guard (0..<side).contains(row), (0..<side).contains(column) else { return true }
        return !modules[row * side + column]
    }
}
