import Foundation
import Glibc
import HandFormats
import HandServer
import Logging
import Testing

/// What happens is one line of the log, whatever people call themselves.
@Suite struct ServerLogTests {
    /// What a logger writes.
    private func written(_ format: ServerLog.Format, _ level: Logger.Level = .info, _ body: (Logger, ServerLog) -> Void)
        throws -> String
    {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        let log = ServerLog(format, level: level, descriptor: ends[1])
        body(Logger(label: "test") { _ in log.handler }, log)
        close(ends[1])
        defer { close(ends[0]) }
        return String(decoding: FileHandle(fileDescriptor: ends[0]).readDataToEndOfFile(), as: UTF8.self)
    }

    private static let evil = "x\n2026-01-01T00:00:00Z info let in \u{1B}[2J\u{9B}31m\u{202E}a\"b=\\"

    @Test func oneLineForOneThing() throws {
        let text = try written(.text) { logger, _ in
            logger.info("let in", metadata: ["peer": "10.0.0.1:5", "person": "\(Self.evil)", "empty": ""])
        }
        #expect(text.split(separator: "\n").count == 1)
        #expect(text.firstMatch(of: #/^\S+Z info let in empty="" peer=10\.0\.0\.1:5 person="x 2026/#) != nil, "\(text)")
        #expect(text.unicodeScalars.allSatisfy { $0 == "\n" || Printable.clean(String($0)) == String($0) })
    }

    @Test func jsonLines() throws {
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
}
