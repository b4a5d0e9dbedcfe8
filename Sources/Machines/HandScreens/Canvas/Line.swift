/// One line of text on the screen, in spans of different styles.
package struct Line: Equatable, Sendable {
    package struct Span: Equatable, Sendable {
        package var text: String
        package var style: Style
    }

    package private(set) var spans: [Span]

    package init(_ text: String = "", _ style: Style = .plain) {
        spans = text.isEmpty ? [] : [Span(text: text, style: style)]
    }

    package mutating func append(_ text: String, _ style: Style = .plain) {
        if !text.isEmpty { spans.append(Span(text: text, style: style)) }
    }

    package mutating func append(_ line: Line) { spans += line.spans }

    package static func + (left: Line, right: Line) -> Line {
        var line = left
        line.append(right)
        return line
    }

    package var text: String { spans.map(\.text).joined() }

    package var width: Int { spans.reduce(0) { $0 + Columns.width(of: $1.text) } }

    /// The same text in other styles.
    package func restyled(_ change: (Style) -> Style) -> Line {
        var line = Line()
        for span in spans { line.append(span.text, change(span.style)) }
        return line
    }

    /// This line filled with blanks up to `width` columns, in `style`.
    package func padded(to width: Int, _ style: Style = .plain) -> Line {
        self + Line(String(repeating: " ", count: max(0, width - self.width)), style)
    }
}
