import Glibc

package enum WallClock {
    static var milliseconds: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return milliseconds(of: time)
    }

    /// Returns the milliseconds since 1970. A clock before 1970 is wrong, and counts as 1970.
    package static func milliseconds(of time: timespec) -> UInt64 {
        time.tv_sec < 0 ? 0 : UInt64(time.tv_sec) * 1_000 + UInt64(time.tv_nsec) / 1_000_000
    }
}
