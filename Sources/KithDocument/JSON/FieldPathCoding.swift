/// The encoding of field paths as bytes, and JSON Pointer (RFC 6901) as their text.
///
/// A path is its keys, outermost first, each as its UTF-8 bytes with 0xFF after every 0x00 and then a 0x00. 0xFF never
/// occurs in UTF-8, so comparing bytes compares paths key by key, in the order of canonical objects. The bytes of a path
/// begin those of every path under it; the reverse holds only if no 0xFF follows, since the key `a` followed by U+0000
/// begins with the bytes of the path `/a`: ask `isAtOrUnder`.
package enum FieldPathCoding {
    static let keyEnd: UInt8 = 0x00
    static let escapedZero: UInt8 = 0xFF

    /// Appends one key.
    /// - Parameter key: UTF-8, unescaped.
    package static func append(key: some Sequence<UInt8>, to path: inout [UInt8]) {
        for byte in key {
            path.append(byte)
            if byte == keyEnd { path.append(escapedZero) }
        }
        path.append(keyEnd)
    }

    /// Whether `path` is `other` or under it.
    package static func isAtOrUnder(_ path: ArraySlice<UInt8>, _ other: ArraySlice<UInt8>) -> Bool {
        guard path.count >= other.count, path.starts(with: other) else { return false }
        let next = path.startIndex + other.count
        return next == path.endIndex || path[next] != escapedZero
    }

    /// Behind the end of the key that begins at `start`; the end of the path where the key has none.
    static func indexAfterKey(in path: ArraySlice<UInt8>, from start: Int) -> Int {
        var index = start
        while index < path.endIndex {
            let isEnd = path[index] == keyEnd
            index += 1
            if isEnd && (index == path.endIndex || path[index] != escapedZero) { return index }
        }
        return index
    }

    /// The bytes of the key in `path[range]`, its end included in the range.
    static func key(in path: ArraySlice<UInt8>, _ range: Range<Int>) -> some Sequence<UInt8> {
        path[range].dropLast().lazy.filter { $0 != escapedZero }
    }

    /// Whether bytes from outside are whole keys in valid UTF-8. The root (no bytes) is a path too.
    package static func isValid(_ path: ArraySlice<UInt8>) -> Bool {
        guard path.isEmpty || path.last == keyEnd else { return false }
        var index = path.startIndex
        while index < path.endIndex {
            let next = indexAfterKey(in: path, from: index)
            guard path[next - 1] == keyEnd else { return false }
            var previous: UInt8 = 1
            for byte in path[index..<(next - 1)] {
                if byte == escapedZero && previous != keyEnd { return false }
                previous = byte
            }
            if String(validating: key(in: path, index..<next), as: UTF8.self) == nil { return false }
            index = next
        }
        return true
    }

    /// The path that a JSON Pointer names; the empty pointer is the root.
    /// - Throws: `DocumentError.malformed` with the rule that the pointer breaks.
    package static func encode(pointer: some StringProtocol) throws(DocumentError) -> [UInt8] {
        var path: [UInt8] = []
        var bytes = pointer.utf8.makeIterator()
        guard let first = bytes.next() else { return path }
        guard first == UInt8(ascii: "/") else {
            throw DocumentError.malformed("a JSON Pointer begins with /")
        }
        while let byte = bytes.next() {
            switch byte {
            case UInt8(ascii: "/"):
                path.append(keyEnd)
            case UInt8(ascii: "~"):
                switch bytes.next() {
                case UInt8(ascii: "0"): path.append(UInt8(ascii: "~"))
                case UInt8(ascii: "1"): path.append(UInt8(ascii: "/"))
                default: throw DocumentError.malformed("in a JSON Pointer ~ stands as ~0 and / as ~1")
                }
            case keyEnd:
                path.append(keyEnd)
                path.append(escapedZero)
            default:
                path.append(byte)
            }
        }
        path.append(keyEnd)
        return path
    }

    /// The JSON Pointer of a path.
    /// - Parameter path: valid.
    package static func decode(_ path: ArraySlice<UInt8>) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(path.count + 1)
        var index = path.startIndex
        while index < path.endIndex {
            let next = indexAfterKey(in: path, from: index)
            text.append(UInt8(ascii: "/"))
            for byte in key(in: path, index..<next) {
                switch byte {
                case UInt8(ascii: "~"): text.append(contentsOf: "~0".utf8)
                case UInt8(ascii: "/"): text.append(contentsOf: "~1".utf8)
                default: text.append(byte)
                }
            }
            index = next
        }
        return String(decoding: text, as: UTF8.self)
    }
}
