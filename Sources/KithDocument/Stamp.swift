/// A 64-bit id of a writer: the id of the timeline that wrote, or a fresh one (docs/merge.md).
package typealias WriterID = UInt64

/// When and by whom a field was last written: the higher stamp of two shows.
package struct Stamp: Hashable, Comparable, Sendable {
    /// 48 bits of milliseconds since 1970 and 16 bits of counter; 0 only in initial revisions and foreign ones without
    /// a known ancestor.
    package let time: UInt64
    package let writer: WriterID

    package init(time: UInt64, writer: WriterID) {
        self.time = time
        self.writer = writer
    }

    /// The stamp of initial data, which any edit outranks.
    package static let zero = Stamp(time: 0, writer: 0)

    /// 4000-01-01T00:00:00Z: a time above it is malformed and refused from anyone, and an edit that would reach it
    /// fails.
    package static let maximumTime: UInt64 = 64_060_588_800_000 << 16

    /// The time of a clock reading, in milliseconds since 1970; readings outside the range are moved to its ends.
    package static func time(ofMilliseconds milliseconds: Int64) -> UInt64 {
        milliseconds <= 0 ? 0 : min(UInt64(milliseconds), maximumTime >> 16) << 16
    }

    /// The clock reading a time was made from, in milliseconds since 1970.
    package static func milliseconds(ofTime time: UInt64) -> Int64 { Int64(time >> 16) }

    package static func < (left: Self, right: Self) -> Bool {
        left.time != right.time ? left.time < right.time : left.writer < right.writer
    }
}
