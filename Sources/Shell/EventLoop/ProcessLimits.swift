internal import Glibc

/// What the system lets this process have.
package enum ProcessLimits {
    /// Raises the number of files and sockets that may be open to what the system allows; returns how many that is.
    @discardableResult
    package static func raiseOpenFiles() -> Int {
        var limit = rlimit()
        let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard getrlimit(files, &limit) == 0 else { return 0 }
        let before = limit.rlim_cur
        limit.rlim_cur = limit.rlim_max
        return Int(clamping: setrlimit(files, &limit) == 0 ? limit.rlim_max : before)
    }
}
