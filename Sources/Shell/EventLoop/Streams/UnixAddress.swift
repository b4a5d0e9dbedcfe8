internal import Glibc

/// The path of a Unix domain socket in the form that system calls need.
struct UnixAddress {
    private var address = sockaddr_un()

    /// - Throws: `.nameTooLong` beyond 107 bytes; `.invalidArgument` for an empty path, which Linux would replace by
    ///   a name of its choice, or for a path with a zero byte.
    init(path: String) throws(UVError) {
        guard !path.isEmpty, !path.utf8.contains(0) else { throw .invalidArgument }
        guard path.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else { throw .nameTooLong }
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    }

    func withSockaddr<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafeBytes(of: address) { bytes in
            body(
                bytes.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
        }
    }
}

/// A socket file that this process has created, identified by its inode.
struct SocketFile {
    let path: String
    private let device: dev_t
    private let inode: ino_t

    /// - Throws: `.noSuchFile`; `.notASocket` if the file is something else.
    init(at path: String) throws(UVError) {
        var info = stat()
        try UVError.checkCall(lstat(path, &info))
        guard info.st_mode & S_IFMT == S_IFSOCK else { throw .notASocket }
        self.path = path
        device = info.st_dev
        inode = info.st_ino
    }

    /// Removes the file unless another file has taken its place.
    func remove() throws(UVError) {
        let current = try SocketFile(at: path)
        guard current.device == device, current.inode == inode else { throw .addressInUse }
        try UVError.checkCall(unlink(path))
    }
}
