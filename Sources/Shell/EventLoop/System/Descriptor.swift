internal import CLibuv
internal import Glibc

/// A file descriptor with one owner, closed when the owner releases it.
struct Descriptor: ~Copyable {
    let number: Int32

    /// Takes over an open descriptor.
    init(_ number: Int32) {
        self.number = number
    }

    deinit {
        close(number)
    }

    /// Gives up ownership without closing the descriptor.
    consuming func release() {
        discard self
    }

    /// Creates a stream socket that does not block and is not inherited.
    static func socket(family: Int32) throws(UVError) -> Descriptor {
        let number = Glibc.socket(family, Int32(SOCK_STREAM.rawValue) | Descriptor.flags, 0)
        try UVError.checkCall(number)
        return Descriptor(number)
    }

    static let flags = Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
}

extension UVError {
    /// Turns the -1 of a plain system call into an error. Call this directly after the system call, because of `errno`.
    static func checkCall(_ result: Int32) throws(UVError) {
        if result < 0 { throw UVError(errno: errno) }
    }
}
