/// A reading of a clock that only moves forward, in milliseconds from a start of its own.
package struct Instant: Hashable, Comparable, Sendable {
    package let milliseconds: UInt64

    package init(milliseconds: UInt64) { self.milliseconds = milliseconds }

    /// The moment so many milliseconds later.
    package static func + (instant: Self, milliseconds: UInt64) -> Self {
        let (sum, overflow) = instant.milliseconds.addingReportingOverflow(milliseconds)
        return Instant(milliseconds: overflow ? .max : sum)
    }

    /// Milliseconds from `earlier` to this moment; 0 when it is not earlier.
    package func milliseconds(since earlier: Instant) -> UInt64 {
        milliseconds > earlier.milliseconds ? milliseconds - earlier.milliseconds : 0
    }

    package static func < (left: Self, right: Self) -> Bool { left.milliseconds < right.milliseconds }
}
