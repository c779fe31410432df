import KithDocument
import Testing

/// Edits of one document on several nodes that do not know of each other's.
@Suite(.timeLimit(.minutes(10))) struct ConcurrentEditTests {
    @Test func aDocumentMadeOnSixNodesAtOnceEndsWithAllFieldsAndAFieldWithOneValue() async throws {
        try await Lab.open(nodes: 6) { lab in
            let nodes = try await lab.group(6)
            try await nodes.makeDatabase("notes")
            try await nodes[0].kith("put", "notes", "known", #"{"colour":"white","kept":true}"#)
            try await nodes.settle("notes")
            // Connected, and still at once.
            try await together(nodes) { try await $0.kith("put", "notes", "live", Self.body($0)) }
            try await nodes.pauseAll()
            try await together(nodes) { node in
                try await node.kith("put", "notes", "apart", Self.body(node))
                try await node.kith("put", "notes", "known", #"{"colour":"\#(node.name)","kept":true}"#)
            }
            try await nodes.resumeAll()
            try await nodes.settle("notes")

            for id in ["apart", "live"] {
                let seen = try await Self.seen(id, on: nodes)
                #expect(Set(seen).count == 1, "\(id): \(seen)")
                // Whoever had the other's document already has replaced it by its own.
                let last = nodes.filter { seen[0][$0.name]?.string == "made by \($0.name)" }
                #expect(id == "live" ? !last.isEmpty : last.count == nodes.count, "\(id): \(seen[0])")
            }
            let known = try await Self.seen("known", on: nodes)
            #expect(Set(known).count == 1, "\(known)")
            #expect(nodes.map(\.name).contains(known[0]["colour"]?.string ?? ""))
            #expect(known[0]["kept"]?.bool == true)
            for node in nodes { #expect(try await node.kith("conflicts", "notes") == "") }
        }
    }

    private static func body(_ node: TestNode) -> String { #"{"\#(node.name)":"made by \#(node.name)"}"# }

    /// The document with its revision, from each node.
    private static func seen(_ id: String, on nodes: [TestNode]) async throws -> [JSONValue] {
        var seen: [JSONValue] = []
        for node in nodes {
            var document = try await node.json("get", "notes", id, "--meta")
            #expect(document["_rev"]?.string != nil)
            #expect(document["_conflicts"] == nil)
            document["_sequence"] = nil
            seen.append(document)
        }
        return seen
    }

    @Test func sixtyEditsApartEndInOneHistoryThatStaysAsItIs() async throws {
        try await Lab.open(nodes: 3) { lab in
            let nodes = try await lab.group(3)
            try await nodes.makeDatabase("notes")
            try await nodes[0].kith("put", "notes", "list", #"{"start":true}"#)
            try await nodes.settle("notes")
            try await nodes.pauseAll()
            try await together(nodes) { node in
                for count in 1...20 {
                    let body = #"{"count":\#(count),"start":true,"\#(node.name)":\#(count)}"#
                    try await node.kith("put", "notes", "list", body)
                }
            }
            try await nodes.resumeAll()
            try await nodes.settle("notes")

            let before = try await Self.histories(of: nodes)
            #expect(Set(before.map(\.history)).count == 1, "\(before.map(\.history))")
            let count = before[0].history["revisions"]?.array?.count ?? 0
            #expect(count > 0 && count <= 120, "\(count) revisions")
            let merged = try await nodes[0].json("get", "notes", "list")
            for node in nodes { #expect(merged[node.name]?.integer == 20) }

            // Nothing more comes of it: nodes that answered each other's merges for ever would show here.
            try await Task.sleep(for: .seconds(60))
            #expect(try await Self.histories(of: nodes) == before)
        }
    }

    private struct Seen: Equatable {
        var history: JSONValue
        var sequence: UInt64?
    }

    private static func histories(of nodes: [TestNode]) async throws -> [Seen] {
        var seen: [Seen] = []
        for node in nodes {
            seen.append(
                Seen(
                    history: try await node.json("history", "notes", "list", "--json"),
                    sequence: try await node.database("notes")["sequence"]?.natural))
        }
        return seen
    }
}
