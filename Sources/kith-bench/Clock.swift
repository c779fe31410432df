#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Time that only goes forward.
enum Clock {
    static func seconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// How many of `count` things are done in a second by work that does all of them.
    static func rate(of count: Int, _ work: () throws -> Void) rethrows -> Double {
        let start = seconds()
        try work()
        return Double(count) / (seconds() - start)
    }
}
