import Glibc

/// Reads standard input.
enum StandardInput {
    /// All of standard input.
    ///
    /// - Throws: `Failure` if it is not UTF-8: replacement characters would put a different text into a list.
    static func text() throws -> String {
        if let text = String(validating: try bytes(), as: UTF8.self) { return text }
        throw Failure(.error, "standard input is not UTF-8")
    }

    /// All of standard input.
    ///
    /// - Throws: `Failure` if it cannot be read, such as a folder.
    static func bytes() throws -> [UInt8] {
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(0, &part, part.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw Failure(.error, "cannot read standard input: \(String(cString: strerror(errno)))")
            }
            if count == 0 { return bytes }
            bytes += part[..<count]
        }
    }
}
