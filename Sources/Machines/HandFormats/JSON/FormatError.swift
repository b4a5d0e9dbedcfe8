/// Why a text cannot be parsed: where, what was expected there, and what was found.
package struct FormatError: Error, Equatable, Sendable {
    /// The line, counted from 1, if the text has several lines.
    package var line: Int?
    /// The path of the field, such as `delta[2].insert[0].kind`; empty for the whole value.
    package var place: String
    /// What was expected, as a noun.
    package var expected: String
    package var found: String

    package init(line: Int? = nil, place: String, expected: String, found: String) {
        (self.line, self.place, self.expected, self.found) = (line, place, expected, found)
    }

    func inLine(_ number: Int) -> FormatError {
        FormatError(line: number, place: place, expected: expected, found: found)
    }
}

extension FormatError: CustomStringConvertible {
    /// `line 3: delta[2].insert[0].kind: expected the name of a kind or a number, found "tsk"`.
    package var description: String {
        let start = (line.map { "line \($0): " } ?? "") + (place.isEmpty ? "" : place + ": ")
        return start + "expected \(expected), found \(found)"
    }
}
