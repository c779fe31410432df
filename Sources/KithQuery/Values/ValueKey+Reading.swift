import KithDocument

extension ValueKey {
    /// The value of a key; nil for bytes that are no key.
    package var value: QueryValue? {
        guard let values, values.count == 1 else { return nil }
        return values[0]
    }

    /// The values of keys in a row; nil for bytes that are none.
    package var values: [QueryValue]? {
        var position = 0
        var values: [QueryValue] = []
        while position < bytes.count {
            guard let value = Self.read(bytes, at: &position, depth: 0) else { return nil }
            values.append(value)
        }
        return values
    }

    /// - Parameter bytes: of a key, or of some; `values` tells whether they are.
    package init(bytes: [UInt8]) { self.bytes = bytes }

    private static func read(_ bytes: [UInt8], at position: inout Int, depth: Int) -> QueryValue? {
        guard position < bytes.count, depth <= DocumentLimits.depth else { return nil }
        let tag = bytes[position]
        position += 1
        switch tag {
        case Tag.missing: return depth == 0 ? .missing : nil
        case Tag.null: return .null
        case Tag.no: return .bool(false)
        case Tag.yes: return .bool(true)
        case Tag.zero: return .number(0)
        case Tag.negative, Tag.positive:
            return readNumber(bytes, at: &position, isNegative: tag == Tag.negative).map { .number($0) }
        case Tag.string: return readString(bytes, at: &position).map { .string($0) }
        case Tag.array: return readArray(bytes, at: &position, depth: depth + 1)
        case Tag.object: return readObject(bytes, at: &position, depth: depth + 1)
        default: return nil
        }
    }

    private static func readString(_ bytes: [UInt8], at position: inout Int) -> String? {
        var text: [UInt8] = []
        while let end = bytes[position...].firstIndex(of: Tag.end) {
            text.append(contentsOf: bytes[position..<end])
            position = end + 1
            guard position < bytes.count, bytes[position] == Tag.escaped else {
                return String(validating: text, as: UTF8.self)
            }
            text.append(0)
            position += 1
        }
        return nil
    }

    private static func readArray(_ bytes: [UInt8], at position: inout Int, depth: Int) -> QueryValue? {
        var array: [JSONValue] = []
        while position < bytes.count {
            if bytes[position] == Tag.end {
                position += 1
                return .array(array)
            }
            guard let element = read(bytes, at: &position, depth: depth)?.json else { return nil }
            array.append(element)
        }
        return nil
    }

    private static func readObject(_ bytes: [UInt8], at position: inout Int, depth: Int) -> QueryValue? {
        var object = JSONObject()
        var last: String?
        while position < bytes.count {
            let tag = bytes[position]
            position += 1
            if tag == Tag.end { return .object(object) }
            guard tag == Tag.string, let key = readString(bytes, at: &position),
                last.map({ $0.byteOrder(to: key) == .less }) ?? true,
                let value = read(bytes, at: &position, depth: depth)?.json
            else { return nil }
            object[key] = value
            last = key
        }
        return nil
    }
}
