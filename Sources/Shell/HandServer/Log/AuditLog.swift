import Disk
import EventLoop
import FoundationEssentials
import Glibc
import HandFormats
import HandSync

/// The audit log: who did what from where, appended to a file as JSON Lines. It holds no secrets.
///
///     {"time":"2026-11-21T13:46:02Z","event":"letIn","peer":"10.0.0.7:51312","person":"ada","token":"k3f9x1"}
///
/// Edits are not logged: each list's history names their authors.
///
/// Nobody can make the log grow without limit: beyond a few entries per second and user, entries are only counted.
package final class AuditLog {
    private let path: String
    private let sink: LineSink
    private var budget = AuditBudget()

    /// Opens the file, and creates it for its owner only.
    ///
    /// - Parameter trouble: called on another thread with the reason why writing fails. Writing is retried.
    package init(path: String, trouble: @escaping @Sendable (String) -> Void = { _ in }) throws(AuditLogError) {
        self.path = path
        sink = LineSink(
            try Self.open(path),
            tell: { Self.line([("event", "lost"), ("detail", "\($0) entries, which could not be written")]) },
            trouble: trouble)
    }

    private static func open(_ path: String) throws(AuditLogError) -> Int32 {
        do {
            PrivateFile.tighten(path, to: 0o740)
            return try PrivateFile.open(path, O_WRONLY | O_APPEND | O_NOCTTY)
        } catch {
            throw AuditLogError(description: "the audit log: \(error)")
        }
    }

    /// Opens the file again, because the old one may have been moved away.
    package func reopen() throws(AuditLogError) { sink.move(to: try Self.open(path)) }

    /// A function that waits until the entries are written, for a limited time. It may be called on any thread.
    package var flush: @Sendable () -> Void {
        let sink = sink
        return { sink.flush(within: 2) }
    }

    deinit { sink.close() }

    /// Records the kinds of notes that belong in this log.
    func record(_ note: ServerNote) {
        switch note {
        case .letIn(let connection): write("letIn", connection.requester)
        case .turnedAway(let connection, let reason): write("turnedAway", connection.requester, detail: reason)
        case .denied(let connection, let what, let list):
            write("denied", connection.requester, list: list, detail: what)
        case .created(let list, let requester): write("created", requester, list: list)
        case .deleted(let list, let requester): write("deleted", requester, list: list)
        case .renamed(let list, let new, let requester): write("renamed", requester, list: list, detail: new)
        case .undeleted(let list, let new, let requester): write("undeleted", requester, list: list, detail: new)
        // Who was not let in cannot leave.
        case .disconnected(let connection, let reason) where connection.isLetIn:
            write("left", connection.requester, detail: reason)
        case .connected, .disconnected, .closing, .removed, .loaded, .unloaded, .stopping, .storeFailed, .unsettled,
            .reloaded, .vanished, .writeFailed, .snapshotFailed, .trimFailed, .sweepFailed, .compacted:
            break
        }
    }

    /// Records which tokens came, went or changed, and what guests may do.
    func record(changeFrom old: AccessBook, to new: AccessBook) {
        let former = Dictionary(uniqueKeysWithValues: old.all.map { ($0.id, $0.roles) })
        for token in new.all where former[token.id] != token.roles { record("granted", token, token.roles) }
        let left = Set(new.all.map(\.id))
        for token in old.all where !left.contains(token.id) { record("revoked", token, nil) }
        guard old.guests != new.guests else { return }
        let (local, remote) = (new.guests.local.rawValue, new.guests.remote.rawValue)
        write([
            ("event", "guests"), ("peer", "operator"), ("detail", "\(local) on this machine, \(remote) from elsewhere"),
        ])
    }

    private func record(_ event: String, _ token: AccessBook.Token, _ roles: String?) {
        write([
            ("event", event), ("peer", "operator"), ("person", token.name), ("token", token.id), ("detail", roles),
        ])
    }

    /// Records a command from the admin socket.
    func record(order: String) {
        write([("event", "ordered"), ("peer", "admin"), ("detail", order)])
    }

    private func write(_ event: String, _ requester: Requester, list: String? = nil, detail: String? = nil) {
        let token = requester.tokenID
        let verdict = budget.take(token, now: Loop.monotonicNanoseconds / 1_000_000)
        guard case .written(let leftOut) = verdict else { return }
        if leftOut > 0 {
            write([("event", "leftOut"), ("peer", "several"), ("token", token), ("detail", "\(leftOut) entries")])
        }
        write([
            ("event", event), ("peer", requester.peer),
            ("person", requester.person.isEmpty ? nil : requester.person),
            ("token", token), ("list", list), ("detail", detail),
        ])
    }

    private func write(_ fields: [(String, String?)]) { sink.write(Self.line(fields)) }

    private static func line(_ fields: [(String, String?)]) -> String {
        let all = [("time", Date.now.formatted(.iso8601))] + fields
        return JSONValue.object(all.compactMap { key, value in value.map { .init(key, .string($0)) } }).line + "\n"
    }
}

/// Why the log cannot be opened, for people.
package struct AuditLogError: Error, CustomStringConvertible {
    package let description: String
}
