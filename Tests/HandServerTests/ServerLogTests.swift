import Foundation
import Glibc
import HandFormats
import HandServer
import Logging
import Testing

/// Each event is one line of the log, whatever names people choose.
@Suite struct ServerLogTests {
    /// Returns the output of a logger.
    private func written(_ format: ServerLog.Format, _ level: Logger.Level = .info, _ body: (Logger, ServerLog) -> Void)
        throws -> String
    {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        let log = ServerLog(format, level: level, descriptor: ends[1])
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
    }
}
