import CLibpq

/// What the database, or the way to it, complains of.
package struct PostgresError: Error, Equatable, Sendable {
    /// The SQLSTATE: five characters, of which the first two say the class.
    package let state: String
    package let message: String
    package let detail: String?

    package init(state: String, _ message: String, detail: String? = nil) {
        self.state = state
        self.message = message
        self.detail = detail
    }

    /// What a result that is an error, or a notice, says.
    init(result: OpaquePointer) {
        func field(_ code: Int32) -> String? { PQresultErrorField(result, code).map { String(cString: $0) } }
        let text = field(hand_pg_message()) ?? String(cString: PQresultErrorMessage(result))
        // Without a state it does not come from the server: the connection is gone.
        self.init(
            state: field(hand_pg_sqlstate()) ?? Self.connectionLost, Self.line(text), detail: field(hand_pg_detail()))
    }

    /// The states that are given here, and those that this program looks for.
    package static let connectionLost = "08006"
    package static let unreachable = "08001"
    package static let uniqueViolation = "23505"
    package static let idleInTransaction = "25P03"
    static let wrongValue = "22P03"
    static let wrongAddress = "08P01"

    static func lost(_ message: String) -> PostgresError { PostgresError(state: connectionLost, message) }

    /// Whether it is about the connection, or a server that is on its way up, down, or to another role: elsewhere, or later, the
    /// same may work.
    package var isAboutConnection: Bool {
        state.hasPrefix("08") || ["57P01", "57P02", "57P03", "57P05", "25006", "53300", "25P03"].contains(state)
    }

    /// Whether the transaction was undone for the sake of another one, or took too long.
    package var isPassing: Bool { state.hasPrefix("40") || state == "55P03" || state == "57014" }

    /// In one line, without the indented ones that libpq adds.
    static func line(_ text: String) -> String {
        text.split(whereSeparator: \.isNewline)
            .map { $0.drop { $0 == " " || $0 == "\t" } }
            .joined(separator: " ")
    }
}

extension PostgresError: CustomStringConvertible {
    package var description: String {
        let detail = detail.map { " (\($0))" } ?? ""
        return state.hasPrefix("08") ? message + detail : "\(message)\(detail) [\(state)]"
    }
}
