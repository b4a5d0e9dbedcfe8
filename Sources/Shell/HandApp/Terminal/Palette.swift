internal import CNcurses
import HandScreens

/// Translates styles to the terminal's attributes. Colour pairs are created when they are first needed.
final class Palette {
    private let hasColors: Bool
    private var pairs: [Pair: Int16] = [:]

    private struct Pair: Hashable {
        let foreground: Style.Color
        let background: Style.Color
    }

    /// Call this after the terminal was opened.
    init(hasColors: Bool) {
        self.hasColors = hasColors && has_colors()
        guard self.hasColors else { return }
        start_color()
        use_default_colors()
    }

    /// Sets the style of the text that is written next in `window`.
    func select(_ style: Style, in window: UnsafeMutablePointer<WINDOW>) {
        // Without colours a background, which carries meaning, is shown reversed.
        let style = hasColors ? style : style.withoutColors
        wattr_set(window, attributes(style.attributes), pair(style), nil)
    }

    /// Returns the escape sequence of a style, for text that is written without ncurses.
    func words(for style: Style) -> String {
        let style = hasColors ? style : style.withoutColors
        let attributes: [(Style.Attributes, Int)] = [
            (.bold, 1), (.dim, 2), (.italic, 3), (.underline, 4), (.reverse, 7),
        ]
        var codes = [0] + attributes.filter { style.attributes.contains($0.0) }.map(\.1)
        if style.foreground != .standard { codes.append(30 + Int(code(style.foreground))) }
        if style.background != .standard { codes.append(40 + Int(code(style.background))) }
        return "\u{1B}[" + codes.map(String.init).joined(separator: ";") + "m"
    }

    private func attributes(_ attributes: Style.Attributes) -> attr_t {
        var bits: attr_t = 0
        if attributes.contains(.bold) { bits |= hand_attribute_bold() }
        if attributes.contains(.dim) { bits |= hand_attribute_dim() }
        if attributes.contains(.reverse) { bits |= hand_attribute_reverse() }
        if attributes.contains(.underline) { bits |= hand_attribute_underline() }
        if attributes.contains(.italic) { bits |= hand_attribute_italic() }
        return bits
    }

    private func pair(_ style: Style) -> Int16 {
        let pair = Pair(foreground: style.foreground, background: style.background)
        guard hasColors, pair.foreground != .standard || pair.background != .standard else { return 0 }
        if let known = pairs[pair] { return known }
        let number = pairs.count + 1
        guard number < hand_color_pairs() else { return 0 }
        init_pair(Int16(number), code(pair.foreground), code(pair.background))
        pairs[pair] = Int16(number)
        return Int16(number)
    }

    /// Returns the number of a colour in the terminal's palette; −1 is the terminal's default.
    private func code(_ color: Style.Color) -> Int16 { Int16(color.rawValue) - 1 }
}
