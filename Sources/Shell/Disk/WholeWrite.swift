import Glibc

package enum WholeWrite {
    /// Writes all bytes, and waits if another program has made the descriptor non-blocking.
    ///
    /// - Returns: how many bytes were written, and the system's reason (`errno`) if these are not all.
    package static func write(_ bytes: [UInt8], to descriptor: Int32) -> (count: Int, reason: Int32?) {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress?.advanced(by: done), bytes.count - done)
            }
            let code = errno
            if count >= 0 {
                done += count
            } else if code == EAGAIN {
                var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&ready, 1, -1)
            } else if code != EINTR {
                return (done, code)
            }
        }
        return (done, nil)
    }
}
