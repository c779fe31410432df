extension CanonicalJSON {
    /// The elements of a canonical array in their order; none of anything else.
    /// - Complexity: O(n).
    package static func elements(of array: [UInt8]) -> [ArraySlice<UInt8>] {
        array.withUnsafeBytes { bytes in
            guard let scanner = CanonicalScanner(bytes), scanner.byte(0) == .openBracket else { return [] }
            var elements: [ArraySlice<UInt8>] = []
            var at = 1
            while scanner.byte(at) != .closeBracket, let end = scanner.endOfValue(from: at) {
                elements.append(array[at..<end])
                at = scanner.byte(end) == .comma ? end + 1 : end
            }
            return elements
        }
    }
}
