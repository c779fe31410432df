/// The members of a JSON object in the order of canonical JSON: ascending by the UTF-8 bytes of their keys.
///
/// Keys are compared as bytes, so those in NFC and NFD are two (`String`'s own equality would make them one).
package struct JSONObject: Sendable, RandomAccessCollection {
    package typealias Element = (key: String, value: JSONValue)

    private var members: [Element]

    package init() { members = [] }

    /// Of members with one key the last counts.
    package init(_ members: some Sequence<(String, JSONValue)>) {
        self.members = []
        for (key, value) in members { self[key] = value }
    }

    /// - Parameter ascending: ascending strictly by the bytes of their keys.
    init(ascending members: [Element]) { self.members = members }

    /// The value of a member; setting nil removes it.
    /// - Complexity: O(log n) to read, O(n) to add or remove.
    package subscript(key: String) -> JSONValue? {
        get {
            let (index, isThere) = position(of: key)
            return isThere ? members[index].value : nil
        }
        set {
            let (index, isThere) = position(of: key)
            switch (isThere, newValue) {
            case (true, let value?): members[index].value = value
            case (true, nil): members.remove(at: index)
            case (false, let value?): members.insert((key, value), at: index)
            case (false, nil): break
            }
        }
    }

    package var keys: [String] { members.map(\.key) }

    package var startIndex: Int { members.startIndex }
    package var endIndex: Int { members.endIndex }
    package subscript(position: Int) -> Element { members[position] }

    private func position(of key: String) -> (index: Int, isThere: Bool) {
        // Members come mostly in order.
        if let last = members.last, last.key.utf8.lexicographicallyPrecedes(key.utf8) { return (members.count, false) }
        var (low, high) = (0, members.count)
        while low < high {
            let middle = (low + high) / 2
            if members[middle].key.utf8.lexicographicallyPrecedes(key.utf8) { low = middle + 1 } else { high = middle }
        }
        return (low, low < members.count && members[low].key.utf8.elementsEqual(key.utf8))
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    /// A key must not stand twice.
    package init(dictionaryLiteral elements: (String, JSONValue)...) {
        self.init(elements)
        precondition(count == elements.count, "a key stands twice in an object")
    }
}
