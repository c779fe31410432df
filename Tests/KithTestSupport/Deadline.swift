import Glibc

/// A moment on the clock that never goes back.
package struct Deadline {
    private let end: Int

    package init(seconds: Int) { end = Self.now + seconds * 1_000 }

    package init(seconds: Double) { end = Self.now + Int(seconds * 1_000) }

    /// Milliseconds left, or 0.
    package var remaining: Int32 { Int32(max(0, end - Self.now)) }

    fileprivate static var now: Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec * 1_000 + time.tv_nsec / 1_000_000
    }
}

/// Measures from a moment on the clock that never goes back.
package struct Stopwatch {
    private let start = Deadline.now

    package init() {}

    /// Seconds since it was made.
    package var seconds: Double { Double(Deadline.now - start) / 1_000 }
}
