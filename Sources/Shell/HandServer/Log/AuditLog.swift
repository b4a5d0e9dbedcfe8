import Foundation
import Glibc
import HandFormats
import HandSync

/// Who did what from where, as JSON Lines at the end of a file: one object for each thing that happened. No secret is in it.
///
///     {"time":"2026-11-21T13:46:02Z","event":"letIn","peer":"10.0.0.7:51312","person":"ada","token":"k3f9x1"}
///
/// Edits are not: each list's history says who made them.
public final class AuditLog {
    private let descriptor: Int32

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
        case .renamed(let list, let new, let connection): write("renamed", connection, list: list, detail: new)
        case .undeleted(let list, let new, let connection): write("undeleted", connection, list: list, detail: new)
        case .disconnected(let connection, let reason): write("left", connection, detail: reason)
        default: break
        }
    }

    /// Takes note of what the operator orders over the admin socket.
    func record(order: String) {
        write([("event", "ordered"), ("peer", "admin"), ("detail", order)])
    }

    private func write(_ event: String, _ connection: Connection, list: String? = nil, detail: String? = nil) {
        write([
            ("event", event), ("peer", connection.peerDescription),
            ("person", connection.person.isEmpty ? nil : connection.person),
            // The id of the token; a guest has none.
            ("token", connection.grantID), ("list", list), ("detail", detail),
        ])
    }

    private func write(_ fields: [(String, String?)]) {
        let all = [("time", Date.now.formatted(.iso8601))] + fields
        let entry = JSONValue.object(all.compactMap { key, value in value.map { .init(key, .string($0)) } })
        // One call for a line, so that lines of two servers do not mix.
        (entry.bytes + [UInt8(ascii: "\n")]).withUnsafeBytes {
            _ = Glibc.write(descriptor, $0.baseAddress, $0.count)
        }
    }
}
