/// One `name=value` of a query, decoded.
package struct HTTPQueryItem: Hashable, Sendable {
    package let name: String
    /// Empty where there is no `=`.
    package let value: String

    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

/// The target of a request: a path of segments and a query.
///
/// The path is split before it is decoded, so an escaped `%2F` in a segment is part of the segment. A `+` is a plus
/// everywhere. Segments `.` and `..` are names like any other. What is decoded must be UTF-8.
package struct HTTPTarget: Hashable, Sendable {
    /// The path as it came, with the leading `/`.
    package let rawPath: String
    /// The decoded segments; none for `/`, and an empty last one where the path ends with `/`.
    package let segments: [String]
    package let query: [HTTPQueryItem]

    /// Reads the target of a request line.
    /// - Throws: `HTTPError.malformedTarget` where it does not begin with `/`, an escape is broken or the bytes are not
    ///   UTF-8.
    package init(_ text: some StringProtocol) throws(HTTPError) { try self.init(bytes: Array(text.utf8)) }

    /// The same from bytes as received.
    package init(bytes: some Collection<UInt8>) throws(HTTPError) {
        let halves = bytes.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
        guard let path = halves.first, path.first == UInt8(ascii: "/"), let rawPath = Self.text(path) else {
            throw HTTPError.malformedTarget
        }
        var segments: [String] = []
        if path.count > 1 {
            for segment in path.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
                segments.append(try Self.decode(segment))
            }
        }
        var query: [HTTPQueryItem] = []
        if halves.count == 2 {
            for item in halves[1].split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: true) {
                let parts = item.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
                query.append(
                    HTTPQueryItem(
                        name: try Self.decode(parts[0]), value: parts.count == 2 ? try Self.decode(parts[1]) : ""))
            }
        }
        self.rawPath = rawPath
        self.segments = segments
        self.query = query
    }

    /// The first value of a name in the query.
    package func value(of name: String) -> String? { query.first { $0.name.utf8.elementsEqual(name.utf8) }?.value }

    /// The text of a target: the reverse of reading it, for any segments and items.
    package static func encode(_ segments: [String], query: [HTTPQueryItem] = []) -> String {
        var bytes: [UInt8] = []
        for segment in segments {
            bytes.append(UInt8(ascii: "/"))
            escape(segment, into: &bytes)
        }
        if segments.isEmpty { bytes.append(UInt8(ascii: "/")) }
        for (index, item) in query.enumerated() {
            bytes.append(UInt8(ascii: index == 0 ? "?" : "&"))
            escape(item.name, into: &bytes)
            bytes.append(UInt8(ascii: "="))
            escape(item.value, into: &bytes)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Escapes all but RFC 3986's unreserved characters; in `.` and `..`, which clients may take for steps, the dots too.
    private static func escape(_ text: String, into bytes: inout [UInt8]) {
        let digits = Array("0123456789ABCDEF".utf8)
        let isStep = text == "." || text == ".."
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "~"):
                bytes.append(byte)
            case UInt8(ascii: ".") where !isStep: bytes.append(byte)
            default: bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
    }

    private static func decode(_ escaped: some Collection<UInt8>) throws(HTTPError) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(escaped.count)
        var index = escaped.startIndex
        while index < escaped.endIndex {
            let byte = escaped[index]
            index = escaped.index(after: index)
            if byte != UInt8(ascii: "%") {
                bytes.append(byte)
                continue
            }
            var value: UInt8 = 0
            for _ in 0..<2 {
                guard index < escaped.endIndex, let digit = hexValue(escaped[index]) else {
                    throw HTTPError.malformedTarget
                }
                value = value << 4 | digit
                index = escaped.index(after: index)
            }
            bytes.append(value)
        }
        guard let text = text(bytes) else { throw HTTPError.malformedTarget }
        return text
    }

    private static func text(_ bytes: some Collection<UInt8>) -> String? { String(validating: bytes, as: UTF8.self) }

    private static func hexValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
