/// Every node known and who is connected to whom: `kith.mesh/1`. Times are milliseconds since 1970.
package struct ControlMesh: Hashable, Sendable {
    package struct Node: Hashable, Sendable {
        package var id: String
        package var name: String?
        package var version: String?
        /// Whether it is the node asked.
        package var isSelf = false
        /// Whether it is connected to the node asked.
        package var isConnected = false
        /// When news of it last came, from itself or by others.
        package var lastHeardAt: Int64?
        /// The ids of the nodes it is connected to, ascending; nil where it has not told.
        package var neighbours: [String]?

        package init(id: String, name: String?) {
            self.id = id
            self.name = name
        }
    }

    package var generatedAt: Int64
    /// Ascending by id.
    package var nodes: [Node]

    package init(generatedAt: Int64, nodes: [Node]) {
        self.generatedAt = generatedAt
        self.nodes = nodes
    }

    package var json: [UInt8] {
        var object = JSONObjectWriter()
        object.add("schema", "kith.mesh/1")
        object.add("generated_at", time: generatedAt)
        object.add("nodes", elements: nodes.map(\.json))
        return object.bytes
    }
}

extension ControlMesh.Node {
    fileprivate var json: [UInt8] {
        var object = JSONObjectWriter()
        object.add("id", id)
        object.add("name", name)
        object.add("version", version)
        object.add("self", isSelf)
        object.add("connected", isConnected)
        object.add("last_heard_at", time: lastHeardAt)
        object.add(
            "neighbours", json: neighbours.map { JSONObjectWriter.array($0.map { JSONObjectWriter.string($0) }) })
        return object.bytes
    }
}
