import Glibc

/// Distinguishes a file from another file of the same name, and one state of a file from the next.
package struct FileState: Equatable, Sendable {
    package let device: UInt64
    package let inode: UInt64
    package let size: Int
    /// The time of the last write, in nanoseconds.
    package let modified: Int64
    /// Whether it is a regular file or a device such as /dev/null, rather than a folder, pipe or socket.
    let isFile: Bool
    let isPipe: Bool

    fileprivate init(_ facts: stat) {
        device = UInt64(facts.st_dev)
        inode = UInt64(facts.st_ino)
        size = Int(facts.st_size)
        let kind = facts.st_mode & S_IFMT
        isFile = kind == S_IFREG || kind == S_IFCHR
        isPipe = kind == S_IFIFO
        modified = Int64(facts.st_mtim.tv_sec) * 1_000_000_000 + Int64(facts.st_mtim.tv_nsec)
    }

    init(_ descriptor: Int32, _ path: String) throws(FileError) {
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else { throw FileError("look at", path) }
        self.init(facts)
    }

    /// Reads the state of a file. Returns nil if the file does not exist.
    package init?(at path: String) throws(FileError) {
        var facts = stat()
        // A path that is passed as a string is copied first, which takes 600 instructions.
        if path.withCString({ stat($0, &facts) }) != 0 {
            if [ENOENT, ENOTDIR, ELOOP].contains(errno) { return nil }
            throw FileError("look at", path)
        }
        self.init(facts)
    }

    /// Returns whether it is the same file, perhaps with other contents.
    package func isSameFile(as other: FileState) -> Bool { (device, inode) == (other.device, other.inode) }
}
