import Glibc
import KithReplication

/// The machine's clocks: read by the shell alone and handed to the state machines.
package enum SystemClock {
    /// A clock that only goes forward.
    package static var now: Instant { Instant(milliseconds: monotonicMilliseconds) }

    /// The reading of `now` as a number.
    package static var monotonicMilliseconds: UInt64 { UInt64(read(CLOCK_MONOTONIC)) }

    /// A clock that goes on while the machine sleeps, in milliseconds.
    package static var bootMilliseconds: UInt64 { UInt64(read(CLOCK_BOOTTIME)) }

    /// The wall clock in milliseconds since 1970.
    package static var wallMilliseconds: Int64 { read(CLOCK_REALTIME) }

    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }
}

/// A wall clock that does not jump while the node runs: what it read at first and the time that has passed since, sleep of
/// the machine included. What is to last fifteen minutes does so though the machine's clock is set meanwhile.
struct SteadyClock: Sendable {
    private let difference = SystemClock.wallMilliseconds - Self.passed

    /// Milliseconds since 1970, as the wall clock had it when this was made.
    func read() -> Int64 { Self.passed + difference }

    private static var passed: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }
}
