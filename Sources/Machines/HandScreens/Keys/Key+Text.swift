import HandFormats

// How keys are written: in the configuration file, in the help, in the line at the bottom.

extension Key {
    /// Why a text does not name a key: what was found, and what is expected.
    package struct TextError: Error, Equatable, CustomStringConvertible, Sendable {
        package let description: String
    }

    private typealias Name = (name: String, code: Code, symbol: String)

    private static let names: [Name] = [
        ("space", .character(" "), "␣"), ("enter", .enter, "⏎"), ("esc", .escape, "esc"), ("tab", .tab, "tab"),
        ("backspace", .backspace, "⌫"), ("del", .delete, "del"), ("ins", .insert, "ins"), ("up", .up, "↑"),
        ("down", .down, "↓"), ("left", .left, "←"), ("right", .right, "→"), ("home", .home, "home"),
        ("end", .end, "end"), ("pgup", .pageUp, "pgup"), ("pgdn", .pageDown, "pgdn"),
    ]
    private static let prefixes: [(name: String, modifier: Modifiers, symbol: String)] = [
        ("ctrl-", .control, "^"), ("alt-", .alt, "alt-"), ("shift-", .shift, "⇧"),
    ]
    private static let functions = 1...12

    // MARK: Reading

    /// Reads `j`, `G`, `space`, `enter`, `f1`, `ctrl-r`, `alt-down`, `ctrl-alt-x`. The names of keys may be in
    /// capitals; `ctrl-R` is `ctrl-r`, because terminals send the same for both.
    package init(_ text: String) throws(TextError) {
        var rest = text[...]
        var modifiers: Modifiers = []
        while let prefix = Self.prefix(of: rest) {
            guard modifiers.insert(prefix.modifier).inserted else {
                throw TextError(description: "'\(text)' has \(prefix.name) twice; expected it once")
            }
            rest = rest.dropFirst(prefix.name.count)
        }
        guard var code = Self.code(rest) else { throw Self.noKey(text) }
        if case .character(let character) = code {
            if modifiers.contains(.shift) { throw Self.needlessShift(text, rest, modifiers) }
            if modifiers.contains(.control) { code = .character(Self.small(character)) }
        }
        self.init(code, modifiers)
    }

    private static func prefix(of text: Substring) -> (name: String, modifier: Modifiers, symbol: String)? {
        let lower = text.lowercased()
        return prefixes.first { lower.hasPrefix($0.name) }
    }

    private static func code(_ text: Substring) -> Code? {
        if text.count == 1, let character = text.first {
            return character.isWhitespace || character.isControl ? nil : .character(character)
        }
        let lower = text.lowercased()
        return names.first { $0.name == lower }?.code
            ?? functions.first { "f\($0)" == lower }.map(Code.function)
    }

    private static func small(_ character: Character) -> Character {
        let lower = character.lowercased()
        return lower.count == 1 ? Character(lower) : character
    }

    private static func noKey(_ text: String) -> TextError {
        let known = (names.map(\.name) + ["f\(functions.lowerBound)…f\(functions.upperBound)"]).joined(separator: ", ")
        return TextError(
            description:
                "'\(text)' is not a key; expected a character or one of \(known), perhaps after ctrl-, alt- or shift-"
        )
    }

    private static func needlessShift(_ text: String, _ character: Substring, _ modifiers: Modifiers) -> TextError {
        let others = prefixes.filter { $0.modifier != .shift && modifiers.contains($0.modifier) }.map(\.name).joined()
        let capital = character.uppercased()
        let hasCapital = character.count == 1 && capital != character.lowercased() && !modifiers.contains(.control)
        let expected =
            if hasCapital {
                "the capital alone, '\(others)\(capital)'"
            } else if character.count > 1 || modifiers.contains(.control) {
                "'\(others)\(character.lowercased())', as terminals send the same with shift"
            } else {
                "the character that comes with shift, alone"
            }
        return TextError(description: "'\(text)' has shift with a character; expected \(expected)")
    }

    /// Reads one or more keys that are pressed one after another, separated by blanks: `g g`.
    package static func sequence(_ text: String) throws(TextError) -> [Key] {
        var keys: [Key] = []
        for part in text.split(separator: " ") { keys.append(try Key(String(part))) }
        if keys.isEmpty {
            throw TextError(
                description: "'\(text)' has no key; expected keys such as 'g g'; a blank is written 'space'")
        }
        return keys
    }

    // MARK: Writing

    /// The key as it is drawn where there is little room: `↑`, `^R`, `alt-↓`, `⇧↑`, `␣`.
    package var symbol: String {
        var symbol = self
        // Control keys are traditionally named by the capital letter.
        if case .character(let character) = code, modifiers.contains(.control), character.uppercased().count == 1 {
            symbol.code = .character(Character(character.uppercased()))
        }
        return Self.prefixes.filter { modifiers.contains($0.modifier) }.map(\.symbol).joined() + symbol.bare(\.symbol)
    }

    private func bare(_ form: KeyPath<Name, String>) -> String {
        if let named = Self.names.first(where: { $0.code == code }) { return named[keyPath: form] }
        return switch code {
        case .character(let character): String(character)
        case .function(let number): "f\(number)"
        default: ""
        }
    }
}

extension Key {
    /// The key that a terminal sends instead of this key, because the terminal cannot distinguish the two; nil if the
    /// terminal sends this key.
    package var arrivesAs: Key? {
        guard modifiers.contains(.control), case .character(let character) = code else { return nil }
        var rest = self
        rest.modifiers.remove(.control)
        switch character {
        case "h": rest.code = .backspace
        case "i": rest.code = .tab
        case "j", "m": rest.code = .enter
        case "[": rest.code = .escape
        case "/": return Key(.character("_"), modifiers)
        default: return nil
        }
        return rest
    }
}

extension Key: CustomStringConvertible {
    /// The text that `init(_:)` reads.
    package var description: String {
        Self.prefixes.filter { modifiers.contains($0.modifier) }.map(\.name).joined() + bare(\.name)
    }
}
