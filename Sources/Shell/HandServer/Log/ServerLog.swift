import FoundationEssentials
import HandFormats
import Logging
import Synchronization

/// A server's log on standard error: text for people, or JSON Lines for programs. Its level may change while the server
/// runs.
///
///     2026-11-21T13:46:02Z info turned away peer=10.0.0.7:51312 reason="the token is not valid, or no longer"
///     {"time":"2026-11-21T13:46:02Z","level":"info","message":"turned away","peer":"10.0.0.7:51312","reason":"…"}
///
/// Each event is exactly one line, whatever characters the names of users and lists contain.
package final class ServerLog: Sendable {
    package enum Format: String, CaseIterable, Sendable {
        case text, json
    }

    private let format: Format
    private let current: Mutex<Logger.Level>
    private let sink: LineSink

    package init(_ format: Format, level: Logger.Level, descriptor: Int32 = 2) {
        self.format = format
        current = Mutex(level)
        sink = LineSink(descriptor) { count in
            Self.line(format, .warning, "log lines were dropped: nobody read them", [("lines", "\(count)")])
        }
    }

    /// Waits until the log is written, for a limited time: a stuck reader must not keep the process from ending.
    package func flush() { sink.flush(within: 2) }

    package var level: Logger.Level {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }

    /// A handler that writes to this log.
    package var handler: any LogHandler { Handler(log: self) }

    private struct Handler: LogHandler {
        let log: ServerLog
        var metadata: Logger.Metadata = [:]

        var logLevel: Logger.Level {
            get { log.level }
            set { log.level = newValue }
        }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let all = metadata.merging(event.metadata ?? [:]) { $1 }
            let details = all.sorted { $0.key < $1.key }.map { ($0.key, "\($0.value)") }
            log.write(event.level, "\(event.message)", details)
        }
    }

    private func write(_ level: Logger.Level, _ message: String, _ details: [(key: String, value: String)]) {
        sink.write(Self.line(format, level, message, details))
    }

    private static func line(
        _ format: Format, _ level: Logger.Level, _ message: String, _ details: [(key: String, value: String)]
    ) -> String {
        let time = Date.now.formatted(.iso8601)
        return switch format {
        case .text: text(time, level, message, details) + "\n"
        case .json: json(time, level, message, details) + "\n"
        }
    }

    private static func text(
        _ time: String, _ level: Logger.Level, _ message: String, _ details: [(key: String, value: String)]
    ) -> String {
        let words = details.map { key, value in
            let clean = Printable.clean(value)
            let isPlain = !clean.isEmpty && !clean.unicodeScalars.contains { " \"=\\".unicodeScalars.contains($0) }
            return "\(key)=\(isPlain ? clean : JSONValue.string(clean).line)"
        }
        return (["\(time) \(level) \(Printable.clean(message))"] + words).joined(separator: " ")
    }

    private static func json(
        _ time: String, _ level: Logger.Level, _ message: String, _ details: [(key: String, value: String)]
    ) -> String {
        let members: [JSONValue.Member] = [
            .init("time", .string(time)), .init("level", .string(level.rawValue)), .init("message", .string(message)),
        ]
        return JSONValue.object(members + details.map { .init($0.key, .string($0.value)) }).line
    }
}
