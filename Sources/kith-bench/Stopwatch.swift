#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Time that only goes forward.
enum Stopwatch {
    static func seconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Time that this process has used a processor, its system calls too.
    static func processorSeconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// How many of `count` things are done in a second by work that does all of them.
    static func rate(
        of count: Int, by now: () -> Double = Stopwatch.seconds, _ work: () throws -> Void
    ) rethrows -> Double {
        let start = now()
        try work()
        return Double(count) / (now() - start)
    }
}
