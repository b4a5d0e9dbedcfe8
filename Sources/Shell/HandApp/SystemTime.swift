internal import Glibc
import HandFormats

extension LocalTime {
    /// How many seconds this machine's time zone is ahead of UTC at a time, which is in seconds since 1970. Uses the
    /// system's time zones, because the package contains none.
    package static func offset(at time: Int) -> Int {
        var (time, parts) = (time, tm())
        tzset()
        return localtime_r(&time, &parts) == nil ? 0 : parts.tm_gmtoff
    }
}
