import Glibc
import KithDocument
import Testing

/// How what a node may do is changed.
@Suite(.timeLimit(.minutes(10))) struct RoleTests {
    @Test func aWriterIsMadeAReaderAndAWriterAgain() async throws {
        try await Lab.open(nodes: 3) { lab in
            let nodes = try await lab.group(3)
            let (admin, node, other) = (nodes[0], nodes[1], nodes[2])
            try await nodes.makeDatabase("notes")
            try await node.kith("put", "notes", "one", #"{"n":1}"#)
            try await nodes.settle("notes")
            let told = try await admin.run(["role", "ben", "reader"])
            #expect(
                told.status == 0 && told.errorText.contains("ben") && told.errorText.contains("reader"),
                "\(told.errorText)")
            let changed = try await eventually(within: 50) {
                try await node.status()["node"]?["role"]?.string == "reader"
            }
            #expect(changed)
            let refused = try await node.run(["put", "notes", "two", "{}"])
            #expect(refused.status == 1 && refused.errorText.contains("reader"), "\(refused.errorText)")
            // It still gets what the others write.
            try await other.kith("put", "notes", "three", #"{"n":3}"#)
            let arrived = try await eventually(within: 40) {
                try await node.run(["get", "notes", "three"]).status == 0
            }
            #expect(arrived)
            #expect(try await admin.run(["role", "ben", "reader"]).errorText.contains("already"))
            let lines = try await other.run(["members"]).outputText.split(separator: "\n")
            #expect(lines.contains { $0.hasPrefix("ben") && $0.contains("reader") }, "\(lines)")

            // The old certificate says writer, and a restart of all brings that back nowhere.
            for node in nodes { try await node.stop() }
            for node in nodes { try await node.start(peers: nodes) }
            #expect(try await node.status()["node"]?["role"]?.string == "reader")
            #expect(try await node.run(["put", "notes", "two", "{}"]).status == 1)

            // Raised while it is away, it learns so from one who is no admin.
            try await node.stop()
            try await admin.kith("role", "ben", "writer")
            try await other.kith("wait", "--peers", "1")
            let spread = try await eventually(within: 30) {
                try await other.json("members", "--json")["members"]?.array?.contains {
                    $0["name"]?.string == "ben" && $0["role"]?.string == "writer"
                } == true
            }
            #expect(spread)
            try await admin.stop()
            try await node.start(peers: [other])
            let raised = try await eventually(within: 50) {
                try await node.run(["put", "notes", "two", #"{"n":2}"#]).status == 0
            }
            #expect(raised)
            let taken = try await eventually(within: 40) { try await other.run(["get", "notes", "two"]).status == 0 }
            #expect(taken)
            try await [node, other].settleEach("notes")
        }
    }

    @Test func twoReadersDoNotWaitForEachOther() async throws {
        try await Lab.open(nodes: 3) { lab in
            let nodes = try await lab.group(3)
            try await nodes.makeDatabase("notes")
            for name in ["ben", "cleo"] { try await nodes[0].kith("role", name, "reader") }
            for node in nodes.dropFirst() {
                let changed = try await eventually(within: 60) {
                    try await node.status()["node"]?["role"]?.string == "reader"
                }
                #expect(changed)
            }
            try await nodes[0].kith("put", "notes", "one", #"{"n":1}"#)
            // Whether or not they have a link: it is nothing to wait for.
            for node in nodes { try await node.kith("wait", "--peers", "1", "--in-sync", "notes", "--timeout", "60s") }
            for node in nodes.dropFirst() {
                let status = try await node.status()
                let states = (status["peers"]?.array ?? []).map { $0["state"]?.string }
                #expect(states.sorted { ($0 ?? "") < ($1 ?? "") } == ["in_sync", "unknown"], "\(states)")
                let database = status["databases"]?.array?.first
                #expect(database?["peers"]?.natural == 1 && database?["in_sync_with"]?.natural == 1)
                #expect(try await node.run(["get", "notes", "one"]).status == 0)
            }
        }
    }

    @Test func whatCantBeChangedIsSaid() async throws {
        try await Lab.open(nodes: 2) { lab in
            let nodes = try await lab.group(2)
            let cases: [(TestNode, [String], Int32, String)] = [
                (nodes[0], ["role", "ada", "reader"], 1, "is an admin"),
                (nodes[0], ["role", "ben", "admin"], 1, "kith invite --role admin"),
                (nodes[0], ["role", "ben", "king"], 64, "writer or reader"),
                (nodes[0], ["role", "nobody", "reader"], 2, "kith members"),
                (nodes[1], ["role", "ada", "reader"], 1, "only an admin"),
            ]
            for (node, arguments, status, reason) in cases {
                let result = try await node.run(arguments)
                #expect(
                    result.status == status && result.errorText.contains(reason), "\(arguments): \(result.errorText)")
                BadInputTests.expectOneLine(result)
            }
            #expect(try await nodes[1].status()["node"]?["role"]?.string == "writer")
        }
    }

    @Test func aSingleAdminIsAdviceAndNoTrouble() async throws {
        try await Lab.open(nodes: 2) { lab in
            let admin = lab.node("ada")
            try await admin.found("g")
            try await admin.start()
            // Alone it is nobody's single admin.
            #expect(try await RevocationTests.checks(admin).isEmpty)
            let other = lab.node("ben")
            try await other.join(by: admin)
            try await other.start(peers: [admin])
            try await admin.kith("wait")
            for node in [admin, other] {
                let check = try #require(
                    try await RevocationTests.checks(node).first { $0["code"]?.string == "SINGLE_ADMIN" })
                #expect(check["level"]?.string == "ok" && check["action"]?.string?.contains("--role admin") == true)
                #expect(try await node.run(["check"]).line == "OK")
                #expect(try await node.run(["status"]).outputText.contains("SINGLE_ADMIN"))
            }
            #expect(try await admin.run(["help", "single-admin"]).status == 0)
        }
    }
}
