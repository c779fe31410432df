/// A number in decimal: `0.DIGITS × 10^point`, with a sign. What the text of a number is read into, and what the
/// shortest text of a double is laid out from.
struct DecimalNumber {
    var isNegative = false
    /// The significant digits as one number, without zeros at its end; 0 for zero.
    var digits: UInt64 = 0
    /// How many digits that is; 0 for zero.
    var count = 0
    /// Where the decimal point stands, counted from before the first digit.
    var point = 0

    /// Most digits that `digits` holds.
    static let maximumDigits = 19

    /// Decimals of up to this many digits within the normal range are told apart by doubles, so each is itself the
    /// shortest text of its double.
    static let digitsToldApart = 15

    /// Whether the digits are those that the shortest text of its double has, without asking the double.
    var isShortest: Bool { count <= Self.digitsToldApart && point > -300 && point < 300 }

    /// Powers of ten that are doubles exactly.
    private static let exactPowers: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20, 1e21, 1e22,
    ]

    /// The nearest double where one rounding finds it: both the digits and the power of ten are doubles exactly.
    var exactDouble: Double? {
        let exponent = point - count
        guard digits <= 1 << 53, exponent >= -22, exponent <= 22 else { return nil }
        let magnitude =
            exponent < 0 ? Double(digits) / Self.exactPowers[-exponent] : Double(digits) * Self.exactPowers[exponent]
        return isNegative ? -magnitude : magnitude
    }

    /// Reads the digits that the standard library prints for a finite double, which are the fewest that read back as
    /// the same double, and of these the nearest.
    init(shortest double: Double) {
        isNegative = double < 0
        guard double != 0 else { return }
        var text = double.description
        text.withUTF8 { read($0.baseAddress!, count: $0.count) }
    }

    init() {}

    /// Reads `[-]digits[.digits][e[+-]digits]`, at most `maximumDigits` significant.
    private mutating func read(_ text: UnsafePointer<UInt8>, count length: Int) {
        var digits = DigitCollector()
        var index = text[0] == .minus ? 1 : 0
        while index < length, !text[index].isExponentMark {
            if text[index] == .point { digits.pointFound() } else { digits.take(text[index] - .zero) }
            index += 1
        }
        var exponent = 0
        if index < length {
            index += 1
            let isNegative = text[index] == .minus
            if !text[index].isDigit { index += 1 }
            while index < length {
                exponent = exponent * 10 + Int(text[index] - .zero)
                index += 1
            }
            if isNegative { exponent = -exponent }
        }
        digits.finish(exponent: exponent, into: &self)
    }
}

/// Takes the digits of a number one by one and keeps what counts: the first significant ones, and where the point is.
struct DigitCollector {
    private var digits: UInt64 = 0
    private var count = 0
    /// Zeros after the digits kept, which count only when another digit follows.
    private var zeros = 0
    private var point = 0
    private var isAfterPoint = false
    /// Whether there were more significant digits than `DecimalNumber` holds.
    private(set) var isCut = false

    @inline(__always)
    mutating func pointFound() { isAfterPoint = true }

    @inline(__always)
    mutating func take(_ digit: UInt8) {
        if digit == 0 {
            // Before the first digit that counts only zeros behind the point move it.
            if count == 0 {
                if isAfterPoint { point -= 1 }
                return
            }
            zeros += 1
            if !isAfterPoint { point += 1 }
            return
        }
        if !isAfterPoint { point += 1 }
        if count + zeros + 1 > DecimalNumber.maximumDigits {
            isCut = true
            return
        }
        while zeros > 0 {
            digits *= 10
            count += 1
            zeros -= 1
        }
        digits = digits * 10 + UInt64(digit)
        count += 1
    }

    /// Sets all but the sign.
    func finish(exponent: Int, into number: inout DecimalNumber) {
        number.digits = digits
        number.count = count
        number.point = count == 0 ? 0 : point + exponent
    }
}

/// The canonical text of a number that is no integer: the layout of ECMAScript's Number::toString, as in RFC 8785.
struct NumberText {
    /// Sign, 17 digits, point, zeros and exponent take 25 bytes at most.
    private var storage: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    private(set) var count = 0

    /// - Parameter number: at most 17 digits.
    init(_ number: DecimalNumber) {
        guard number.count > 0 else {
            append(.zero)
            return
        }
        if number.isNegative { append(.minus) }
        let (count, point) = (number.count, number.point)
        if point >= count && point <= 21 {
            append(digits: number.digits, count: count)
            append(zeros: point - count)
        } else if point > 0 && point < count {
            append(digits: number.digits, count: count, pointAfter: point)
        } else if point > -6 && point <= 0 {
            append(.zero)
            append(.point)
            append(zeros: -point)
            append(digits: number.digits, count: count)
        } else {
            append(digits: number.digits, count: count, pointAfter: 1)
            append(UInt8(ascii: "e"))
            append(point > 0 ? UInt8(ascii: "+") : .minus)
            let exponent = UInt64(abs(point - 1))
            append(digits: exponent, count: exponent < 10 ? 1 : exponent < 100 ? 2 : 3)
        }
    }

    func withBytes<Result, Failure: Error>(
        _ body: (UnsafeBufferPointer<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var copy = storage
        return try withUnsafePointer(to: &copy) { pointer throws(Failure) in
            try body(
                UnsafeBufferPointer(
                    start: UnsafeRawPointer(pointer).assumingMemoryBound(to: UInt8.self), count: count))
        }
    }

    private mutating func append(_ byte: UInt8) {
        precondition(count < 32, "the text of a number has at most 32 bytes")
        let index = count
        withUnsafeMutableBytes(of: &storage) { $0[index] = byte }
        count += 1
    }

    private mutating func append(zeros: Int) {
        for _ in 0..<zeros { append(.zero) }
    }

    /// Appends `count` digits of a number, the highest first, with a point after the first `pointAfter` of them unless
    /// none follow.
    private mutating func append(digits: UInt64, count digitCount: Int, pointAfter: Int? = nil) {
        let hasPoint = pointAfter.map { $0 < digitCount } ?? false
        let length = digitCount + (hasPoint ? 1 : 0)
        precondition(count + length <= 32, "the text of a number has at most 32 bytes")
        var rest = digits
        let start = count
        withUnsafeMutableBytes(of: &storage) { bytes in
            var index = start + length - 1
            let pointIndex = hasPoint ? start + pointAfter! : -1
            while index >= start {
                if index == pointIndex {
                    bytes[index] = .point
                } else {
                    bytes[index] = .zero + UInt8(truncatingIfNeeded: rest % 10)
                    rest /= 10
                }
                index -= 1
            }
        }
        count += length
    }
}
