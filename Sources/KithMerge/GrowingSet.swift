internal import KithDocument

/// `union`: arrays as sets that grow.
///
/// Elements are equal when their canonical bytes are. Arrays that are all the same stay as they are, with their order and
/// their doubles; of others the merge has each element once, in byte order.
package struct GrowingSet: ValueRule {
    package static let name = "union"

    package init() {}

    package func takes(_ value: [UInt8]) -> Bool { value.first == UInt8(ascii: "[") }

    package func join(_ values: [[UInt8]]) -> [UInt8] {
        if values.allSatisfy({ $0 == values[0] }) { return values[0] }
        let elements = values.flatMap { CanonicalJSON.elements(of: $0) }.sorted { $0.lexicographicallyPrecedes($1) }
        var union: [UInt8] = [UInt8(ascii: "[")]
        for (index, element) in elements.enumerated() where index == 0 || element != elements[index - 1] {
            if index > 0 { union.append(UInt8(ascii: ",")) }
            union.append(contentsOf: element)
        }
        union.append(UInt8(ascii: "]"))
        return union
    }
}
