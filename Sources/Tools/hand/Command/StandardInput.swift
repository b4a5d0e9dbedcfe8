import Glibc
import HandFormats

enum StandardInput {
    /// All of standard input, without the byte order mark of some editors; lines end with LF.
    ///
    /// - Throws: `Failure` if the input is not UTF-8: replacement characters would put a different text into a list.
    static func text() throws -> String {
        let bytes = try InputFile.bytes(of: "-")
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = bytes.starts(with: mark) ? bytes[mark.count...] : bytes[...]
        if let text = String(validating: text, as: UTF8.self) { return text.replacing("\r\n", with: "\n") }
        throw Failure(.error, "standard input is not UTF-8")
    }
}

/// Reads whole files, pipes and devices.
enum InputFile {
    /// The contents of a file, once in memory; `-` is standard input. Waits for the writer of a pipe.
    static func bytes(of name: String) throws -> [UInt8] {
        let descriptor = name == "-" ? 0 : open(name, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(name) }
        defer { if descriptor > 0 { close(descriptor) } }
        var (bytes, facts) = ([UInt8](), stat())
        // Without the reserved capacity, the array would be copied as it grows.
        if fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG {
            bytes.reserveCapacity(Int(facts.st_size))
        }
        var part = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(descriptor, &part, part.count)
            if count == 0 { return bytes }
            if count > 0 {
                bytes += part[..<count]
            } else if errno == EAGAIN {
                // Another program has made the descriptor non-blocking.
                var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                poll(&wanted, 1, -1)
            } else if errno != EINTR {
                throw failure(name)
            }
        }
    }

    private static func failure(_ name: String) -> Failure {
        let (code, file) = (errno, name == "-" ? "standard input" : Printable.clean(name))
        let reason = code == ENOENT ? "no such file" : String(cString: strerror(code)).lowercased()
        return Failure(code == ENOENT ? .notFound : .error, "cannot read \(file): \(reason)")
    }
}
