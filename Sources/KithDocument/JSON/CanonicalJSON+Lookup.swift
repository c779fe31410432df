/// A step of the way to a value within another one.
package enum CanonicalStep: Hashable, Sendable {
    case member(String)
    /// From the end where it is below zero.
    case element(Int)
}

// Finding one value of a document without reading all of it.
//
// A way is a text such as `address.city` or `tags[0]`; a name that has other characters than ASCII's letters, digits, `_`
// and those beyond ASCII stands in it as a JSON string. Names are compared as they stand in canonical JSON.
extension CanonicalJSON {
    /// The way as a text; empty for the value itself.
    package static func way(_ steps: [CanonicalStep]) -> String {
        var way: [UInt8] = []
        for step in steps {
            switch step {
            case .element(let place): way.append(contentsOf: "[\(place)]".utf8)
            case .member(let name):
                if !way.isEmpty { way.append(.point) }
                if !name.isEmpty, name.utf8.allSatisfy(\.isPlainInWay) {
                    way.append(contentsOf: name.utf8)
                } else {
                    way.appendJSONString(name.utf8)
                }
            }
        }
        return String(decoding: way, as: UTF8.self)
    }

    /// Where the value stands that a way leads to; nil where it leads nowhere, and for bytes that are not canonical.
    /// - Complexity: O(n) at worst; what follows the value is not looked at, nor what follows the place of a name in
    ///   the order of names.
    package static func find(_ way: UnsafeRawBufferPointer, in json: UnsafeRawBufferPointer) -> Range<Int>? {
        guard let scanner = CanonicalScanner(json) else { return nil }
        guard let path = CanonicalScanner(way) else { return 0..<json.count }
        var (at, step) = (0, 0)
        while step < path.count {
            if path.byte(step) == .openBracket {
                guard let found = scanner.element(path.place(at: &step), from: at) else { return nil }
                at = found
                continue
            }
            if path.byte(step) == .point { step += 1 }
            guard let found = scanner.member(path.name(at: &step), of: path, from: at) else { return nil }
            at = found
        }
        return scanner.endOfValue(from: at).map { at..<$0 }
    }
}

extension CanonicalScanner {
    // Of a way.

    /// The bytes of the name that begins here, without quotes; afterwards the step is what comes behind it.
    fileprivate func name(at step: inout Int) -> Range<Int> {
        if byte(step) == .quote, let end = closingQuote(from: step) {
            defer { step = end + 1 }
            return step + 1..<end
        }
        let start = step
        while step < count, text[step] != .point, text[step] != .openBracket { step += 1 }
        return start..<step
    }

    /// The number between the brackets that begin here.
    fileprivate func place(at step: inout Int) -> Int {
        step += 1
        let isNegative = byte(step) == .minus
        if isNegative { step += 1 }
        var place = 0
        while byte(step).isDigit {
            place = min(place, 1 << 40) * 10 + Int(byte(step) - .zero)
            step += 1
        }
        // Behind the closing bracket.
        step += 1
        return isNegative ? -place : place
    }

    // Of a value.

    /// Where the member's value begins in the object at `start`.
    @inline(__always)
    fileprivate func member(_ name: Range<Int>, of way: CanonicalScanner, from start: Int) -> Int? {
        guard byte(start) == .openBrace else { return nil }
        var at = start + 1
        let wanted = way.text + name.lowerBound
        while byte(at) == .quote {
            let key = text + at + 1
            guard let end = closingQuote(from: at) else { return nil }
            let length = end - at - 1
            if length == name.count {
                var index = 0
                while index < length, key[index] == wanted[index] { index += 1 }
                if index == length { return end + 2 }
            }
            // Names stand in their order, but for those with escapes.
            if length > 0, !name.isEmpty, key[0] > wanted[0], key[0] != .backslash, wanted[0] != .backslash {
                return nil
            }
            guard let next = endOfValue(from: end + 2), byte(next) == .comma else { return nil }
            at = next + 1
        }
        return nil
    }

    /// Where an element begins in the array at `start`; of one counted from the end all are counted first.
    fileprivate func element(_ place: Int, from start: Int) -> Int? {
        guard byte(start) == .openBracket, byte(start + 1) != .closeBracket else { return nil }
        let place = place < 0 ? place + elements(from: start) : place
        guard place >= 0 else { return nil }
        var at = start + 1
        for _ in 0..<place {
            guard let end = endOfValue(from: at), byte(end) == .comma else { return nil }
            at = end + 1
        }
        return at
    }

    private func elements(from start: Int) -> Int {
        var (at, elements) = (start + 1, 1)
        while let end = endOfValue(from: at), byte(end) == .comma {
            elements += 1
            at = end + 1
        }
        return elements
    }
}

extension CanonicalJSON {
    /// Where the next element of an array stands: the first one after the place 0, others after the end of the one before.
    /// - Returns: nil after the last one, and for what is no array.
    package static func nextElement(after end: Int, of array: UnsafeRawBufferPointer) -> Range<Int>? {
        guard let scanner = CanonicalScanner(array), scanner.byte(0) == .openBracket else { return nil }
        if end > 0, scanner.byte(end) != .comma { return nil }
        let start = end + 1
        guard scanner.byte(start) != .closeBracket, let next = scanner.endOfValue(from: start) else { return nil }
        return start..<next
    }
}

extension JSONValue {
    /// Reads bytes that should be canonical; nil where they are not.
    package init?(canonical bytes: UnsafeRawBufferPointer) {
        var reader = JSONTreeReader(bytes)
        guard let value = reader?.read() else { return nil }
        self = value
    }
}

extension UInt8 {
    fileprivate var isPlainInWay: Bool {
        isDigit || self == UInt8(ascii: "_") || self >= 0x80 || (self | 0x20) &- UInt8(ascii: "a") < 26
    }
}
