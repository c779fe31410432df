/// The id of a document: 1 to 512 bytes of UTF-8 without NUL, not beginning with `_`, compared as bytes.
///
/// Ids are never normalised: two ids that look alike and differ in bytes are two documents. (`String`'s own equality is
/// canonical equivalence and would make them one, which is why an id is not a `String`.)
package struct DocumentID: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let string: String

    /// Longest id in bytes of UTF-8: long enough for any path or URL used as an id, short enough for an index page.
    package static let maximumBytes = 512

    /// - Throws: `DocumentError.invalidID` with the reason.
    package init(_ string: String) throws(DocumentError) {
        var string = string
        string.makeContiguousUTF8()
        if string.utf8.isEmpty { throw DocumentError.invalidID("a document id must not be empty") }
        if string.utf8.count > Self.maximumBytes {
            throw DocumentError.invalidID(
                "a document id may have \(Self.maximumBytes) bytes, this one has \(string.utf8.count)")
        }
        if string.utf8.first == UInt8(ascii: "_") {
            throw DocumentError.invalidID("a document id must not begin with _")
        }
        if string.utf8.withContiguousStorageIfAvailable({ $0.contains(0) }) ?? string.utf8.contains(0) {
            throw DocumentError.invalidID("a document id must not contain U+0000")
        }
        self.string = string
    }

    /// For ids that were checked when they were stored.
    package init(unchecked string: String) { self.string = string }

    package var description: String { string }

    package static func == (left: Self, right: Self) -> Bool {
        let (one, other) = (left.string.utf8, right.string.utf8)
        guard one.count == other.count else { return false }
        let isEqual = one.withContiguousStorageIfAvailable { one in
            other.withContiguousStorageIfAvailable { other in
                UnsafeRawBufferPointer(one).hasSameBytes(as: UnsafeRawBufferPointer(other))
            }
        }
        return (isEqual ?? nil) ?? one.elementsEqual(other)
    }

    package static func < (left: Self, right: Self) -> Bool {
        left.string.utf8.lexicographicallyPrecedes(right.string.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        let isDone: Void? = string.utf8.withContiguousStorageIfAvailable {
            hasher.combine(bytes: UnsafeRawBufferPointer($0))
        }
        if isDone != nil { return }
        var string = string
        string.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension UnsafeRawBufferPointer {
    /// Whether as many bytes there are the same; eight are compared at a time.
    fileprivate func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        var index = 0
        while index + 8 <= count {
            let one = loadUnaligned(fromByteOffset: index, as: UInt64.self)
            if one != other.loadUnaligned(fromByteOffset: index, as: UInt64.self) { return false }
            index += 8
        }
        while index < count {
            if self[index] != other[index] { return false }
            index += 1
        }
        return true
    }
}
