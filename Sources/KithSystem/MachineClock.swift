#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The clocks of a machine: read by the shell alone and handed to the state machines.
package protocol MachineClock: Sendable {
    /// A clock that only goes forward, in milliseconds from a start of its own. It stands while the machine sleeps.
    var monotonicMilliseconds: UInt64 { get }

    /// A clock that goes on while the machine sleeps, in milliseconds.
    var bootMilliseconds: UInt64 { get }

    /// The wall clock in milliseconds since 1970. Whoever may set it may set it to anything.
    var wallMilliseconds: Int64 { get }
}

/// The clocks of this machine.
package struct SystemClock: MachineClock {
    package init() {}

    package var monotonicMilliseconds: UInt64 { UInt64(Self.read(CLOCK_MONOTONIC)) }

    package var bootMilliseconds: UInt64 { UInt64(Self.read(CLOCK_BOOTTIME)) }

    package var wallMilliseconds: Int64 { Self.read(CLOCK_REALTIME) }

    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }
}

extension MachineClock where Self == SystemClock {
    /// The clocks of this machine.
    package static var system: SystemClock { SystemClock() }
}

/// A wall clock that does not jump while the node runs: what it read at first and the time that has passed since, sleep of
/// the machine included. What is to last fifteen minutes does so though the machine's clock is set meanwhile.
package struct SteadyClock: Sendable {
    private let clock: any MachineClock
    private let difference: Int64

    package init(_ clock: any MachineClock) {
        self.clock = clock
        difference = clock.wallMilliseconds - Int64(clock.bootMilliseconds)
    }

    /// Milliseconds since 1970, as the wall clock had it when this was made.
    package func read() -> Int64 { Int64(clock.bootMilliseconds) + difference }
}
