import KithDocument

extension JSONValue {
    /// About the bytes of its JSON, without what strings are escaped with; nil where they are more than the limit.
    /// - Complexity: O(n) in the values within, and no more of them than the limit.
    func size(atMost limit: Int) -> Int? {
        var size = 0
        // A stack of its own, since documents decide how deep it goes.
        var rest: [JSONValue] = [self]
        while let value = rest.popLast() {
            switch value {
            case .null, .bool: size += 4
            case .number(let number): size += number.text.utf8.count
            case .string(let string): size += 2 + string.utf8.count
            case .array(let array): size += 1 + array.count
            case .object(let object): for member in object { size += 4 + member.key.utf8.count }
            }
            if size > limit { return nil }
            switch value {
            case .array(let array): rest += array
            case .object(let object): rest += object.map(\.value)
            default: break
            }
        }
        return size
    }
}

extension QueryValue {
    /// About the bytes of its JSON; nil where they are more than the limit.
    package func size(atMost limit: Int) -> Int? { limit < 0 ? nil : element.size(atMost: limit) }
}
