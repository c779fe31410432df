import Foundation
import Kith
import KithTestSupport
import KithTesting
import Testing

/// Nodes that take a part of a database, over real nodes.
struct ReplicationFilterTests {
    private func put(_ id: String, _ body: JSONValue, _ node: LocalNode) async throws {
        let notes = try await node.database("notes")
        _ = try await notes.save(Document(id: id, body))
    }

    private func ids(_ node: LocalNode) async throws -> [String] {
        let text = "SELECT RAW META().id FROM _ ORDER BY META().id"
        return try await node.database("notes").query(text).compactMap(\.string)
    }

    private static let forDen = ReplicationSettings(filter: .selector(["to": "den"]))

    @Test func `a node takes what fits its selector, gives what it writes, and keeps that over a restart`() async throws
    {
        try await TestGroup.with(nodes: 3) { group in
            let (full, den) = (group[0], group[2])
            try await den.setReplication(Self.forDen, of: "notes")
            for number in 0..<30 { try await put("d\(number)", ["to": number % 3 == 0 ? "den" : "attic"], full) }
            #expect(await group.isInSync("notes"))
            #expect(try await ids(den).count == 10)
            try await put("report", ["from": "den"], den)
            try await put("own", ["to": "den"], den)
            #expect(try await eventually(within: 60) { try await ids(group[1]).count == 32 })
            #expect(try await eventually(within: 60) { try await ids(den).count == 11 })
            #expect(await group.isInSync("notes"))
            #expect(try await ids(den).contains("own"))
            #expect(try await den.replication(of: "notes") == Self.forDen)
            try await put("d0", ["to": "attic"], full)
            #expect(try await eventually(within: 60) { try await ids(den).count == 10 })
            #expect(await group.isInSync("notes"))
            await den.stop()
            try await put("late", ["to": "den"], full)
            let again = try LocalNode(in: group.folders[2], options: Self.loopback(group))
            try await again.start()
            #expect(try await again.replication(of: "notes") == Self.forDen)
            #expect(try await eventually(within: 60) { try await ids(again).contains("late") })
            #expect(try await ids(again).count == 11)
            await again.stop()
        }
    }

    private static func loopback(_ group: TestGroup) -> NodeOptions {
        var options = NodeOptions.loopback
        options.peers = group[0].listening + group[1].listening
        return options
    }

    @Test func `ids are a filter too, another one begins anew, and with none all comes`() async throws {
        try await TestGroup.with(nodes: 2) { group in
            let (full, part) = (group[0], group[1])
            for number in 0..<20 { try await put("d\(number)", ["n": .int(Int64(number))], full) }
            try await part.setReplication(ReplicationSettings(filter: .documents(["d1", "d2"])), of: "notes")
            #expect(await group.isInSync("notes"))
            // In sync is said of what matches; what does not may still be on its way out.
            #expect(try await eventually(within: 60) { try await ids(part) == ["d1", "d2"] })
            #expect(try await part.status().database("notes")?.inSyncWith == 1)
            #expect(try await full.status().database("notes")?.inSyncWith == 1)
            try await part.setReplication(ReplicationSettings(filter: .documents(["d2", "d3"])), of: "notes")
            #expect(await group.isInSync("notes"))
            #expect(try await eventually(within: 60) { try await ids(part) == ["d2", "d3"] })
            try await part.setReplication(ReplicationSettings(), of: "notes")
            #expect(await group.isInSync("notes"))
            #expect(try await ids(part).count == 20)
        }
    }

    @Test func `a filter that is none is refused, and nothing changes`() async throws {
        try await TestGroup.with(nodes: 1) { group in
            let many = ReplicationFilter.documents(Set((0..<2_000).map { "a-long-document-id-\($0)" }))
            let wrong: [ReplicationFilter] = [
                .selector(["a": ["$near": 1]]), .selector("text"), .documents([""]), many,
            ]
            for filter in wrong {
                let error = await #expect(throws: KithError.self) {
                    try await group[0].setReplication(ReplicationSettings(filter: filter), of: "notes")
                }
                #expect(error?.code == .invalid, "\(String(describing: error))")
            }
            try await put("a", [:], group[0])
            #expect(try await group[0].replication(of: "notes") == ReplicationSettings())
        }
    }
}
