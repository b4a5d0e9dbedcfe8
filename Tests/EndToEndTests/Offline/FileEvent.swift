import Foundation
import Glibc
import HandTestSupport

/// An event that changes a file behind a program's back, and its reversal.
enum FileEvent: String, CaseIterable {
    case removed, emptied, overwritten, replacedByFolder, replacedByPipe, replacedByLink
    case readOnly, unreadable
    /// The file now belongs to root, who alone may read it.
    case foreign

    /// Whether only the file's rights change.
    var isOfRights: Bool { [.readOnly, .unreadable, .foreign].contains(self) }

    /// Where a link in the place of a file leads: to a file that does not exist, in a folder that does not exist.
    static func missing(beside path: String) -> String { path + ".gone/file" }

    /// Carries out the event. Returns a function that reverses it.
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
            case .replacedByLink: symlink(Self.missing(beside: path), path) == 0
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

/// A user other than root, as whom programs run if the tests run as root: nothing is forbidden to root.
enum Stranger {
    static let number: uid_t = 4_711

    static let launcher = [
        "/usr/bin/setpriv", "--reuid=\(number)", "--regid=\(number)", "--clear-groups",
    ]

    /// Whether this process can run programs as that user, and that user can run the program.
    static let isThere: Bool = {
        guard geteuid() == 0 else { return false }
        let command = launcher.dropFirst() + [Binary.path, "--version"]
        return (try? Binary.run(Array(command), program: launcher[0]).status) == 0
    }()

    /// Whether the modes of files restrict the programs that the tests run.
    static let isHeldToModes = geteuid() != 0 || isThere
}
