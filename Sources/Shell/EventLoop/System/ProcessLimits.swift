internal import Glibc

/// The system's limits for this process.
package enum ProcessLimits {
    /// Raises the limit of open files and sockets to the system's maximum, and returns the limit.
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
