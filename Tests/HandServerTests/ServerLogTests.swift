import Foundation
import Glibc
import HandFormats
import HandServer
import HandSync
import Logging
import Synchronization
import Testing

/// Each event is one line of the log, whatever names people choose.
@Suite struct ServerLogTests {
    /// Returns the output of a logger.
    private func written(
        _ format: ServerLog.Format, _ level: Logger.Level = .info, _ clock: Clock = Clock(),
        _ body: (Logger, ServerLog) -> Void
    ) throws -> String {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        let log = ServerLog(format, level: level, descriptor: ends[1], now: { clock.now })
        body(Logger(label: "test") { _ in log.handler }, log)
        log.flush()
        close(ends[1])
        defer { close(ends[0]) }
        return String(decoding: FileHandle(fileDescriptor: ends[0]).readDataToEndOfFile(), as: UTF8.self)
    }

    private static let evil = "x\n2026-01-01T00:00:00Z info let in \u{1B}[2J\u{9B}31m\u{202E}a\"b=\\"

    @Test func oneLinePerEvent() throws {
        let text = try written(.text) { logger, _ in
            logger.info("let in", metadata: ["peer": "10.0.0.1:5", "person": "\(Self.evil)", "empty": ""])
        }
        #expect(text.split(separator: "\n").count == 1)
        #expect(text.firstMatch(of: #/^\S+Z info let in empty="" peer=10\.0\.0\.1:5 person="x 2026/#) != nil, "\(text)")
        #expect(text.unicodeScalars.allSatisfy { $0 == "\n" || Printable.clean(String($0)) == String($0) })
    }

    @Test func jsonLinesEscapeControlCharacters() throws {
        let text = try written(.json) { logger, _ in
            logger.error("it\nfailed", metadata: ["person": "\(Self.evil)"])
        }
        #expect(text.split(separator: "\n").count == 1 && !text.contains("\u{1B}") && !text.contains("\u{9B}"))
        let value = try JSONValue.parse(text.trimmingCharacters(in: .newlines))
        #expect(value["level"] == "error" && value["message"] == "it\nfailed")
        #expect(value["person"] == .string(Self.evil))
    }

    /// Programs get numbers as numbers and lists as lists; people get them as they are written.
    @Test(arguments: ServerLog.Format.allCases) func valuesKeepTheirKind(format: ServerLog.Format) throws {
        let text = try written(format) { logger, _ in
            logger.info(
                "all",
                metadata: [
                    "count": .stringConvertible(7), "most": .stringConvertible(UInt64.max),
                    "seconds": .stringConvertible(2.5), "text": "7", "list": .array(["a b", .stringConvertible(3)]),
                    "deep": .dictionary(["one": .stringConvertible(1)]),
                ])
        }
        switch format {
        case .text:
            let rest = #"count=7 deep="{\"one\":1}" list="a b, 3" most=18446744073709551615 seconds=2.5 text=7"#
            #expect(text.hasSuffix("info all \(rest)\n"), "\(text)")
        case .json:
            let value = try JSONValue.parse(text.trimmingCharacters(in: .newlines))
            #expect(value["count"] == 7 && value["most"] == JSONValue(UInt64.max) && value["seconds"] == .double(2.5))
            #expect(value["text"] == "7" && value["list"] == ["a b", 3] && value["deep"] == ["one": 1])
        }
    }

    private final class Clock: Sendable {
        private let milliseconds = Mutex<UInt64>(0)
        var now: UInt64 { milliseconds.withLock { $0 } }
        func pass(_ more: UInt64) { milliseconds.withLock { $0 += more } }
    }

    /// What fails ten times a second is logged a few times a minute; the others are counted, and the first after a pause
    /// is logged at once. Other kinds of lines do not suffer.
    @Test func aWarningThatRepeatsIsCounted() throws {
        let clock = Clock()
        let text = try written(.text, .info, clock) { logger, _ in
            for _ in 0..<2 {
                for number in 0..<600 {
                    logger.warning("cannot accept", metadata: ["error": "\(number)"])
                    logger.info("created \(number)")
                    clock.pass(100)
                }
                logger.error("another")
                clock.pass(3_600_000)
            }
            logger.info("the end")
        }
        let lines = text.split(separator: "\n")
        #expect(lines.count { $0.contains(" warning cannot accept error=") } == 10)
        #expect(lines.count { $0.contains(" info created ") } == 1_200 && lines.count { $0.contains("another") } == 2)
        let left = lines.filter { $0.contains("warnings were left out") }
        #expect(left.count == 2 && left.allSatisfy { $0.hasSuffix("count=595 like=\"cannot accept\"") }, "\(left)")
    }

    @Test func theLevelMayChange() throws {
        let text = try written(.text, .warning) { logger, log in
            logger.info("one")
            log.level = .debug
            logger.debug("two")
            log.level = .error
            logger.warning("three")
        }
        #expect(text.contains("two") && !text.contains("one") && !text.contains("three"))
    }

    /// If nobody reads the log, the logging program continues, and the lost lines are counted once there is room.
    @Test(.timeLimit(.minutes(5))) func anUnreadLogLosesCountedLines() throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        let log = ServerLog(.text, level: .info, descriptor: ends[1])
        let logger = Logger(label: "test") { _ in log.handler }
        let (count, filler) = (5_000, String(repeating: "x", count: 1_000))
        for number in 0..<count { logger.info("line \(number) \(filler)") }
        var text = ""
        var part = [UInt8](repeating: 0, count: 65_536)
        func read() { text += String(decoding: part[..<max(0, Glibc.read(ends[0], &part, part.count))], as: UTF8.self) }
        var lost: Int {
            text.matches(of: #/dropped: nobody read them lines=([0-9]+)\n/#).reduce(0) { $0 + (Int($1.1) ?? 0) }
        }
        var written: Int { text.split(separator: "\n").count { $0.contains("info line ") } }
        // Each line is either written or counted.
        while written + lost < count { read() }
        #expect(written + lost == count && lost > 0)
        logger.info("the end")
        while !text.contains("the end\n") { read() }
        log.flush()
        close(ends[1])
        close(ends[0])
    }

    @Test func aClockBefore1970() {
        #expect(WallClock.milliseconds(of: timespec(tv_sec: -5, tv_nsec: 1)) == 0)
        #expect(WallClock.milliseconds(of: timespec(tv_sec: 5, tv_nsec: 7_000_000)) == 5_007)
    }

    /// Commits and writes are counted when they are durable; what was lost in a failed write never is.
    @Test func onlyDurableCommitsAreTimed() {
        var clock = CommitClock()
        for round in 0..<3 {
            let start = UInt64(round) * 10_000_000
            clock.numbered(2, at: start)
            clock.writing(at: start + 1_000_000)
            // That write fails. In the meantime, another commit was numbered.
            clock.numbered(1, at: start + 2_000_000)
            clock.writing(at: start + 3_000_000)
            clock.written(at: start + 7_000_000)
        }
        clock.numbered(1, at: 90_000_000)
        clock.writing(at: 90_000_000)
        clock.written(at: 93_000_000)
        #expect(clock.commits.count == 4 && clock.writes.count == 4)
        #expect(abs(clock.commits.seconds - 0.018) < 1e-9 && abs(clock.writes.seconds - 0.015) < 1e-9)
        #expect(clock.commits.distribution.counts.last == 4)
    }

    /// Endless connections of strangers leave only a few entries per second, and displace no other entries.
    @Test func strangersCannotFillTheAuditLog() {
        var budget = AuditBudget()
        var (written, leftOut) = (0, 0)
        for millisecond in 0..<60_000 {
            if case .written(let before) = budget.take(nil, now: UInt64(millisecond)) {
                written += 1
                leftOut += before
            }
            if millisecond % 1_000 == 0 {
                #expect(budget.take("k3f9x1", now: UInt64(millisecond)) == .written(leftOut: 0))
            }
        }
        #expect((600...800).contains(written) && leftOut > 58_000, "\(written) \(leftOut)")
        #expect(budget.take(nil, now: 70_000) == .written(leftOut: 60_000 - written - leftOut))
        // Each flood is counted by itself.
        for start in [1_000_000, 2_000_000] as [UInt64] {
            let verdicts = (0..<500).map { budget.take(nil, now: start + $0) }
            #expect(verdicts[0] == .written(leftOut: 0) && verdicts.last == .leftOut)
            let told = verdicts.reduce(0) { if case .written(let before) = $1 { $0 + before } else { $0 } }
            let left = verdicts.count { $0 == .leftOut } - told
            #expect(budget.take(nil, now: start + 20_000) == .written(leftOut: left))
        }
    }
}
