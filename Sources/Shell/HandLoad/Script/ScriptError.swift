/// Where a script cannot be parsed, and what was expected there.
package struct ScriptError: Error, Equatable, CustomStringConvertible, Sendable {
    /// Both counted from 1.
    package let line: Int
    package let column: Int
    package let message: String

    package var description: String { "line \(line), column \(column): \(message)" }
}
