import Foundation
import Glibc
import HandTestSupport

/// What becomes of a file behind a program's back; and how it is undone.
enum FileEvent: String, CaseIterable {
    case removed, emptied, overwritten, replacedByFolder, replacedByPipe, replacedByLink
    case readOnly, unreadable
    /// It belongs to root now, who alone may read it.
    case foreign

    /// Whether the file stays the same one.
    var isOfRights: Bool { [.readOnly, .unreadable, .foreign].contains(self) }

    /// Has it happen. Returns what undoes it.
    func strike(_ path: String) throws -> () throws -> Void {
        var facts = stat()
        guard lstat(path, &facts) == 0 else { throw POSIXError(.ENOENT) }
        if isOfRights {
            let (owner, group, mode) = (facts.st_uid, facts.st_gid, facts.st_mode & 0o7777)
            let fresh = self == .readOnly ? mode & 0o555 : self == .unreadable ? 0 : 0o600
            guard chmod(path, fresh) == 0, self != .foreign || chown(path, 0, 0) == 0 else { throw POSIXError(.EPERM) }
            return {
                guard chown(path, owner, group) == 0, chmod(path, mode) == 0 else { throw POSIXError(.EPERM) }
            }
        }
        let aside = path + ".aside"
        try FileManager.default.moveItem(atPath: path, toPath: aside)
        let isMade =
            switch self {
            case .emptied: FileManager.default.createFile(atPath: path, contents: nil)
            case .overwritten: FileManager.default.createFile(atPath: path, contents: Data("nonsense\n".utf8))
            case .replacedByFolder: mkdir(path, 0o755) == 0
            case .replacedByPipe: mkfifo(path, 0o600) == 0
            case .replacedByLink: symlink("/nonexistent/file", path) == 0
            case .removed, .readOnly, .unreadable, .foreign: true
            }
        guard isMade, self == .removed || lchown(path, facts.st_uid, facts.st_gid) == 0 else {
            throw POSIXError(.EPERM)
        }
        return {
            try? FileManager.default.removeItem(atPath: path)
            try FileManager.default.moveItem(atPath: aside, toPath: path)
        }
    }
}

/// Somebody else than the one who runs the tests, as whom programs can be run where that is root: nothing is forbidden to root.
enum Stranger {
    static let number: uid_t = 4_711

    static let launcher = [
        "/usr/bin/setpriv", "--reuid=\(number)", "--regid=\(number)", "--clear-groups",
    ]

    /// Whether the system lets this process do so, and them run the program.
    static let isThere: Bool = {
        guard geteuid() == 0 else { return false }
        let command = launcher.dropFirst() + [Binary.path, "--version"]
        return (try? Binary.run(Array(command), program: launcher[0]).status) == 0
    }()

    /// Whether modes of files say what the programs may do that are run.
    static let isHeldToModes = geteuid() != 0 || isThere
}
