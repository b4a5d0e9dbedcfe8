import Glibc

/// Reads standard input.
enum StandardInput {
    /// All of standard input.
    ///
    /// - Throws: `Failure` if it is not UTF-8: replacement characters would put a different text into a list.
    static func text() throws -> String {
        if let text = String(validating: bytes(), as: UTF8.self) { return text }
        throw Failure(.error, "standard input is not UTF-8")
    }

    /// All of standard input, up to its end or an error.
    static func bytes() -> [UInt8] {
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(0, &part, part.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return bytes }
            bytes += part[..<count]
        }
    }
}
