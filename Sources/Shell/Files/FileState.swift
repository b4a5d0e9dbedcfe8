import Glibc

/// What tells a file from another of its name, and one state of it from the next.
package struct FileState: Equatable, Sendable {
    package let device: UInt64
    package let inode: UInt64
    package let size: Int
    /// When it was written to last, in nanoseconds.
    package let modified: Int64
    /// Whether it is a file, or a device such as /dev/null: no folder, and nothing at whose other end somebody must be.
    let isFile: Bool

    fileprivate init(_ facts: stat) {
        device = UInt64(facts.st_dev)
        inode = UInt64(facts.st_ino)
        size = Int(facts.st_size)
        isFile = [S_IFREG, S_IFCHR].contains(facts.st_mode & S_IFMT)
        modified = Int64(facts.st_mtim.tv_sec) * 1_000_000_000 + Int64(facts.st_mtim.tv_nsec)
    }

    init(_ descriptor: Int32, _ path: String) throws(FileError) {
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else { throw FileError("look at", path) }
        self.init(facts)
    }

    /// Nil if there is no file of that name.
    package init?(at path: String) throws(FileError) {
        var facts = stat()
        if stat(path, &facts) != 0 {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw FileError("look at", path)
        }
        self.init(facts)
    }

    /// Whether it is the same file, whatever was written to it meanwhile.
    package func isSameFile(as other: FileState) -> Bool { (device, inode) == (other.device, other.inode) }
}
