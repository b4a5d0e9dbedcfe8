// How keys are written: in the configuration file, in the help, in the line at the bottom.

extension Key {
    /// Why a text names no key.
    public struct TextError: Error, Equatable, CustomStringConvertible, Sendable {
        public let description: String
    }

    private static let names: [(name: String, code: Code, symbol: String)] = [
        ("enter", .enter, "⏎"), ("esc", .escape, "esc"), ("tab", .tab, "tab"), ("backspace", .backspace, "⌫"),
        ("del", .delete, "del"), ("ins", .insert, "ins"), ("up", .up, "↑"), ("down", .down, "↓"), ("left", .left, "←"),
        ("right", .right, "→"), ("home", .home, "home"), ("end", .end, "end"), ("pgup", .pageUp, "pgup"),
        ("pgdn", .pageDown, "pgdn"), ("space", .character(" "), "space"),
    ]
    private static let prefixes: [(name: String, modifier: Modifiers, symbol: String)] = [
        ("ctrl-", .control, "^"), ("alt-", .alt, "M-"), ("shift-", .shift, "⇧"),
    ]

    /// Reads `j`, `G`, `space`, `enter`, `f1`, `ctrl-r`, `alt-down`, `shift-up`.
    public init(_ text: String) throws(TextError) {
        var rest = text[...]
        var modifiers: Modifiers = []
        while let prefix = Self.prefixes.first(where: {
            rest.lowercased().hasPrefix($0.name) && rest.count > $0.name.count
        }) {
            modifiers.insert(prefix.modifier)
            rest = rest.dropFirst(prefix.name.count)
        }
        guard let code = Self.code(rest) else {
            throw TextError(
                description: "'\(text)' is no key; expected a character, or one of "
                    + "\(Self.names.map(\.name).joined(separator: ", ")), f1…f12, perhaps after ctrl-, alt- or shift-")
        }
        if case .character(let character) = code, modifiers.contains(.shift) {
            throw TextError(
                description: "'\(text)': write the character that comes with shift, such as '\(character.uppercased())'"
            )
        }
        self.init(code, modifiers)
    }

    private static func code(_ text: Substring) -> Code? {
        if text.count == 1, let character = text.first, character != " " { return .character(character) }
        let lower = text.lowercased()
        if let named = names.first(where: { $0.name == lower }) { return named.code }
        guard lower.hasPrefix("f"), let number = Int(lower.dropFirst()), (1...12).contains(number) else { return nil }
        return .function(number)
    }

    /// Reads keys that are pressed one after the other, with blanks between them: `g g`.
    public static func sequence(_ text: String) throws(TextError) -> [Key] {
        var keys: [Key] = []
        for part in text.split(separator: " ") { keys.append(try Key(String(part))) }
        if keys.isEmpty { throw TextError(description: "a key is missing; a blank is written 'space'") }
        return keys
    }

    /// The key as it is drawn where there is little room.
    public var symbol: String {
        Self.prefixes.filter { modifiers.contains($0.modifier) }.map(\.symbol).joined() + name(\.symbol)
    }

    private func name(_ form: KeyPath<(name: String, code: Code, symbol: String), String>) -> String {
        if let named = Self.names.first(where: { $0.code == code }) { return named[keyPath: form] }
        return switch code {
        case .character(let character): String(character)
        case .function(let number): "f\(number)"
        default: ""
        }
    }
}

extension Key: CustomStringConvertible {
    public var description: String {
        Self.prefixes.filter { modifiers.contains($0.modifier) }.map(\.name).joined() + name(\.name)
    }
}
