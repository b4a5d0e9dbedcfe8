/// Text in pieces of different looks, for one line of the screen.
public struct Line: Equatable, Sendable {
    public struct Span: Equatable, Sendable {
        public var text: String
        public var style: Style
    }

    public private(set) var spans: [Span]

    public init(_ text: String = "", _ style: Style = .plain) {
        spans = text.isEmpty ? [] : [Span(text: text, style: style)]
    }

    public mutating func append(_ text: String, _ style: Style = .plain) {
        if !text.isEmpty { spans.append(Span(text: text, style: style)) }
    }

    public mutating func append(_ line: Line) {
        spans += line.spans
    }

    public static func + (left: Line, right: Line) -> Line {
        var line = left
        line.append(right)
        return line
    }

    public var text: String { spans.map(\.text).joined() }

    /// Columns that the line takes.
    public var width: Int { spans.reduce(0) { $0 + Columns.width(of: $1.text) } }

    /// The same words in other looks.
    public func restyled(_ change: (Style) -> Style) -> Line {
        var line = Line()
        for span in spans { line.append(span.text, change(span.style)) }
        return line
    }

    /// This line filled with blanks up to `width` columns, in `style`.
    public func padded(to width: Int, _ style: Style = .plain) -> Line {
        self + Line(String(repeating: " ", count: max(0, width - self.width)), style)
    }
}
