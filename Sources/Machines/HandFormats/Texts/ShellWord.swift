/// Words of commands in messages, which people copy into a shell.
package enum ShellWord {
    /// Returns the word in quotes, if a shell would change it otherwise.
    package static func quoted(_ word: String) -> String {
        let isPlain = !word.isEmpty && word.allSatisfy { $0.isLetter || $0.isNumber || "-_./:,=+@%…".contains($0) }
        return isPlain ? word : "'" + word.replacing("'", with: "'\\''") + "'"
    }
}
