/// Tells from two clocks whether the machine slept, or this process was stopped, since the last look.
///
/// Sleep shows in the clock that counts it and not in the one that does not; a stop shows in a look that comes late.
package struct WakeWatch: Sendable {
    package enum Gap: Hashable, Sendable {
        /// The machine slept for so many milliseconds.
        case slept(UInt64)
        /// The process did not run for so many milliseconds.
        case stopped(UInt64)
    }

    private let longestPauseMilliseconds: UInt64
    private var last: (monotonic: UInt64, boot: UInt64)?

    /// - Parameter longestPauseMilliseconds: looks come at least this often where nothing is wrong.
    package init(longestPauseMilliseconds: UInt64) { self.longestPauseMilliseconds = longestPauseMilliseconds }

    /// A look at both clocks, in milliseconds.
    /// - Returns: what happened since the look before, if it matters.
    package mutating func look(monotonic: UInt64, boot: UInt64) -> Gap? {
        defer { last = (monotonic, boot) }
        guard let last else { return nil }
        let ran = monotonic > last.monotonic ? monotonic - last.monotonic : 0
        let passed = boot > last.boot ? boot - last.boot : 0
        if passed > ran, passed - ran >= NodeLimits.sleepMilliseconds { return .slept(passed - ran) }
        return ran >= longestPauseMilliseconds + NodeLimits.stoppedMilliseconds ? .stopped(ran) : nil
    }
}
