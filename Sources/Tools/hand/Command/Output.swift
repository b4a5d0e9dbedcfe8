import EventLoop
import Glibc
import HandApp
import HandFormats
import HandScreens
import Synchronization

/// Writes data to standard output and messages to standard error. What people read is `Printable`; data for programs is
/// exact, unless a terminal shows it.
enum Output {
    private static let standardOutput = Mutex(LineWriter(descriptor: 1))
    private static let stderrDescriptor: Int32 = 2
    private static let outcome = Mutex<Printable?>(nil)

    /// Notes what the command has done, before it prints the result: if that cannot be written, the message says it.
    static func note(done words: Printable) { outcome.withLock { $0 = words } }

    static func line(_ text: Printable) {
        print { writer throws(LineWriter.Problem) in
            try writer.write(text.text)
            try writer.write("\n")
        }
    }

    /// Writes a line. If it cannot be written, the program goes on.
    static func greet(_ text: Printable) {
        standardOutput.withLock { writer in
            try? writer.write(text.text + "\n")
            try? writer.flush()
        }
    }

    /// Asks a question, which the user answers on the same line.
    static func ask(_ question: Printable) {
        print { writer throws(LineWriter.Problem) in try writer.write(question.text + " ") }
    }

    /// Writes lines of data for programs, which include their newlines. On a terminal they are cleaned, too.
    static func data(_ text: String) {
        print { writer throws(LineWriter.Problem) in
            try writer.write(writer.isTerminal ? Printable(lines: text).text : text)
        }
    }

    private static func print(_ body: (inout LineWriter) throws(LineWriter.Problem) -> Void) {
        use { writer throws(LineWriter.Problem) in
            try body(&writer)
            if writer.isLive { try writer.flush() }
        }
    }

    /// Ends this process as soon as nobody reads its output (`hand watch | head -1`), even if it has nothing to write.
    static func endWithReader() {
        Threads.start("reader of the output") {
            var output = pollfd(fd: 1, events: 0, revents: 0)
            while poll(&output, 1, -1) < 0, errno == EINTR {}
            if output.revents & Int16(POLLERR) != 0 { _exit(ExitStatus.ok.rawValue) }
        }
    }

    private static func use(_ body: (inout LineWriter) throws(LineWriter.Problem) -> Void) {
        standardOutput.withLock { writer in
            do throws(LineWriter.Problem) { try body(&writer) } catch { fail(error) }
        }
    }

    static let isTerminal = isatty(1) == 1

    /// How changed words are marked: in colours on a terminal that has them, unless `NO_COLOR` is set.
    static let marks: ChangeMarks =
        isTerminal && getenv("TERM").map { String(cString: $0) } != "dumb" && !Terminal.colorsAreRefused
        ? .colored : .plain

    /// The width of the terminal on standard output; nil if there is none.
    static var columns: Int? {
        var size = winsize()
        return ioctl(1, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : nil
    }

    /// Prints rows whose cells are separated by tabs; in columns on a terminal.
    static func table(_ rows: [Printable]) {
        let cells = rows.map { $0.text.split(separator: "\t", omittingEmptySubsequences: false).map(String.init) }
        var widths: [Int] = []
        for row in cells {
            for (column, cell) in row.enumerated() {
                if column == widths.count { widths.append(0) }
                widths[column] = max(widths[column], Columns.width(of: cell))
            }
        }
        together {
            for (row, cells) in zip(rows, cells) {
                var line: Printable = isTerminal ? "" : row
                for (column, cell) in cells.enumerated() where isTerminal {
                    line.append(cell)
                    let gap = column + 1 < cells.count ? widths[column] + 2 - Columns.width(of: cell) : 0
                    line.append(String(repeating: " ", count: gap))
                }
                self.line(line)
            }
        }
    }

    /// Returns a text of ASCII characters with spaces up to a width.
    static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.utf8.count))
    }

    static func json(_ value: JSONValue) {
        data(value.line + "\n")
    }

    /// Writes the lines of `body` in large pieces; on a terminal, line by line.
    static func together<Result>(_ body: () throws -> Result) rethrows -> Result {
        use { $0.begin() }
        defer { use { writer throws(LineWriter.Problem) in try writer.end() } }
        return try body()
    }

    static func message(_ text: Printable) {
        write(text.text + "\n")
    }

    /// Prints a line that the next one overwrites, if standard error is a terminal.
    static func progress(_ text: Printable) {
        guard isatty(stderrDescriptor) == 1 else { return }
        write((clear + text).text)
    }

    /// Erases a line of progress.
    static var clear: Printable { isatty(stderrDescriptor) == 1 ? "\r\u{1B}[K" : "" }

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
        let outcome = outcome.withLock(\.self).map { ". Yet it is done: " + $0 }
        message("hand: cannot write to standard output: \(error)" + (outcome ?? ""))
        Glibc.exit(ExitStatus.error.rawValue)
    }
}
