#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What this process has used of its machine.
enum Usage {
    static var processorMilliseconds: Int {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return time.tv_sec * 1_000 + time.tv_nsec / 1_000_000
    }

    #if canImport(Glibc)
    private static let ownProcess = RUSAGE_SELF.rawValue
    #else
    private static let ownProcess = RUSAGE_SELF
    #endif

    /// The most memory that it had at any time.
    static var peakMemoryBytes: Int {
        var usage = rusage()
        getrusage(ownProcess, &usage)
        // Linux tells kilobytes.
        #if canImport(Glibc)
        return usage.ru_maxrss << 10
        #else
        return usage.ru_maxrss
        #endif
    }
}
