/// A reading of a clock that only goes forward, in milliseconds from a start of its own; given to the state machines,
/// never asked for by them.
package struct Instant: Hashable, Comparable, Sendable {
    package let milliseconds: UInt64

    package init(milliseconds: UInt64) { self.milliseconds = milliseconds }

    package func advanced(byMilliseconds more: UInt64) -> Instant { Instant(milliseconds: milliseconds &+ more) }

    /// The time since an earlier reading; 0 if that one is later.
    package func milliseconds(since earlier: Instant) -> UInt64 {
        milliseconds > earlier.milliseconds ? milliseconds - earlier.milliseconds : 0
    }

    package static func < (left: Self, right: Self) -> Bool { left.milliseconds < right.milliseconds }
}
