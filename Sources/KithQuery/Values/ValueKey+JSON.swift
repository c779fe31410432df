import KithDocument

// The key of a value that stands as canonical JSON, written without making the value: what SQLite asks for with every row.
extension ValueKey {
    /// Bytes that the key of so many bytes of JSON takes at most.
    package static func capacity(ofJSON count: Int) -> Int { 3 * count + 8 }

    /// Writes the key of a canonical value. Of bytes that are not canonical it writes something.
    /// - Parameter output: room for `capacity` bytes.
    /// - Returns: the bytes written.
    /// - Complexity: O(n).
    package static func write(
        json: UnsafeRawBufferPointer, to output: UnsafeMutablePointer<UInt8>
    ) -> Int {
        guard let base = json.baseAddress else { return 0 }
        var writer = KeyWriter(
            text: base.assumingMemoryBound(to: UInt8.self), end: json.count, output: output)
        writer.write()
        return writer.count
    }

    /// The key of a canonical value.
    package init(json: [UInt8]) {
        bytes = json.withUnsafeBytes { json in
            [UInt8](unsafeUninitializedCapacity: Self.capacity(ofJSON: json.count)) { buffer, count in
                count = Self.write(json: json, to: buffer.baseAddress!)
            }
        }
    }
}

/// Goes over the tokens of canonical JSON: what each of them becomes depends on nothing before it.
private struct KeyWriter {
    let text: UnsafePointer<UInt8>
    let end: Int
    let output: UnsafeMutablePointer<UInt8>
    var at = 0
    var count = 0

    private mutating func put(_ byte: UInt8) {
        output[count] = byte
        count += 1
    }

    mutating func write() {
        while at < end {
            let byte = text[at]
            switch byte {
            case UInt8(ascii: "\""): writeString()
            case UInt8(ascii: "{"): take(ValueKey.Tag.object, 1)
            case UInt8(ascii: "["): take(ValueKey.Tag.array, 1)
            case UInt8(ascii: "}"), UInt8(ascii: "]"): take(ValueKey.Tag.end, 1)
            case UInt8(ascii: "n"): take(ValueKey.Tag.null, 4)
            case UInt8(ascii: "t"): take(ValueKey.Tag.yes, 4)
            case UInt8(ascii: "f"): take(ValueKey.Tag.no, 5)
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): writeNumber()
            default: at += 1
            }
        }
    }

    private mutating func take(_ tag: UInt8, _ length: Int) {
        put(tag)
        at += length
    }

    // Strings.

    private mutating func writeString() {
        put(ValueKey.Tag.string)
        at += 1
        while at < end {
            let byte = text[at]
            at += 1
            if byte == UInt8(ascii: "\"") { break }
            if byte == UInt8(ascii: "\\") { writeEscaped() } else { put(byte) }
        }
        put(ValueKey.Tag.end)
    }

    /// What stands after a backslash.
    private mutating func writeEscaped() {
        guard at < end else { return }
        let byte = text[at]
        at += 1
        switch byte {
        case UInt8(ascii: "b"): put(0x08)
        case UInt8(ascii: "t"): put(0x09)
        case UInt8(ascii: "n"): put(0x0A)
        case UInt8(ascii: "f"): put(0x0C)
        case UInt8(ascii: "r"): put(0x0D)
        case UInt8(ascii: "u"): writeControl()
        default: put(byte)
        }
    }

    /// Canonical JSON has no other escapes with numbers than those of control characters.
    private mutating func writeControl() {
        var value: UInt32 = 0
        for _ in 0..<4 where at < end {
            let digit = text[at]
            value = value << 4 | UInt32(digit < 0x3A ? digit & 0x0F : (digit & 0x0F) + 9)
            at += 1
        }
        put(UInt8(truncatingIfNeeded: value))
        if value & 0xFF == 0 { put(ValueKey.Tag.escaped) }
    }

    // Numbers.

    private mutating func writeNumber() {
        let isNegative = text[at] == UInt8(ascii: "-")
        if isNegative { at += 1 }
        let start = at
        var (dot, mantissaEnd) = (-1, -1)
        scan: while at < end {
            switch text[at] {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"): break
            case UInt8(ascii: "."): if dot < 0 { dot = at }
            case UInt8(ascii: "e"), UInt8(ascii: "E"): if mantissaEnd < 0 { mantissaEnd = at }
            default: break scan
            }
            at += 1
        }
        let exponent = mantissaEnd < 0 ? 0 : Self.exponent(text + mantissaEnd + 1, at - mantissaEnd - 1)
        if mantissaEnd < 0 { mantissaEnd = at }
        let whole = (dot < 0 ? mantissaEnd : dot) - start
        let total = mantissaEnd - start - (dot < 0 ? 0 : 1)
        let digits = Digits(text: text + start, whole: whole)
        var (first, last) = (0, total)
        while first < total, digits[first] == 0 { first += 1 }
        while last > first, digits[last - 1] == 0 { last -= 1 }
        guard first < last else { return put(ValueKey.Tag.zero) }
        put(isNegative ? ValueKey.Tag.negative : ValueKey.Tag.positive)
        let beginning = count
        writePoint(whole - first + exponent)
        var index = first
        while index < last {
            let ones = index + 1 < last ? digits[index + 1] : 0
            put(2 &* (10 &* digits[index] &+ ones) &+ (index + 2 >= last ? 0 : 1))
            index += 2
        }
        if isNegative { for index in beginning..<count { output[index] = ~output[index] } }
    }

    private struct Digits {
        let text: UnsafePointer<UInt8>
        /// How many stand before the point.
        let whole: Int

        subscript(_ index: Int) -> UInt8 { text[index < whole ? index : index + 1] & 0x0F }
    }

    private static func exponent(_ text: UnsafePointer<UInt8>, _ count: Int) -> Int {
        var value = 0
        for index in 0..<max(0, count) where text[index] >= UInt8(ascii: "0") {
            value = min(value * 10 + Int(text[index] & 0x0F), 1 << 24)
        }
        return count > 0 && text[0] == UInt8(ascii: "-") ? -value : value
    }

    private mutating func writePoint(_ point: Int) {
        ValueKey.withPoint(point) { put($0) }
    }
}
