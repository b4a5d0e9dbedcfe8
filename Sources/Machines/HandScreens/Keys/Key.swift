package struct Key: Hashable, Sendable {
    package enum Code: Hashable, Sendable {
        case character(Character)
        case enter, escape, tab, backspace, delete, insert
        case up, down, left, right, home, end, pageUp, pageDown
        case function(Int)
    }

    /// The raw value is the sum that xterm sends, less one.
    package struct Modifiers: OptionSet, Hashable, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Used only with keys that are not characters: a shifted character is another character.
        package static let shift = Modifiers(rawValue: 1)
        package static let alt = Modifiers(rawValue: 2)
        package static let control = Modifiers(rawValue: 4)
    }

    package var code: Code
    package var modifiers: Modifiers

    package init(_ code: Code, _ modifiers: Modifiers = []) {
        self.code = code
        self.modifiers = modifiers
    }

    /// A character with the control key: `control("r")`.
    package static func control(_ character: Character) -> Key { Key(.character(character), .control) }
}

package struct Mouse: Hashable, Sendable {
    package enum Act: Hashable, Sendable {
        case press, drag, release, wheelUp, wheelDown
    }

    package var act: Act
    package var point: Point

    package init(_ act: Act, at point: Point) {
        self.act = act
        self.point = point
    }
}

package enum Input: Hashable, Sendable {
    case key(Key)
    /// Text that was pasted as a whole, with its line breaks.
    case paste(String)
    case mouse(Mouse)
    case resize(Size)
    /// The terminal has got the user's attention, or has lost it to another window.
    case focus(Bool)
    /// The terminal's answer to a request for its cursor position.
    case cursor(Point)
}

extension Input {
    /// Whether a person made this input. The terminal sends the other inputs by itself, even in the middle of a key
    /// sequence.
    var isFromPerson: Bool {
        switch self {
        case .key, .paste, .mouse: true
        case .resize, .focus, .cursor: false
        }
    }
}
