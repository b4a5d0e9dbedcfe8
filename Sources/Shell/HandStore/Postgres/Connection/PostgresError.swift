import CLibpq

package struct PostgresError: Error, Equatable, Sendable {
    /// The SQLSTATE: five characters, of which the first two are the class.
    package let state: String
    package let message: String
    package let detail: String?

    package init(state: String, _ message: String, detail: String? = nil) {
        self.state = state
        self.message = message
        self.detail = detail
    }

    /// Reads the error or notice of a result.
    init(result: OpaquePointer) {
        func field(_ code: Int32) -> String? { PQresultErrorField(result, code).map { String(cString: $0) } }
        let text = field(hand_pg_message()) ?? String(cString: PQresultErrorMessage(result))
        // An error without a state does not come from the server: the connection is lost.
        self.init(
            state: field(hand_pg_sqlstate()) ?? Self.connectionLost, Self.line(text), detail: field(hand_pg_detail()))
    }

    // The states that this library sets, and those that this program checks for.
    package static let connectionLost = "08006"
    package static let unreachable = "08001"
    package static let uniqueViolation = "23505"
    package static let idleInTransaction = "25P03"
    static let wrongValue = "22P03"
    package static let wrongAddress = "08P01"

    static func lost(_ message: String) -> PostgresError { PostgresError(state: connectionLost, message) }

    /// Whether the error concerns the connection, or a server that is starting, stopping or changing its role: the same
    /// call may succeed at another server or later.
    package var isAboutConnection: Bool {
        state.hasPrefix("08") || ["57P01", "57P02", "57P03", "57P05", "25006", "53300", "25P03"].contains(state)
    }

    /// Whether the transaction was rolled back because of another transaction, or took too long.
    package var isPassing: Bool { state.hasPrefix("40") || state == "55P03" || state == "57014" }

    /// Joins libpq's text into one line, without indentation.
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
