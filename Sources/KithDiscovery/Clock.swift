import Glibc

/// The system's clocks in milliseconds.
enum Clock {
    /// Since 1970, for people.
    static func wall() -> UInt64 { read(CLOCK_REALTIME) }

    /// Since some moment, without the time that the machine slept.
    static func monotonic() -> UInt64 { read(CLOCK_MONOTONIC) }

    /// Since the same moment, with the time that the machine slept.
    static func boot() -> UInt64 { read(CLOCK_BOOTTIME) }

    private static func read(_ clock: clockid_t) -> UInt64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return UInt64(max(0, time.tv_sec)) * 1_000 + UInt64(time.tv_nsec) / 1_000_000
    }
}
