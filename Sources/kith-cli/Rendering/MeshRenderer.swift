import KithDocument

/// The text of `kith mesh`: a node a line, with the nodes it is connected to.
struct MeshRenderer {
    let mesh: JSONValue
    let width: Int?
    let colour: Bool

    init(_ mesh: JSONValue, width: Int?, colour: Bool) {
        self.mesh = mesh
        self.width = width
        self.colour = colour
    }

    func lines() -> [String] {
        let nodes = mesh["nodes"]?.array ?? []
        if nodes.isEmpty { return ["no nodes known"] }
        let now = mesh["generated_at"]?.time
        var table = TextTable([
            .init(title: "NODE", least: 12), .init(title: "HEARD", alignsRight: true), .init(title: "VERSION"),
            .init(title: "CONNECTED TO", least: 12),
        ])
        for node in nodes {
            let isSelf = node["self"]?.bool == true
            let heard = node["last_heard_at"]?.time.flatMap { time in now.map { $0 - time } }
            let neighbours = node["neighbours"]?.array.map { ids in
                ids.isEmpty ? "nobody" : ids.map { name(ofNode: $0.string, nodes) }.joined(separator: ", ")
            }
            table.add([
                .init(text: PeerView(node, now: now).name),
                .init(text: isSelf ? "this node" : Wording.age(milliseconds: heard)),
                .init(text: node["version"]?.string ?? "-"), .init(text: neighbours ?? "?"),
            ])
        }
        return table.lines(width: width, colour: colour)
    }

    private func name(ofNode id: String?, _ nodes: [JSONValue]) -> String {
        nodes.first { $0["id"]?.string == id }?["name"]?.string ?? StatusRenderer.short(id)
    }
}
