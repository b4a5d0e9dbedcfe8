import Disk
import Glibc

/// Writes lines to a descriptor, many lines per system call.
struct LineWriter {
    /// Why the system refused to write.
    struct Problem: Error, CustomStringConvertible {
        let code: Int32
        var description: String { String(cString: strerror(code)).lowercased() }
    }

    private static let pieceBytes = 64 << 10

    let descriptor: Int32
    let isTerminal: Bool
    private var bytes: [UInt8] = []
    /// The number of callers that want their lines collected.
    private var collectors = 0

    init(descriptor: Int32) {
        self.descriptor = descriptor
        isTerminal = isatty(descriptor) == 1
    }

    /// Whether to flush after each line.
    var isLive: Bool { isTerminal || collectors == 0 }

    mutating func begin() { collectors += 1 }

    mutating func end() throws(Problem) {
        collectors -= 1
        if collectors == 0 { try flush() }
    }

    mutating func write(_ text: String) throws(Problem) {
        bytes.append(contentsOf: text.utf8)
        if bytes.count >= Self.pieceBytes { try flush() }
    }

    mutating func flush() throws(Problem) {
        let reason = WholeWrite.write(bytes, to: descriptor).reason
        bytes.removeAll(keepingCapacity: true)
        if let reason { throw Problem(code: reason) }
    }
}
