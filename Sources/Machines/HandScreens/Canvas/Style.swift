/// How a piece of text looks. Colours come from the terminal's palette, so that they match its theme.
package struct Style: Hashable, Sendable {
    package var foreground: Color
    package var background: Color
    package var attributes: Attributes

    package init(_ foreground: Color = .standard, on background: Color = .standard, _ attributes: Attributes = []) {
        self.foreground = foreground
        self.background = background
        self.attributes = attributes
    }

    package static let plain = Style()
    package static let bold = Style(.standard, [.bold])
    package static let dim = Style(.standard, [.dim])
    package static let reverse = Style(.standard, [.reverse])

    package init(_ foreground: Color, _ attributes: Attributes) {
        self.init(foreground, on: .standard, attributes)
    }

    /// A colour; `standard` is the terminal's default.
    package enum Color: UInt8, CaseIterable, Sendable {
        case standard, black, red, green, yellow, blue, magenta, cyan, white
    }

    package struct Attributes: OptionSet, Hashable, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        package static let bold = Attributes(rawValue: 1)
        package static let dim = Attributes(rawValue: 2)
        package static let reverse = Attributes(rawValue: 4)
        package static let underline = Attributes(rawValue: 8)
        package static let italic = Attributes(rawValue: 16)
    }

    package func with(_ attributes: Attributes) -> Style {
        Style(foreground, on: background, self.attributes.union(attributes))
    }

    /// This style without colours. A background has a meaning, so it becomes reverse video.
    package var withoutColors: Style {
        Style(.standard, background == .standard ? attributes : attributes.union(.reverse))
    }
}
