import KithDocument

/// An array index as the translation of a query sees it: a table of the elements' keys with the numbers of their documents.
package struct IndexedArray: Sendable {
    /// The index's name, and that of its table.
    package let name: String
    package let table: String
    /// Where the array is in a document, and what of an element is held.
    let array: [CanonicalStep]
    let element: [CanonicalStep]
    /// The conditions on documents that are in it, as SQL on a source named `d0`.
    let conditions: [String]

    func holds(_ array: [CanonicalStep]) -> Bool {
        CanonicalJSON.way(array).hasSameBytes(as: CanonicalJSON.way(self.array))
    }

    func isElement(_ way: [CanonicalStep]) -> Bool {
        CanonicalJSON.way(way).hasSameBytes(as: CanonicalJSON.way(element))
    }
}
