import Glibc

/// What the system refused to do with a file, for people.
public struct FileError: Error, Equatable, CustomStringConvertible {
    public let description: String
    /// `errno`.
    public let code: Int32

    init(_ what: String, _ path: String, code: Int32 = errno) {
        self.code = code
        description = "cannot \(what) \(path): \(String(cString: strerror(code)))"
    }
}
