/// A JSON number, kept as its canonical text: integers of any size exactly, all others as the shortest text of a double.
package struct JSONNumber: Hashable, Sendable, CustomStringConvertible {
    /// Canonical JSON.
    package let text: String

    package init(_ integer: some FixedWidthInteger) { text = String(integer) }

    /// Nil for infinities and NaN, which JSON does not have.
    package init?(_ double: Double) {
        guard double.isFinite else { return nil }
        text = NumberText(DecimalNumber(shortest: double)).withBytes { String(decoding: $0, as: UTF8.self) }
    }

    /// - Parameter text: canonical already.
    package init(canonical text: String) { self.text = text }

    /// The value where it is an integer that fits.
    package var integer: Int64? { Int64(text) }

    /// The value where it is an integer from 0 on that fits.
    package var natural: UInt64? { UInt64(text) }

    /// The nearest double; infinite for integers beyond its range.
    package var double: Double { Double(text) ?? .nan }

    package var description: String { text }
}
