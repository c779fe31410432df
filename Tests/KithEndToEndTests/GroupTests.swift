import Glibc
import KithDocument
import Testing

/// How nodes come into a group, and what their roles allow.
@Suite(.timeLimit(.minutes(10))) struct GroupTests {
    @Test func aReaderReadsAndDoesNotWrite() async throws {
        try await Lab.open(nodes: 3) { lab in
            let admin = try await lab.group(1)[0]
            let reader = lab.node("rita")
            try await reader.join(by: admin, role: "reader")
            try await reader.start(peers: [admin])
            try await admin.kith("wait")
            let nodes = [admin, reader]
            try await nodes.makeDatabase("notes")
            let revision = try await admin.kith("put", "notes", "one", #"{"n":1}"#)
            try await nodes.settle("notes")
            #expect(try await reader.status()["node"]?["role"]?.string == "reader")
            #expect(try await reader.kith("get", "notes", "one") == #"{"n":1}"#)
            let before = try await reader.database("notes")["digest"]
            let refused: [[String]] = [
                ["put", "notes", "two", "{}"], ["delete", "notes", "one"], ["import", "notes", "-"],
                ["resolve", "notes", "one", "--keep", revision], ["policy", "notes", #"{"default":"manual"}"#],
                ["invite"], ["db", "create", "more"], ["role", "ada", "reader"], ["revoke", "ada", "--yes"],
            ]
            for arguments in refused {
                let result = try await reader.run(arguments, input: Array("{\"n\":2}\n".utf8))
                #expect(result.status == 1, "\(arguments): \(result.errorText)")
                #expect(result.errorText.contains("reader"), "\(arguments): \(result.errorText)")
                BadInputTests.expectOneLine(result)
            }
            #expect(try await reader.database("notes")["digest"] == before)
            // The others never wait for it.
            let writer = lab.node("walt")
            try await writer.join(by: admin)
            try await writer.start(peers: nodes)
            try await writer.kith("wait", "--peers", "2", "--in-sync", "notes")
            try await writer.kith("put", "notes", "three", #"{"n":3}"#)
            let arrived = try await eventually(within: 20) {
                try await reader.run(["get", "notes", "three"]).status == 0
            }
            #expect(arrived)
        }
    }

    @Test func aSecondAdminNeedsTheKeyOfTheRootThatWasPutAway() async throws {
        try await Lab.open(nodes: 3) { lab in
            let first = lab.node("ada")
            let root = "\(lab.folder)/root.pem"
            try await first.kith("init", "--group", "g", "--name", "ada", "--root-out", root)
            try await first.start()
            let without = try await first.run(["invite", "--role", "admin"])
            #expect(without.status == 1, "\(without.errorText)")
            BadInputTests.expectOneLine(without)
            let code = try await first.kith("invite", "--role", "admin", "--root", root)
            let second = lab.node("ben")
            // The code may come from standard input, so that it is in nobody's history.
            let joined = try await second.run(
                ["join", "-", "--name", "ben", "--peer", try #require(first.address)], input: Array("  \(code)\n".utf8))
            try #require(joined.status == 0, "\(joined.errorText)")
            try await second.start(peers: [first])
            #expect(try await second.status()["node"]?["role"]?.string == "admin")
            // It can let others in while the first is away.
            try await first.stop()
            let third = lab.node("cleo")
            try await third.join(by: second)
            try await third.start(peers: [second])
            try await third.kith("wait")
            try await first.start(peers: [second, third])
            try await together([first, second, third]) { try await $0.kith("wait", "--peers", "2") }
        }
    }

    @Test func whoLeftKeepsItsDatabasesAndIsLetInNoMore() async throws {
        try await Lab.open(nodes: 2) { lab in
            let nodes = try await lab.group(2)
            try await nodes.makeDatabase("notes")
            try await nodes[0].kith("put", "notes", "one", #"{"n":1}"#)
            try await nodes.settle("notes")
            try await nodes[1].stop()
            try await nodes[1].kith("leave")
            let lost = try await nodes[1].run(["start", "--no-discovery", "--listen", "127.0.0.1:0"])
            #expect(lost.status == 1 && lost.errorText.contains("kith join"), "\(lost.errorText)")
            BadInputTests.expectOneLine(lost)
            // In again it is another node with the same documents.
            let before = nodes[1].id
            try await nodes[1].join(by: nodes[0])
            #expect(nodes[1].id != before)
            try await nodes[1].start(peers: nodes)
            try await nodes.settle("notes")
            #expect(try await nodes[1].kith("get", "notes", "one") == #"{"n":1}"#)
            #expect(try await nodes[1].peer(nodes[0])["databases"]?[0]?["pulled"]?.natural == 0)
        }
    }

    @Test func aNodeTakesTheNextFreePortAndKeepsIt() async throws {
        try await Lab.open(nodes: 2) { lab in
            let nodes = [lab.node("ada"), lab.node("ben")]
            var ports: [Substring] = []
            for node in nodes {
                try await node.found("g-\(node.name)")
                try await node.start(listening: nil)
                ports.append(try #require(node.address?.split(separator: ":").last))
            }
            #expect(Set(ports).count == 2)
            for node in nodes { try await node.stop() }
            // In the other order each would take the other's, did it not remember its own.
            for (node, port) in zip(nodes, ports).reversed() {
                try await node.start(listening: nil)
                #expect(node.address?.split(separator: ":").last == port)
            }
        }
    }
}
