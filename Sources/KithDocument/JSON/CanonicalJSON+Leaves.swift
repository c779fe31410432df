extension CanonicalJSON {
    /// Visits the leaves of a canonical object in the order of their paths: scalars, arrays (each as one value) and
    /// empty objects. The root itself is no leaf, even when it is empty.
    ///
    /// Bytes that are not canonical are visited as far as they make sense.
    /// - Parameter visit: gets the path as `FieldPathCoding` encodes it, valid until it returns, and where the value
    ///   stands.
    /// - Complexity: O(n) and the lengths of the paths; one buffer is allocated.
    package static func forEachLeaf<Failure: Error>(
        of canonical: UnsafeRawBufferPointer,
        _ visit: (_ path: UnsafeRawBufferPointer, _ value: Range<Int>) throws(Failure) -> Void
    ) throws(Failure) {
        guard let scanner = CanonicalScanner(canonical), scanner.byte(0) == .openBrace else { return }
        var path: [UInt8] = []
        path.reserveCapacity(128)
        /// The length of the path at each object that is open, but for the root.
        var lengths: [Int] = []
        var at = 1
        while scanner.byte(at) == .quote {
            guard let quote = scanner.closingQuote(from: at) else { return }
            let length = path.count
            append(key: (at + 1)..<quote, of: scanner, to: &path)
            at = quote + 2
            if scanner.byte(at) == .openBrace && scanner.byte(at + 1) != .closeBrace {
                lengths.append(length)
                at += 1
                continue
            }
            guard let end = scanner.endOfValue(from: at) else { return }
            let value = at..<end
            try path.withUnsafeBufferPointer { bytes throws(Failure) in
                try visit(UnsafeRawBufferPointer(bytes), value)
            }
            at = end
            path.removeLast(path.count - length)
            while scanner.byte(at) == .closeBrace {
                guard let outer = lengths.popLast() else { return }
                path.removeLast(path.count - outer)
                at += 1
            }
            at += 1
        }
    }

    private static func append(key range: Range<Int>, of scanner: CanonicalScanner, to path: inout [UInt8]) {
        if scanner.hasEscape(range) {
            FieldPathCoding.append(key: scanner.unescaped(range), to: &path)
        } else {
            // Without an escape there is no U+0000 in it.
            path.append(contentsOf: UnsafeBufferPointer(start: scanner.text + range.lowerBound, count: range.count))
            path.append(FieldPathCoding.keyEnd)
        }
    }

    /// Builds the canonical object whose leaves these are: the inverse of `forEachLeaf`.
    ///
    /// A leaf above others, as an empty object that has members after all, gives way to them.
    /// - Parameter leaves: ascending strictly by path, values in canonical form.
    /// - Complexity: O(n).
    package static func assemble(
        _ leaves: some Sequence<(path: ArraySlice<UInt8>, value: ArraySlice<UInt8>)>
    ) -> [UInt8] {
        var builder = ObjectBuilder()
        var held: (path: ArraySlice<UInt8>, value: ArraySlice<UInt8>)?
        for leaf in leaves {
            if let held, !FieldPathCoding.isAtOrUnder(leaf.path, held.path) { builder.append(held.path, held.value) }
            held = leaf
        }
        if let held { builder.append(held.path, held.value) }
        return builder.finish()
    }

    /// Where the value of one top-level member stands.
    /// - Complexity: O(n) to the member, or to where it would be.
    package static func member(_ key: String, of canonical: UnsafeRawBufferPointer) -> Range<Int>? {
        guard let scanner = CanonicalScanner(canonical), scanner.byte(0) == .openBrace else { return nil }
        var at = 1
        while scanner.byte(at) == .quote {
            guard let quote = scanner.closingQuote(from: at), let end = scanner.endOfValue(from: quote + 2) else {
                return nil
            }
            let name = scanner.unescaped((at + 1)..<quote)
            if name.elementsEqual(key.utf8) { return (quote + 2)..<end }
            // Keys ascend.
            if key.utf8.lexicographicallyPrecedes(name) { return nil }
            at = end + 1
        }
        return nil
    }
}

/// Writes a canonical object leaf by leaf.
private struct ObjectBuilder {
    private var output: [UInt8] = [.openBrace]
    /// The path of the last leaf written; the objects on the way to it are open.
    private var last: ArraySlice<UInt8> = []

    mutating func append(_ path: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>) {
        guard !path.isEmpty else { return }
        let shared = sharedObjects(with: path)
        closeObjects(below: shared)
        if output[output.count - 1] != .openBrace { output.append(.comma) }
        var start = path.startIndex + shared
        while start < path.endIndex {
            let next = FieldPathCoding.indexAfterKey(in: path, from: start)
            output.appendJSONString(FieldPathCoding.key(in: path, start..<next))
            output.append(.colon)
            if next < path.endIndex { output.append(.openBrace) }
            start = next
        }
        output.append(contentsOf: value)
        last = path
    }

    mutating func finish() -> [UInt8] {
        closeObjects(below: 0)
        output.append(.closeBrace)
        return output
    }

    /// The length of the path of the innermost object that holds both the last leaf and this one.
    private func sharedObjects(with path: ArraySlice<UInt8>) -> Int {
        var shared = 0
        var start = last.startIndex
        while start < last.endIndex {
            let next = FieldPathCoding.indexAfterKey(in: last, from: start)
            let length = next - last.startIndex
            // The last key of either path names the leaf, not an object.
            guard next < last.endIndex, length < path.count else { break }
            let mine = path[(path.startIndex + shared)..<(path.startIndex + length)]
            guard mine.elementsEqual(last[start..<next]), path[path.startIndex + length] != FieldPathCoding.escapedZero
            else { break }
            shared = length
            start = next
        }
        return shared
    }

    /// Closes the open objects under the one whose path is the first `length` bytes of the last path.
    private mutating func closeObjects(below length: Int) {
        var start = last.startIndex + length
        while start < last.endIndex {
            start = FieldPathCoding.indexAfterKey(in: last, from: start)
            if start < last.endIndex { output.append(.closeBrace) }
        }
    }
}
