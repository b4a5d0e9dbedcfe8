internal import CLibuv

/// An error of libuv or of the operating system.
package struct UVError: Error, Hashable, Sendable, CustomStringConvertible {
    /// libuv's code: a negative number, on Unix mostly a negated `errno`.
    package let code: Int32

    package init(code: Int32) {
        self.code = code
    }

    /// The symbol of the code, for example `ECONNREFUSED`.
    package var name: String {
        // The variants without `_r` leak memory for unknown codes.
        text { uv_err_name_r(code, $0, $1) }
    }

    /// libuv's text for people, for example `connection refused`.
    package var description: String {
        text { uv_strerror_r(code, $0, $1) }
    }

    private func text(_ write: (UnsafeMutablePointer<CChar>?, Int) -> UnsafeMutablePointer<CChar>?) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
            guard let text = write(buffer.baseAddress, buffer.count) else { return "" }
            return String(cString: text)
        }
    }
}

extension UVError {
    /// Another process listens on that address (`EADDRINUSE`).
    package static let addressInUse = UVError(UV_EADDRINUSE)
    /// This machine does not have that address (`EADDRNOTAVAIL`).
    package static let addressNotAvailable = UVError(UV_EADDRNOTAVAIL)
    package static let permissionDenied = UVError(UV_EACCES)
    /// The descriptor is not open, or its device reports an error (`EBADF`).
    package static let badDescriptor = UVError(UV_EBADF)
    /// The peer does not read any more (`EPIPE`).
    package static let brokenPipe = UVError(UV_EPIPE)
    /// This side canceled the operation (`ECANCELED`).
    package static let canceled = UVError(UV_ECANCELED)
    /// Nobody listens on that address (`ECONNREFUSED`).
    package static let connectionRefused = UVError(UV_ECONNREFUSED)
    /// The peer reset the connection (`ECONNRESET`).
    package static let connectionReset = UVError(UV_ECONNRESET)
    package static let invalidArgument = UVError(UV_EINVAL)
    /// A path is too long, for example longer than 107 bytes for a Unix socket (`ENAMETOOLONG`).
    package static let nameTooLong = UVError(UV_ENAMETOOLONG)
    package static let noSuchFile = UVError(UV_ENOENT)
    /// The file is not a socket (`ENOTSOCK`).
    package static let notASocket = UVError(UV_ENOTSOCK)
    package static let notConnected = UVError(UV_ENOTCONN)
    /// The other side did not answer (`ETIMEDOUT`).
    package static let timedOut = UVError(UV_ETIMEDOUT)
    /// The process has reached its limit of open descriptors (`EMFILE`).
    package static let tooManyOpenFiles = UVError(UV_EMFILE)
}

extension UVError {
    init(_ number: uv_errno_t) {
        self.init(code: number.rawValue)
    }

    /// The error of a plain system call that has just failed with `errno`.
    init(errno: Int32) {
        self.init(code: uv_translate_sys_error(errno))
    }

    static func check(_ result: Int32) throws(UVError) {
        if result < 0 { throw UVError(code: result) }
    }
}
