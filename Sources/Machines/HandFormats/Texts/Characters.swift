extension String {
    /// Whether the text is empty or only white space, as from an unset variable of a shell.
    package var isBlank: Bool { allSatisfy(\.isWhitespace) }
}

extension Character {
    /// Whether the character is, or contains, a control character such as a line break or a tab.
    package var isControl: Bool { unicodeScalars.contains { $0.properties.generalCategory == .control } }
}
