/// The rule for names of lists: 1 to 128 bytes of letters, digits, `-`, `_` and `.`, not starting with `.` or `-`, so that
/// a name can stand in a URL, a shell command and a file name as it is.
package enum ListName {
    /// Why `name` may not name a list; nil if it may.
    package static func problem(with name: String) -> String? {
        if name.isEmpty { return "a list's name must not be empty" }
        if name.utf8.count > Limits.nameBytes {
            return "a list's name has at most \(Limits.nameBytes) bytes, this one has \(name.utf8.count)"
        }
        if name.hasPrefix(".") || name.hasPrefix("-") { return "a list's name must not start with '.' or '-'" }
        let isPlain = name.unicodeScalars.allSatisfy {
            $0.properties.isAlphabetic || $0.properties.numericType != nil || "-_.".unicodeScalars.contains($0)
        }
        return isPlain ? nil : "a list's name has only letters, digits, '-', '_' and '.'"
    }

    /// Why no list may get the name from now on; nil if one may. Some letters are never seen: whoever has a list of such a
    /// name can still say it.
    package static func problem(withNew name: String) -> String? {
        if let problem = problem(with: name) { return problem }
        let isSeen = !name.unicodeScalars.contains { $0.properties.isDefaultIgnorableCodePoint }
        return isSeen ? nil : "a list's name has only letters that can be seen"
    }
}
