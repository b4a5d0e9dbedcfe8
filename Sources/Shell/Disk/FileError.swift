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
            case ENOENT, ENOTDIR, ELOOP, EEXIST: Self.wrongFolder(on: path, code)
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

    /// - Parameter description: the problem, with the file's path.
    package init(description: String) {
        code = EINVAL
        self.description = description
    }

    /// The folders around a file, the innermost first.
    private static func folders(around path: String) -> [String] {
        var around: [String] = []
        var folder = PrivateFile.folder(of: path)
        while around.last != folder {
            around.append(folder)
            folder = PrivateFile.folder(of: folder)
        }
        return around
    }

    /// Describes what is on the path where a folder should be: a link that leads nowhere, or a file. Nil if nothing is.
    private static func wrongFolder(on path: String, _ code: Int32) -> String? {
        var facts = stat()
        let places = [path] + folders(around: path)
        let wrong = places.last { lstat($0, &facts) == 0 && !PrivateFile.isFolder($0) }
        guard let place = wrong, lstat(place, &facts) == 0 else { return nil }
        let isLink = facts.st_mode & S_IFMT == S_IFLNK
        if place == path, code != EEXIST, !isLink { return nil }
        return isLink
            ? "\(place) is a link that leads nowhere: make its target, or remove it"
            : "\(place) is no folder: move it away"
    }

    /// Describes what denies this process a file: the first folder on the path that it may not enter, or else the file
    /// or its folder.
    private static func obstacle(to path: String) -> String? {
        let around = folders(around: path)
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
