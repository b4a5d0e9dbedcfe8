/// Words of commands in messages, which people copy into a shell.
package enum ShellWord {
    /// Returns the word in quotes, if a shell would change it otherwise.
    package static func quoted(_ word: String) -> String {
        if word.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) { return escaped(word) }
        let isPlain = !word.isEmpty && word.allSatisfy { $0.isLetter || $0.isNumber || "-_./:,=+@%…".contains($0) }
        return isPlain ? word : "'" + word.replacing("'", with: "'\\''") + "'"
    }

    /// A word with characters that no terminal shows, as bash, zsh and POSIX of 2024 read it.
    private static func escaped(_ word: String) -> String {
        let parts = word.unicodeScalars.map { scalar in
            switch scalar {
            case "\n": "\\n"
            case "\t": "\\t"
            case "\\", "'": "\\\(scalar)"
            case _ where scalar.properties.generalCategory == .control:
                "\\" + String(scalar.value | 0o1000, radix: 8).dropFirst()
            default: "\(scalar)"
            }
        }
        return "$'" + parts.joined() + "'"
    }
}
