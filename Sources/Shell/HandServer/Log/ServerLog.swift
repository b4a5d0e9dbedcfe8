import EventLoop
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
/// Each event is exactly one line, whatever characters the names of users and lists contain. Of one kind of warning
/// there are only a few lines a minute; the others are counted.
package final class ServerLog: Sendable {
    package enum Format: String, CaseIterable, Sendable {
        case text, json
    }

    private let format: Format
    private let current: Mutex<Logger.Level>
    private let budget = Mutex(WarningBudget())
    /// Milliseconds of a clock that never goes back.
    private let now: @Sendable () -> UInt64
    private let sink: LineSink

    package init(
        _ format: Format, level: Logger.Level, descriptor: Int32 = 2,
        now: @escaping @Sendable () -> UInt64 = { Loop.monotonicNanoseconds / 1_000_000 }
    ) {
        self.format = format
        self.now = now
        current = Mutex(level)
        sink = LineSink(descriptor) { count in
            Self.line(format, .warning, "log lines were dropped: nobody read them", [("lines", JSONValue(count))])
        }
    }

    /// Waits until the log is written, for a limited time: a stuck reader must not keep the process from ending.
    package func flush() { sink.flush(within: 2) }

    package var level: Logger.Level {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }

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
            let details = all.sorted { $0.key < $1.key }.map { ($0.key, $0.value.json) }
            log.write(event.level, "\(event.message)", details)
        }
    }

    private typealias Details = [(key: String, value: JSONValue)]

    private func write(_ level: Logger.Level, _ message: String, _ details: Details) {
        let (leftOut, isTaken) = budget.withLock { budget in
            // Under the lock, so that time does not go back.
            let now = now()
            return (budget.endPeriods(now: now), level < .warning || budget.take(message, now: now))
        }
        for (kind, count) in leftOut {
            let details = [("count", JSONValue(count)), ("like", .string(kind))]
            sink.write(Self.line(format, .warning, "warnings were left out", details))
        }
        if isTaken { sink.write(Self.line(format, level, message, details)) }
    }

    private static func line(_ format: Format, _ level: Logger.Level, _ message: String, _ details: Details) -> String {
        let time = Date.now.formatted(.iso8601)
        return switch format {
        case .text: text(time, level, message, details) + "\n"
        case .json: json(time, level, message, details) + "\n"
        }
    }

    private static func text(_ time: String, _ level: Logger.Level, _ message: String, _ details: Details) -> String {
        let words = details.map { key, value in
            let clean = Printable.clean(plain(value))
            let isPlain = !clean.isEmpty && !clean.unicodeScalars.contains { " \"=\\".unicodeScalars.contains($0) }
            return "\(key)=\(isPlain ? clean : JSONValue.string(clean).line)"
        }
        return (["\(time) \(level) \(Printable.clean(message))"] + words).joined(separator: " ")
    }

    private static func plain(_ value: JSONValue) -> String {
        switch value {
        case .string(let text): text
        case .array(let values): values.map(plain).joined(separator: ", ")
        default: value.line
        }
    }

    private static func json(_ time: String, _ level: Logger.Level, _ message: String, _ details: Details) -> String {
        let members: [JSONValue.Member] = [
            .init("time", .string(time)), .init("level", .string(level.rawValue)), .init("message", .string(message)),
        ]
        return JSONValue.object(members + details.map(JSONValue.Member.init)).line
    }
}

extension Logger.MetadataValue {
    /// Numbers are numbers in JSON, and lists are lists.
    fileprivate var json: JSONValue {
        switch self {
        case .string(let text): .string(text)
        case .stringConvertible(let number as any BinaryInteger & Sendable): JSONValue(number)
        case .stringConvertible(let number as Double) where number.isFinite: .double(number)
        case .stringConvertible(let value): .string("\(value)")
        case .array(let values): .array(values.map(\.json))
        case .dictionary(let values): .object(values.sorted { $0.key < $1.key }.map { .init($0.key, $0.value.json) })
        }
    }
}
