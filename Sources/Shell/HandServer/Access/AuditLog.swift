import Foundation
import Glibc
import HandSync

/// Who did what from where, as JSON Lines at the end of a file: one object for each thing that happened. No secret is in it.
///
///     {"event":"letIn","peer":"10.0.0.7:51312","person":"ada","time":"2026-11-21T13:46:02Z","token":"k3f9x1"}
///
/// Edits are not: each list's history says who made them.
public final class AuditLog {
    private let descriptor: Int32
    private let encoder = JSONEncoder()

    private struct Entry: Encodable {
        let time: Date
        let event: String
        let peer: String
        var person: String?
        /// The id of the token; nil for a guest.
        var token: String?
        var list: String?
        var detail: String?
    }

    /// What cannot be opened, for people.
    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    /// Makes the file if need be, for its owner only.
    public init(path: String) throws(Failure) {
        descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw Failure(description: "cannot write the audit log \(path): \(String(cString: strerror(errno)))")
        }
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    }

    deinit { close(descriptor) }

    /// Takes note of what belongs here.
    func record(_ note: ServiceNote) {
        switch note {
        case .letIn(let connection): write("letIn", connection)
        case .turnedAway(let connection, let reason): write("turnedAway", connection, detail: reason)
        case .denied(let connection, let what, let list): write("denied", connection, list: list, detail: what)
        case .created(let list, let connection): write("created", connection, list: list)
        case .deleted(let list, let connection): write("deleted", connection, list: list)
        case .disconnected(let connection, let reason): write("left", connection, detail: reason)
        default: break
        }
    }

    private func write(_ event: String, _ connection: Connection, list: String? = nil, detail: String? = nil) {
        let person = connection.person.isEmpty ? nil : connection.person
        let entry = Entry(
            time: .now, event: event, peer: connection.peerDescription, person: person, token: connection.grantID,
            list: list, detail: detail)
        guard var line = try? encoder.encode(entry) else { return }
        line.append(UInt8(ascii: "\n"))
        // One call for a line, so that lines of two servers do not mix.
        line.withUnsafeBytes { _ = Glibc.write(descriptor, $0.baseAddress, $0.count) }
    }
}
