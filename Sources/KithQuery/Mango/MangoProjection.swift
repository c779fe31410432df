import KithDocument

/// The `fields` of a Mango query: an object of those fields that a document has, nested as they are in it.
struct MangoProjection {
    /// A name, and what is wanted under it; nothing there means all.
    private struct Node {
        var children: [(name: String, node: Node)] = []
        var isWhole = false

        mutating func insert(_ names: ArraySlice<String>) {
            guard let name = names.first else {
                isWhole = true
                return
            }
            let index = children.firstIndex { $0.name.hasSameBytes(as: name) } ?? children.endIndex
            if index == children.endIndex { children.append((name, Node())) }
            children[index].node.insert(names.dropFirst())
        }
    }

    /// The value of a row.
    let expression: QueryExpression

    init(_ fields: JSONValue?) throws(QueryError) {
        let document = QueryExpression.identifier(MangoQuery.alias)
        guard let fields else {
            expression = Self.whole(document)
            return
        }
        guard let list = fields.array else { throw .selector("expected an array of fields", path: "fields") }
        var root = Node()
        for (index, element) in list.enumerated() {
            let path = "fields[\(index)]"
            guard let name = element.string else { throw .selector("expected the name of a field", path: path) }
            let names = try MangoField(name, at: path).names
            _ = try MangoSelector.expression(names, from: document, isDocument: true, at: path)
            root.insert(names[...])
        }
        expression = list.isEmpty ? Self.whole(document) : try Self.object(root, [], document)
    }

    /// The body with what CouchDB puts beside it.
    private static func whole(_ document: QueryExpression) -> QueryExpression {
        func member(_ name: String) -> QueryExpression {
            QueryExpression(.path(QueryExpression(.metadata(MangoQuery.alias)), [.member(name)]))
        }
        let metadata = QueryExpression(
            .object([ObjectMember("_id", member("id")), ObjectMember("_rev", member("revision"))]))
        return .call("OBJECT_CONCAT", metadata, document)
    }

    private static func object(
        _ node: Node, _ names: [String], _ document: QueryExpression
    ) throws(QueryError) -> QueryExpression {
        var members: [ObjectMember] = []
        for (name, child) in node.children {
            let path = names + [name]
            if child.isWhole {
                let value = try MangoSelector.expression(path, from: document, isDocument: true, at: "fields")
                members.append(ObjectMember(name, value))
            } else {
                // An object without any of them is not there.
                let inner = try object(child, path, document)
                members.append(ObjectMember(name, .call("MISSINGIF", inner, QueryExpression(.object([])))))
            }
        }
        return QueryExpression(.object(members))
    }
}
