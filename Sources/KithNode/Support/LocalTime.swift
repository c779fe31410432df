#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What this machine's clock shows.
enum LocalTime {
    /// Minutes that it is ahead of UTC at a moment, in milliseconds since 1970.
    static func offsetMinutes(at milliseconds: Int64) -> Int {
        var seconds = time_t(milliseconds / 1_000)
        var parts = tm()
        return localtime_r(&seconds, &parts) == nil ? 0 : parts.tm_gmtoff / 60
    }
}
