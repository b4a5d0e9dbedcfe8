import Glibc
import HandFormats
import Synchronization
import Terminal

/// Writes data to standard output and messages to standard error.
enum Output {
    private static let standardOutput = Mutex(LineWriter(descriptor: 1))
    private static let stderrDescriptor: Int32 = 2

    static func line(_ text: String) {
        lines(text + "\n")
    }

    /// Writes lines of data, which include their newlines, with one call.
    static func lines(_ text: String) {
        use { writer throws(LineWriter.Problem) in
            try writer.write(text)
            if writer.isLive { try writer.flush() }
        }
    }

    private static func use(_ body: (inout LineWriter) throws(LineWriter.Problem) -> Void) {
        standardOutput.withLock { writer in
            do throws(LineWriter.Problem) { try body(&writer) } catch { fail(error) }
        }
    }

    /// How changed words are marked: in colours on a terminal that has them, unless `NO_COLOR` is set.
    static let marks: ChangeMarks =
        isatty(1) == 1 && getenv("TERM").map { String(cString: $0) } != "dumb" && !Terminal.colorsAreRefused
        ? .colored : .plain

    /// Returns a text of ASCII characters with spaces up to a width.
    static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.utf8.count))
    }

    static func json(_ value: JSONValue) {
        line(value.line)
    }

    /// Writes the lines of `body` in large pieces; on a terminal, line by line.
    static func together<Result>(_ body: () throws -> Result) rethrows -> Result {
        use { $0.begin() }
        defer { use { writer throws(LineWriter.Problem) in try writer.end() } }
        return try body()
    }

    static func message(_ text: String) {
        write(text + "\n")
    }

    /// Prints a line that the next one overwrites, if standard error is a terminal.
    static func progress(_ text: String) {
        guard isatty(stderrDescriptor) == 1 else { return }
        write(clear + text)
    }

    /// Erases a line of progress.
    static var clear: String { isatty(stderrDescriptor) == 1 ? "\r\u{1B}[K" : "" }

    static func exit(_ status: ExitStatus) -> Never {
        use { writer throws(LineWriter.Problem) in try writer.flush() }
        Glibc.exit(status.rawValue)
    }

    /// Opens standard descriptors that are closed, so that no other file gets their number and is overwritten. Writing
    /// to a closed standard output still fails, as it should.
    static func claimDescriptors() {
        for (descriptor, mode) in [(Int32(0), O_WRONLY), (1, O_RDONLY), (2, O_WRONLY)]
        where fcntl(descriptor, F_GETFD) < 0 {
            _ = open("/dev/null", mode)
        }
    }

    /// A message that cannot be written is lost; the exit code still reports the result.
    private static func write(_ text: String) {
        var writer = LineWriter(descriptor: stderrDescriptor)
        try? writer.write(text)
        try? writer.flush()
    }

    /// If the reader is gone (`hand watch | head -1`), ends the command quietly, as other programs do.
    private static func fail(_ error: LineWriter.Problem) -> Never {
        if error.code == EPIPE { Glibc.exit(ExitStatus.ok.rawValue) }
        message("hand: cannot write to standard output: \(error)")
        Glibc.exit(ExitStatus.error.rawValue)
    }
}
