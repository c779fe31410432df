/// Writes one JSON object, member by member in the order given, for answers whose names are fixed. Documents and what
/// comes from outside pass as bytes.
package struct JSONObjectWriter {
    private var members: [UInt8] = []

    package init() {}

    /// The object written so far.
    package var bytes: [UInt8] { [UInt8(ascii: "{")] + members + [UInt8(ascii: "}")] }

    /// Adds a string, or `null`.
    package mutating func add(_ name: String, _ value: String?) {
        key(name)
        if let value { Self.append(value, to: &members) } else { null() }
    }

    /// Adds an integer, or `null`.
    package mutating func add(_ name: String, _ value: (some FixedWidthInteger)?) {
        key(name)
        if let value { members += String(value).utf8 } else { null() }
    }

    package mutating func add(_ name: String, _ value: Bool?) {
        key(name)
        if let value { members += (value ? "true" : "false").utf8 } else { null() }
    }

    /// Adds a time as RFC 3339 in UTC, or `null`.
    package mutating func add(_ name: String, time milliseconds: Int64?) {
        add(name, milliseconds.map { Timestamp.text(ofMilliseconds: $0) })
    }

    /// Adds a value that is JSON already, or `null`.
    package mutating func add(_ name: String, json: [UInt8]?) {
        key(name)
        if let json { members += json } else { null() }
    }

    /// Adds an array of values that are JSON already.
    package mutating func add(_ name: String, elements: [[UInt8]]) { add(name, json: Self.array(elements)) }

    package mutating func add(_ name: String, strings: [String]) {
        add(name, elements: strings.map { Self.string($0) })
    }

    private mutating func key(_ name: String) {
        if !members.isEmpty { members.append(UInt8(ascii: ",")) }
        Self.append(name, to: &members)
        members.append(UInt8(ascii: ":"))
    }

    private mutating func null() { members += "null".utf8 }

    /// An array of values that are JSON already.
    package static func array(_ elements: [[UInt8]]) -> [UInt8] {
        var bytes: [UInt8] = [UInt8(ascii: "[")]
        for (index, element) in elements.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes += element
        }
        bytes.append(UInt8(ascii: "]"))
        return bytes
    }

    /// A string as JSON.
    package static func string(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        append(text, to: &bytes)
        return bytes
    }

    private static func append(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case UInt8(ascii: "\n"): bytes += "\\n".utf8
            case UInt8(ascii: "\t"): bytes += "\\t".utf8
            case UInt8(ascii: "\r"): bytes += "\\r".utf8
            case 0..<0x20:
                let digits = Array("0123456789abcdef".utf8)
                bytes += "\\u00".utf8
                bytes += [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
