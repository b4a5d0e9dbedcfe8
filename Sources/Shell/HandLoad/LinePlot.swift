/// A line plot as self-contained SVG.
package struct LinePlot {
    package struct Line {
        let name: String
        let color: String
        /// The points in order of x.
        let points: [(x: Double, y: Double)]

        package init(name: String, color: String, points: [(x: Double, y: Double)]) {
            self.name = name
            self.color = color
            self.points = points
        }
    }

    private let title: String
    private let unit: String
    private let across: String
    private let lines: [Line]
    private let marks: [(x: Double, name: String)]

    /// - Parameters:
    ///   - unit: the unit of the y axis.
    ///   - across: the label of the x axis.
    ///   - marks: labels on the x axis instead of numbers.
    package init(
        title: String, unit: String, across: String, lines: [Line], marks: [(x: Double, name: String)] = []
    ) {
        self.title = title
        self.unit = unit
        self.across = across
        self.lines = lines
        self.marks = marks
    }

    private static let (width, height) = (760.0, 274.0)
    private static let (left, right, top, bottom) = (70.0, 12.0, 34.0, 42.0)

    package var svg: String {
        let points = lines.flatMap(\.points)
        let x = Scale(points.map(\.x), startsAtZero: false, from: Self.left, to: Self.width - Self.right)
        let y = Scale(points.map(\.y), startsAtZero: true, from: Self.height - Self.bottom, to: Self.top)
        var parts = [
            "<svg viewBox=\"0 0 \(Int(Self.width)) \(Int(Self.height))\" role=\"img\" aria-label=\"\(title)\">",
            "<text class=\"title\" x=\"\(Int(Self.left))\" y=\"18\">\(title), \(unit)</text>",
        ]
        for tick in y.ticks {
            let place = Self.number(y.place(tick))
            parts.append(
                "<line class=\"grid\" x1=\"\(Self.left)\" x2=\"\(Self.width - Self.right)\" y1=\"\(place)\" y2=\"\(place)\"/>"
                    + "<text class=\"tick\" text-anchor=\"end\" x=\"\(Self.left - 6)\" y=\"\(place)\" dy=\"4\">"
                    + "\(Self.label(tick))</text>")
        }
        for mark in marks.isEmpty ? x.ticks.map({ ($0, Self.label($0)) }) : marks {
            parts.append(
                "<text class=\"tick\" text-anchor=\"middle\" x=\"\(Self.number(x.place(mark.0)))\" "
                    + "y=\"\(Self.height - 24)\">\(mark.1)</text>")
        }
        parts.append(
            "<text class=\"tick\" text-anchor=\"middle\" x=\"\((Self.left + Self.width - Self.right) / 2)\" "
                + "y=\"\(Self.height - 6)\">\(across)</text>")
        for (index, line) in lines.enumerated() {
            let path = line.points.map { "\(Self.number(x.place($0.x))),\(Self.number(y.place($0.y)))" }
            parts.append(
                "<polyline fill=\"none\" stroke=\"\(line.color)\" stroke-width=\"1.8\" "
                    + "points=\"\(path.joined(separator: " "))\"/>")
            let place = Self.width - Self.right - 110 * Double(lines.count - index) + 8
            parts.append(
                "<rect x=\"\(place)\" y=\"9\" width=\"14\" height=\"4\" fill=\"\(line.color)\"/>"
                    + "<text class=\"tick\" x=\"\(place + 20)\" y=\"15\">\(line.name)</text>")
        }
        return parts.joined(separator: "\n") + "\n</svg>"
    }

    /// Maps values to coordinates.
    private struct Scale {
        let low: Double
        let high: Double
        let start: Double
        let end: Double

        init(_ values: [Double], startsAtZero: Bool, from start: Double, to end: Double) {
            low = startsAtZero ? 0 : values.min() ?? 0
            let highest = values.max() ?? 1
            high = highest > low ? highest : low + 1
            (self.start, self.end) = (start, end)
        }

        func place(_ value: Double) -> Double { start + (value - low) / (high - low) * (end - start) }

        /// Four to eight round values.
        var ticks: [Double] {
            var step = 1e-9
            while (high - low) / step > 8 {
                for factor in [2, 2.5, 2] where (high - low) / step > 8 { step *= factor }
            }
            return Array(stride(from: (low / step).rounded(.up) * step, through: high, by: step))
        }
    }

    private static func number(_ value: Double) -> String { LoadReport.decimal(value, 1) }

    private static func label(_ value: Double) -> String {
        switch abs(value) {
        case 1e6...: LoadReport.decimal(value / 1e6, 1) + " M"
        case 1e4...: LoadReport.decimal(value / 1e3, 0) + " k"
        case 10...: LoadReport.decimal(value, 0)
        case 0: "0"
        default: LoadReport.decimal(value, 2)
        }
    }
}
