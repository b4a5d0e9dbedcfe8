import Glibc

/// A file operation that the system refused, described for people: the reason and, if it can be found, the obstacle.
package struct FileError: Error, Equatable, CustomStringConvertible {
    package let description: String
    /// The value of `errno`.
    package let code: Int32

    package init(_ what: String, _ path: String, code: Int32 = errno) {
        self.code = code
        let reason =
            switch code {
            case EACCES, EPERM: Self.obstacle(to: path)
            case ENXIO: "It is a pipe or a socket to which nobody listens."
            default: nil as String?
            }
        description = "cannot \(what) \(path): \(String(cString: strerror(code)))" + (reason.map { ". " + $0 } ?? "")
    }

    /// - Parameter reason: the problem with a file that the system itself would accept.
    init(_ what: String, _ path: String, because reason: String) {
        code = EINVAL
        description = "cannot \(what) \(path): \(reason)"
    }

    /// Describes what denies this process a file: the first folder on the path that it may not enter, or else the file
    /// or its folder.
    private static func obstacle(to path: String) -> String? {
        var around: [String] = []
        var folder = PrivateFile.folder(of: path)
        while !around.contains(folder) {
            around.append(folder)
            folder = PrivateFile.folder(of: folder)
        }
        let closed = around.reversed().first { faccessat(AT_FDCWD, $0, X_OK, AT_EACCESS) != 0 }
        var facts = stat()
        let isOpen = stat(path, &facts) != 0 || faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS) == 0
        let culprit = closed ?? (isOpen ? around[0] : path)
        guard stat(culprit, &facts) == 0 else { return nil }
        let mode = String(facts.st_mode & 0o7777, radix: 8)
        return (culprit == path ? "It" : "The folder \(culprit)")
            + " belongs to \(user(facts.st_uid)), its mode is \(mode), and this is user \(user(geteuid())): see 'man chown', 'man chmod'."
    }

    /// Returns a user's name, or the number if there is no name.
    private static func user(_ number: uid_t) -> String {
        getpwuid(number).flatMap { $0.pointee.pw_name }.map { String(cString: $0) } ?? "\(number)"
    }
}
