import KithDocument

/// An array index as the translation of a query sees it: a table of the elements' keys with the numbers of their documents.
package struct IndexedArray: Sendable {
    /// The index's name, and that of its table.
    package let name: String
    package let table: String
    /// Where the array is in a document, and what of an element is held.
    let array: [CanonicalStep]
    let element: [CanonicalStep]
    /// The conditions on documents that are in it, as SQL whose columns have `prefix` before them.
    let conditions: [String]
    /// Nothing else in SQL has it: literals with control characters are written in hexadecimal.
    static let prefix = "\u{1}"

    func holds(_ array: [CanonicalStep]) -> Bool {
        CanonicalJSON.way(array).hasSameBytes(as: CanonicalJSON.way(self.array))
    }

    func isElement(_ way: [CanonicalStep]) -> Bool {
        CanonicalJSON.way(way).hasSameBytes(as: CanonicalJSON.way(element))
    }
}
