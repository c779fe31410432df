extension JSONValue: CustomStringConvertible {
    /// Reads JSON text.
    /// - Parameter limits: names that begin with `_` are as good as others here.
    /// - Throws: `DocumentError.invalidJSON` with the place.
    package init(parsing text: UnsafeRawBufferPointer, limits: JSONLimits = JSONLimits()) throws(DocumentError) {
        self.init(canonical: try CanonicalJSON.value(from: text, limits: limits))
    }

    package init(parsing text: [UInt8], limits: JSONLimits = JSONLimits()) throws(DocumentError) {
        self.init(canonical: try CanonicalJSON.value(from: text, limits: limits))
    }

    package init(parsing text: String, limits: JSONLimits = JSONLimits()) throws(DocumentError) {
        try self.init(parsing: Array(text.utf8), limits: limits)
    }

    /// Reads bytes that are canonical already, as stored documents are; others come out null.
    package init(canonical bytes: [UInt8]) {
        self =
            bytes.withUnsafeBytes { bytes in
                var reader = JSONTreeReader(bytes)
                return reader?.read()
            } ?? .null
    }

    /// - Complexity: O(n).
    package var canonicalBytes: [UInt8] {
        var output: [UInt8] = []
        write(to: &output, indentation: nil)
        return output
    }

    /// The canonical text.
    package var description: String { String(decoding: canonicalBytes, as: UTF8.self) }

    /// The text for people: one member or element a line, two spaces a level, no line break at the end.
    package var prettyText: String {
        var output: [UInt8] = []
        write(to: &output, indentation: 0)
        return String(decoding: output, as: UTF8.self)
    }

    private func write(to output: inout [UInt8], indentation: Int?) {
        switch self {
        case .null: output.append(contentsOf: "null".utf8)
        case .bool(let bool): output.append(contentsOf: (bool ? "true" : "false").utf8)
        case .number(let number): output.append(contentsOf: number.text.utf8)
        case .string(let string): output.appendJSONString(string.utf8)
        case .array(let array): Self.write(array, to: &output, indentation: indentation)
        case .object(let object): Self.write(object, to: &output, indentation: indentation)
        }
    }

    private static func write(_ array: [JSONValue], to output: inout [UInt8], indentation: Int?) {
        output.append(.openBracket)
        var isFirst = true
        for value in array {
            separate(isFirst, in: &output, indentation: indentation)
            isFirst = false
            value.write(to: &output, indentation: indentation.map { $0 + 1 })
        }
        if let indentation, !isFirst { breakLine(in: &output, indentation: indentation) }
        output.append(.closeBracket)
    }

    private static func write(_ object: JSONObject, to output: inout [UInt8], indentation: Int?) {
        output.append(.openBrace)
        var isFirst = true
        for (key, value) in object {
            separate(isFirst, in: &output, indentation: indentation)
            isFirst = false
            output.appendJSONString(key.utf8)
            output.append(.colon)
            if indentation != nil { output.append(0x20) }
            value.write(to: &output, indentation: indentation.map { $0 + 1 })
        }
        if let indentation, !isFirst { breakLine(in: &output, indentation: indentation) }
        output.append(.closeBrace)
    }

    private static func separate(_ isFirst: Bool, in output: inout [UInt8], indentation: Int?) {
        if !isFirst { output.append(.comma) }
        if let indentation { breakLine(in: &output, indentation: indentation + 1) }
    }

    private static func breakLine(in output: inout [UInt8], indentation: Int) {
        output.append(0x0A)
        output.append(contentsOf: repeatElement(0x20, count: 2 * indentation))
    }
}
