/// A source of numbers that is the same on every machine and toolchain for one seed (SplitMix64), with draws of its own:
/// the standard library may change how it picks and shuffles, and saved seeds must not change meaning.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number from 0 to `bound - 1`.
    package mutating func below(_ bound: Int) -> Int {
        precondition(bound > 0, "a draw needs something to draw from")
        return Int(next().multipliedFullWidth(by: UInt64(bound)).high)
    }

    /// A number within the range.
    package mutating func within(_ range: ClosedRange<Int>) -> Int { range.lowerBound + below(range.count) }

    /// True `numerator` times in `denominator`.
    package mutating func chance(_ numerator: Int, in denominator: Int) -> Bool { below(denominator) < numerator }

    /// One element; the collection must not be empty.
    package mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

    /// The elements in a random order.
    package mutating func shuffle<Element>(_ elements: [Element]) -> [Element] {
        var shuffled = elements
        for index in stride(from: shuffled.count - 1, through: 1, by: -1) { shuffled.swapAt(index, below(index + 1)) }
        return shuffled
    }

    /// A generator of its own for a named part, so that a draw added to one part does not move the others.
    package func forked(_ name: StaticString) -> SeededGenerator {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        name.withUTF8Buffer { for byte in $0 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 } }
        return SeededGenerator(seed: state ^ hash)
    }
}
