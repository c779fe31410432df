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
            guard let value = Self.read(bytes, at: &position) else { return nil }
            values.append(value)
        }
        return values
    }

    /// - Parameter bytes: of a key, or of some; `values` tells whether they are.
    package init(bytes: [UInt8]) { self.bytes = bytes }

    /// An array or object that has no end yet.
    private struct Container {
        let isObject: Bool
        var elements: [JSONValue] = []
        var object = JSONObject()
        /// Of the member whose value comes next.
        var key: String?
        var lastKey: String?

        mutating func add(_ value: JSONValue) {
            guard let key else { return elements.append(value) }
            object[key] = value
            (lastKey, self.key) = (key, nil)
        }

        /// Takes the key of a member, which comes after the one before it.
        mutating func begin(_ key: String) -> Bool {
            self.key = key
            return lastKey.map { $0.byteOrder(to: key) == .less } ?? true
        }
    }

    /// A stack of its own, since bytes from outside decide how deep it goes.
    private static func read(_ bytes: [UInt8], at position: inout Int) -> QueryValue? {
        var open: [Container] = []
        while position < bytes.count {
            let tag = bytes[position]
            position += 1
            let value: JSONValue
            if tag == Tag.end {
                guard let container = open.popLast(), container.key == nil else { return nil }
                value = container.isObject ? .object(container.object) : .array(container.elements)
            } else if let container = open.last, container.isObject, container.key == nil {
                guard tag == Tag.string, let key = readString(bytes, at: &position), open[open.count - 1].begin(key)
                else {
                    return nil
                }
                continue
            } else if tag == Tag.array || tag == Tag.object {
                guard open.count < DocumentLimits.depth else { return nil }
                open.append(Container(isObject: tag == Tag.object))
                continue
            } else {
                guard let atom = readAtom(tag, bytes, at: &position) else { return nil }
                guard let json = atom.json else { return open.isEmpty ? .missing : nil }
                value = json
            }
            if open.isEmpty { return QueryValue(value) }
            open[open.count - 1].add(value)
        }
        return nil
    }

    private static func readAtom(_ tag: UInt8, _ bytes: [UInt8], at position: inout Int) -> QueryValue? {
        switch tag {
        case Tag.missing: .missing
        case Tag.null: .null
        case Tag.no: .bool(false)
        case Tag.yes: .bool(true)
        case Tag.zero: .number(0)
        case Tag.negative, Tag.positive:
            readNumber(bytes, at: &position, isNegative: tag == Tag.negative).map { .number($0) }
        case Tag.string: readString(bytes, at: &position).map { .string($0) }
        default: nil
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
}
