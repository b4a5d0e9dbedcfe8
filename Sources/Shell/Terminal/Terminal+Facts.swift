internal import CNcurses
internal import Glibc
import HandScreens

/// What can be known of a terminal without taking it over.
extension Terminal {
    package struct Facts {
        /// As $TERM has it.
        package let kind: String
        /// Nil if the system has no description of it.
        package let colors: Int?
        /// Nil if it does not say.
        package let size: Size?
    }

    /// The terminal of standard output.
    package static func facts() -> Facts {
        let kind = getenv("TERM").map { String(cString: $0) } ?? ""
        let colors = Int(hand_colors_of(kind))
        return Facts(kind: kind, colors: colors < 0 ? nil : colors, size: size(of: 1))
    }

    /// Whether the environment asks for no colours (no-color.org).
    package static var colorsAreRefused: Bool {
        guard let value = getenv("NO_COLOR") else { return false }
        return value.pointee != 0
    }
}
