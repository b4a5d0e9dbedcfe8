/// Where a script does not read, and what was expected there.
public struct ScriptError: Error, Equatable, CustomStringConvertible, Sendable {
    /// Both counted from 1.
    public let line: Int
    public let column: Int
    public let message: String

    public var description: String { "line \(line), column \(column): \(message)" }
}
