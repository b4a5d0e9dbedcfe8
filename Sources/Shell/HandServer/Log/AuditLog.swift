import Files
import Foundation
import Glibc
import HandFormats
import HandSync

/// Who did what from where, as JSON Lines at the end of a file: one object for each thing that happened. No secret is in it.
///
///     {"time":"2026-11-21T13:46:02Z","event":"letIn","peer":"10.0.0.7:51312","person":"ada","token":"k3f9x1"}
///
/// Edits are not: each list's history says who made them.
///
/// Nobody can make it grow without end: of many entries that one causes those beyond a few a second are only counted.
package final class AuditLog {
    private let path: String
    private let sink: LineSink
    private var budget = AuditBudget()

    /// What cannot be opened, for people.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// Makes the file if need be, for its owner only.
    ///
    /// - Parameter trouble: hears, on another thread, why nothing can be written; it is tried again.
    package init(path: String, trouble: @escaping @Sendable (String) -> Void = { _ in }) throws(Failure) {
        self.path = path
        sink = LineSink(try Self.open(path)) { count in
            Self.line([("event", "lost"), ("detail", "\(count) entries, which could not be written")])
        } trouble: {
            trouble($0)
        }
    }

    private static func open(_ path: String) throws(Failure) -> Int32 {
        do {
            PrivateFile.tighten(path, to: 0o740)
            return try PrivateFile.open(path, O_WRONLY | O_APPEND | O_NOCTTY)
        } catch {
            throw Failure(description: "the audit log: \(error)")
        }
    }

    /// Goes on in a file of that name: what was there may have been moved away.
    package func reopen() throws(Failure) { sink.goOn(at: try Self.open(path)) }

    /// Waits until what is known is written, but not for ever; on any thread.
    package var flush: @Sendable () -> Void {
        let sink = sink
        return { sink.flush(within: 2) }
    }

    deinit { sink.close() }

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
        // The id of the token; a guest has none.
        let token = connection.grantID
        guard case .written(let leftOut) = budget.take(token, now: WallClock.milliseconds) else { return }
        if leftOut > 0 {
            write([("event", "leftOut"), ("peer", "several"), ("token", token), ("detail", "\(leftOut) entries")])
        }
        write([
            ("event", event), ("peer", connection.peerDescription),
            ("person", connection.person.isEmpty ? nil : connection.person),
            ("token", token), ("list", list), ("detail", detail),
        ])
    }

    private func write(_ fields: [(String, String?)]) { sink.write(Self.line(fields)) }

    private static func line(_ fields: [(String, String?)]) -> String {
        let all = [("time", Date.now.formatted(.iso8601))] + fields
        return JSONValue.object(all.compactMap { key, value in value.map { .init(key, .string($0)) } }).line + "\n"
    }
}
