/// Pauses that double from the first to the longest, each drawn from its upper half so that machines that lost the same
/// thing at the same moment do not come back together. Randomness is the caller's.
package struct BackOff: Hashable, Sendable {
    package let initialMilliseconds: UInt64
    package let maximumMilliseconds: UInt64
    /// Failures in a row.
    package private(set) var failures = 0

    package init(initialMilliseconds: UInt64, maximumMilliseconds: UInt64) {
        self.initialMilliseconds = max(1, initialMilliseconds)
        self.maximumMilliseconds = max(self.initialMilliseconds, maximumMilliseconds)
    }

    /// Counts a failure and returns how long to wait: between half of the doubled pause and the whole of it.
    package mutating func next(using random: inout some RandomNumberGenerator) -> UInt64 {
        var pause = initialMilliseconds
        var step = 0
        while step < failures, pause < maximumMilliseconds {
            pause *= 2
            step += 1
        }
        pause = min(pause, maximumMilliseconds)
        failures += 1
        let half = pause / 2
        return half + random.next().multipliedFullWidth(by: pause - half + 1).high
    }

    /// Forgets the failures.
    package mutating func reset() { failures = 0 }
}
