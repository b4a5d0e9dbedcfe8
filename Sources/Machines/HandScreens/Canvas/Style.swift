/// How a piece of text looks. Colours are those of the terminal's own palette, so that they suit its theme.
public struct Style: Hashable, Sendable {
    public var foreground: Color
    public var background: Color
    public var attributes: Attributes

    public init(_ foreground: Color = .standard, on background: Color = .standard, _ attributes: Attributes = []) {
        self.foreground = foreground
        self.background = background
        self.attributes = attributes
    }

    public static let plain = Style()
    public static let bold = Style(.standard, [.bold])
    public static let dim = Style(.standard, [.dim])
    public static let reverse = Style(.standard, [.reverse])

    public init(_ foreground: Color, _ attributes: Attributes) {
        self.init(foreground, on: .standard, attributes)
    }

    /// A colour, or what the terminal uses without one.
    public enum Color: UInt8, CaseIterable, Sendable {
        case standard, black, red, green, yellow, blue, magenta, cyan, white
    }

    public struct Attributes: OptionSet, Hashable, Sendable {
        public let rawValue: UInt8

        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        public static let bold = Attributes(rawValue: 1)
        public static let dim = Attributes(rawValue: 2)
        public static let reverse = Attributes(rawValue: 4)
        public static let underline = Attributes(rawValue: 8)
        public static let italic = Attributes(rawValue: 16)
    }

    /// This style with `attributes` too.
    public func with(_ attributes: Attributes) -> Style {
        Style(foreground, on: background, self.attributes.union(attributes))
    }

    /// The same without colours: a background, which carries meaning, becomes reverse video.
    public var withoutColors: Style {
        Style(.standard, background == .standard ? attributes : attributes.union(.reverse))
    }
}
