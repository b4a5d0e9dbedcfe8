import Glibc
import HandFormats

/// Asks the user for a secret on the terminal, without echo.
enum SecretPrompt {
    /// The user is asked only once.
    static let token = Result { try ask("token: ") }

    private static func ask(_ question: String) throws -> String {
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC)
        guard terminal >= 0 else {
            throw Failure(.usage, "cannot ask for the token ('?'): there is no terminal")
        }
        defer { close(terminal) }
        var modes = termios()
        tcgetattr(terminal, &modes)
        var silent = modes
        // Signals are off, too, because a signal would end this process before the terminal is restored.
        silent.c_lflag &= ~tcflag_t(ECHO | ISIG)
        tcsetattr(terminal, TCSAFLUSH, &silent)
        defer {
            tcsetattr(terminal, TCSAFLUSH, &modes)
            _ = write(terminal, "\n", 1)
        }
        _ = write(terminal, question, question.utf8.count)
        // A terminal delivers one line at a time.
        var line = [UInt8](repeating: 0, count: 1_024)
        let count = read(terminal, &line, line.count)
        if line.prefix(max(0, count)).contains(0x03) { throw Failure(.usage, "no token was given") }
        let text = String(decoding: line.prefix(max(0, count)), as: UTF8.self)
        return String(text.trimmed(\.isWhitespace))
    }
}
