/// The rule for names of lists: 1 to 128 bytes of letters, digits, `-`, `_` and `.`, not starting with `.` or `-`, so
/// that a name can be used unchanged in a URL, a shell command and a file name.
package enum ListName {
    /// Returns why `name` is not a valid name of a list, or nil if it is.
    package static func problem(with name: String) -> String? {
        if name.isEmpty { return "a list's name must not be empty" }
        if name.utf8.count > Limits.nameBytes {
            return "a list's name may have at most \(Limits.nameBytes) bytes, but this one has \(name.utf8.count)"
        }
        if name.hasPrefix(".") || name.hasPrefix("-") { return "a list's name must not start with '.' or '-'" }
        let isPlain = name.unicodeScalars.allSatisfy {
            $0.properties.isAlphabetic || $0.properties.numericType != nil || "-_.".unicodeScalars.contains($0)
        }
        return isPlain ? nil : "a list's name may contain only letters, digits, '-', '_' and '.'"
    }

    /// Returns why `name` is not allowed for a new list, or nil if it is. Invisible letters are not allowed in new
    /// names, but existing lists with such names can still be used.
    package static func problem(withNew name: String) -> String? {
        if let problem = problem(with: name) { return problem }
        let isSeen = !name.unicodeScalars.contains { $0.properties.isDefaultIgnorableCodePoint }
        return isSeen ? nil : "a list's name must not contain invisible letters"
    }
}
