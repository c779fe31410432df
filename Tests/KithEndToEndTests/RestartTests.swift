import Glibc
import KithDocument
import Testing

/// What a restart costs, and what it must not lose.
@Suite(.timeLimit(.minutes(10))) struct RestartTests {
    @Test func aMeshThatRestartsTransfersNoDocumentAgain() async throws {
        let count = 10_000
        try await Lab.open(nodes: 3) { lab in
            let nodes = try await lab.group(3)
            try await nodes.makeDatabase("stock")
            try await nodes[0].kith("import", "stock", "-", input: Self.documents(count), within: 120)
            let before = try await nodes.settle("stock", within: 120)

            try await together(nodes) { try await $0.stop() }
            for node in nodes { try await node.start(peers: nodes) }
            #expect(try await nodes.settle("stock") == before)

            var sent: UInt64 = 0
            for (node, peers) in try await peersOnceMet(nodes) {
                #expect(try await node.database("stock")["documents"]?.natural == UInt64(count))
                #expect(peers.count == 2)
                for peer in peers {
                    sent += try #require(peer["sent_bytes"]?.natural)
                    #expect(peer["databases"]?[0]?["pulled"]?.natural == 0, "\(node.name): \(peer)")
                    #expect(peer["databases"]?[0]?["pushed"]?.natural == 0, "\(node.name): \(peer)")
                }
            }
            #expect(sent < 100_000, "\(sent) bytes were sent in all")
        }
    }

    /// The peers of each node, as they were when all had met again: nodes that restart are equal from the start, and that they have
    /// met takes a moment longer.
    private func peersOnceMet(_ nodes: [TestNode]) async throws -> [(node: TestNode, peers: [JSONValue])] {
        var found: [(node: TestNode, peers: [JSONValue])] = []
        let haveMet = try await eventually(within: 60) {
            found = []
            for node in nodes {
                let peers = try await node.status()["peers"]?.array ?? []
                if peers.count < nodes.count - 1 || peers.contains(where: { $0["databases"]?[0] == nil }) {
                    return false
                }
                found.append((node, peers))
            }
            return true
        }
        try #require(haveMet, "the nodes have not met again")
        return found
    }

    @Test func aMeshThatIsKilledTransfersNoDocumentAgain() async throws {
        try await Lab.open(nodes: 3) { lab in
            let nodes = try await lab.group(3)
            try await nodes.makeDatabase("stock")
            for node in nodes { try await node.kith("put", "stock", node.name, #"{"by":"\#(node.name)"}"#) }
            try await nodes[0].kith("import", "stock", "-", input: Self.documents(300))
            let before = try await nodes.settle("stock")
            for node in nodes { node.kill() }
            for node in nodes { #expect(await node.ended() == 128 + SIGKILL) }
            for node in nodes { try await node.start(peers: nodes) }
            #expect(try await nodes.settle("stock") == before)
            for (node, peers) in try await peersOnceMet(nodes) {
                for peer in peers {
                    #expect(peer["databases"]?[0]?["pulled"]?.natural == 0, "\(node.name): \(peer)")
                }
            }
        }
    }

    @Test func aNodeThatWasAwayTakesWhatChangedAndNothingElse() async throws {
        try await Lab.open(nodes: 3) { lab in
            let nodes = try await lab.group(3)
            try await nodes.makeDatabase("stock")
            try await nodes[0].kith("import", "stock", "-", input: Self.documents(300))
            try await nodes.settle("stock")
            let away = nodes[2]
            try await away.stop()
            for number in 1...5 { try await nodes[0].kith("put", "stock", "item-\(number)", #"{"new":\#(number)}"#) }
            for number in 6...8 { try await nodes[1].kith("delete", "stock", "item-\(number)") }
            try await away.start(peers: nodes)
            try await nodes.settle("stock")
            #expect(try await away.kith("get", "stock", "item-3") == #"{"new":3}"#)
            #expect(try await away.run(["get", "stock", "item-7"]).status == 2)
            let peers = try await away.status()["peers"]?.array ?? []
            let pulled = peers.reduce(0) { $0 + ($1["databases"]?[0]?["pulled"]?.natural ?? 0) }
            #expect(pulled == 8, "\(pulled) revisions were pulled for 8 changes")
        }
    }

    static func documents(_ count: Int) -> [UInt8] {
        var lines = ""
        for number in 1...count {
            lines +=
                #"{"_id":"item-\#(number)","name":"Item number \#(number)","price":\#(number).25,"tags":["a","b"]}"#
            lines += "\n"
        }
        return Array(lines.utf8)
    }

    @Test func everyPutThatSucceededSurvivesAKillInTheMiddleOfAnImport() async throws {
        try await Lab.open(nodes: 2) { lab in
            let nodes = try await lab.group(2)
            try await nodes.makeDatabase("stock")
            let victim = nodes[1]
            let load = try victim.program(["import", "stock", "-"], input: Self.documents(20_000))
            var acknowledged: [String: String] = [:]
            for number in 1...12 {
                let id = "sure-\(number)"
                acknowledged[id] = try await victim.kith("put", "stock", id, #"{"number":\#(number)}"#)
                if number == 12 { break }
                // The kill is to come while documents of the import are being written.
                if number == 6 { try await Self.someImported(victim) }
            }
            #expect(load.status == nil, "the import was over before the kill")
            victim.kill()
            await victim.ended()
            let cut = try await load.finish(within: 30)
            #expect(cut.status == 1 || cut.status == 69, "\(cut.errorText)")
            #expect(cut.errorText.split(separator: "\n").count == 1, "\(cut.errorText)")

            try await victim.start(peers: nodes)
            for (id, revision) in acknowledged { #expect(try await victim.revision("stock", id) == revision, "\(id)") }
            try await nodes.settle("stock", within: 120)
            for (id, revision) in acknowledged {
                #expect(try await nodes[0].revision("stock", id) == revision, "\(id)")
            }
            let documents = try await victim.database("stock")["documents"]?.natural ?? 0
            #expect(documents > 12 && documents < 20_012, "\(documents) documents: the kill came too early or too late")
        }
    }

    private static func someImported(_ node: TestNode) async throws {
        let some = try await eventually(within: 60) {
            (try await node.database("stock")["documents"]?.natural ?? 0) > 300
        }
        try #require(some, "nothing is imported")
    }
}
