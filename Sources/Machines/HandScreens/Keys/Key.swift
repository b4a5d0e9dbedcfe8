/// One key as it is pressed.
public struct Key: Hashable, Sendable {
    public enum Code: Hashable, Sendable {
        case character(Character)
        case enter, escape, tab, backspace, delete, insert
        case up, down, left, right, home, end, pageUp, pageDown
        case function(Int)
    }

    public struct Modifiers: OptionSet, Hashable, Sendable {
        public let rawValue: UInt8

        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        public static let control = Modifiers(rawValue: 1)
        public static let alt = Modifiers(rawValue: 2)
        /// Only with keys that are no characters: a shifted character is another character.
        public static let shift = Modifiers(rawValue: 4)
    }

    public var code: Code
    public var modifiers: Modifiers

    public init(_ code: Code, _ modifiers: Modifiers = []) {
        self.code = code
        self.modifiers = modifiers
    }

    /// A character with the control key: `control("r")`.
    public static func control(_ character: Character) -> Key { Key(.character(character), .control) }
}

/// What the mouse did.
public struct Mouse: Hashable, Sendable {
    public enum Act: Hashable, Sendable {
        case press, drag, release, wheelUp, wheelDown
    }

    public var act: Act
    public var point: Point

    public init(_ act: Act, at point: Point) {
        self.act = act
        self.point = point
    }
}

/// What a person does at a terminal.
public enum Input: Hashable, Sendable {
    case key(Key)
    /// Text that was pasted as a whole, with its line breaks.
    case paste(String)
    case mouse(Mouse)
    case resize(Size)
    /// Where the terminal says that its cursor was, when it was asked.
    case cursor(Point)
}
