internal import CNcurses
internal import Glibc
import HandScreens

/// Facts about a terminal that can be found out without taking it over.
extension Terminal {
    package struct Facts {
        /// The value of $TERM.
        package let kind: String
        /// The number of colours; nil if the system has no description of the terminal.
        package let colors: Int?
        /// Whether the terminal can show a whole screen.
        package let isScreen: Bool
        /// The size; nil if the terminal does not report it.
        package let size: Size?
    }

    /// Returns the facts about the terminal of standard output.
    package static func facts() -> Facts {
        let kind = getenv("TERM").map { String(cString: $0) } ?? ""
        let colors = Int(hand_colors_of(kind))
        return Facts(
            kind: kind, colors: colors < 0 ? nil : colors, isScreen: hand_moves_cursor() != 0, size: size(of: 1))
    }

    /// Whether the environment asks for no colours (no-color.org).
    package static var colorsAreRefused: Bool {
        guard let value = getenv("NO_COLOR") else { return false }
        return value.pointee != 0
    }
}
