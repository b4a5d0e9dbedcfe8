/// The reason why a terminal cannot be used for the whole screen.
package enum TerminalError: Error, Equatable, Sendable {
    case notATerminal
    /// The library does not know the kind of terminal that `TERM` names.
    case unknownKind(String)
    /// A terminal of that kind cannot move its cursor.
    case notAScreen(String)
    /// The terminal cannot be watched for input.
    case notWatchable(String)
}

extension TerminalError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notATerminal:
            "this needs a terminal for input and output; in scripts use 'hand ls', 'hand add' and 'hand watch --json'"
        case .unknownKind(let name):
            "the terminal '\(name)' is not known here; set TERM to one that is, such as xterm-256color"
        case .notAScreen(let name):
            "a terminal of kind '\(name)' cannot show a whole screen; set TERM to what it is, such as xterm-256color, or use "
                + "'hand ls', 'hand add' and 'hand watch'"
        case .notWatchable(let reason): "the terminal cannot be watched for input: \(reason)"
        }
    }
}
