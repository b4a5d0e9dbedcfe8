import Foundation
import HandFormats

/// Data goes to standard output, messages to standard error.
enum Output {
    static func line(_ text: String) {
        write(text + "\n", to: stdoutDescriptor)
    }

    static func json(_ value: JSONValue) {
        line(value.line)
    }

    static func message(_ text: String) {
        write(text + "\n", to: stderrDescriptor)
    }

    /// A line that the next one overwrites; nothing where standard error is no terminal.
    static func progress(_ text: String) {
        guard isatty(stderrDescriptor) == 1 else { return }
        write(clear + text, to: stderrDescriptor)
    }

    /// Takes back a line of progress.
    static var clear: String { isatty(stderrDescriptor) == 1 ? "\r\u{1B}[K" : "" }

    static func exit(_ status: ExitStatus) -> Never {
        Foundation.exit(status.rawValue)
    }

    private static let stdoutDescriptor: Int32 = 1
    private static let stderrDescriptor: Int32 = 2

    /// Writes all of it. A reader that went away (`hand watch | head -1`) ends the command quietly, as it does others.
    private static func write(_ text: String, to descriptor: Int32) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 {
                if errno == EINTR || errno == EAGAIN { continue }
                Foundation.exit(errno == EPIPE ? ExitStatus.ok.rawValue : ExitStatus.error.rawValue)
            }
            bytes = bytes.dropFirst(count)
        }
    }
}
