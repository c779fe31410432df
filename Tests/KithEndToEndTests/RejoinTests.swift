import Glibc
import KithDocument
import KithTestSupport
import Testing

/// Leaving and joining again, here and elsewhere.
@Suite(.timeLimit(.minutes(10))) struct RejoinTests {
    @Test func backInItsGroupANodeTransfersNothingTwice() async throws {
        try await Lab.open(nodes: 3) { lab in
            let nodes = try await lab.group(3)
            try await nodes.makeDatabase("notes")
            let lines = (0..<500).map { #"{"_id":"doc-\#($0)","n":\#($0)}"# }.joined(separator: "\n")
            try await nodes[0].kith("import", "notes", "-", input: Array(lines.utf8))
            try await nodes.settle("notes")
            try await nodes[1].stop()
            try await nodes[1].kith("leave")
            // What is written while it is in no group comes with it.
            try await nodes[0].kith("put", "notes", "later", "{}")
            // Of the same group: nothing to ask.
            try await nodes[1].join(by: nodes[0])
            try await nodes[1].start(peers: nodes)
            try await nodes.settle("notes")
            var pulled: UInt64 = 0
            for (node, peer) in [(nodes[1], nodes[0]), (nodes[1], nodes[2])] {
                let database = try await node.peer(peer)["databases"]?[0]
                pulled += try #require(database?["pulled"]?.natural)
                let other = try await peer.peer(node)["databases"]?[0]
                #expect(other?["pulled"]?.natural == 0, "\(peer.name) took what it had")
            }
            // Counted for the present links only; one may have been made anew.
            #expect(pulled <= 1, "\(pulled) documents came to a node that lacked one")
            try await nodes.settle("notes")
        }
    }

    @Test func conflictsThatWereLeftToPeopleAreNotMergedByLeaving() async throws {
        try await Lab.open(nodes: 2) { lab in
            let nodes = try await lab.group(2)
            try await nodes.makeDatabase("notes")
            let manual = #"{"default":"manual"}"#
            try await nodes[0].kith("policy", "notes", manual)
            let isSet = try await eventually(within: 40) { try await nodes[1].kith("policy", "notes") == manual }
            try #require(isSet)
            try await nodes[0].kith("put", "notes", "one", #"{"by":"all"}"#)
            try await nodes.settle("notes")
            try await nodes.pauseAll()
            for node in nodes { try await node.kith("put", "notes", "one", #"{"by":"\#(node.name)"}"#) }
            try await nodes.resumeAll()
            try await nodes.settle("notes")
            let listed = try await nodes[0].json("conflicts", "notes", "--json")
            #expect(listed.array?.count == 1)

            try await nodes[1].stop()
            try await nodes[1].kith("leave")
            try await nodes[1].join(by: nodes[0])
            try await nodes[1].start(peers: nodes)
            try await nodes[0].kith("put", "notes", "later", "{}")
            try await nodes.settle("notes")
            for node in nodes { #expect(try await node.json("conflicts", "notes", "--json") == listed) }
        }
    }

    @Test func joiningAnotherGroupWithDatabasesAsksFirst() async throws {
        try await Lab.open(nodes: 2) { lab in
            let (one, two) = (lab.node("ada"), lab.node("zoe"))
            let root = "\(lab.folder)/root.pem"
            try await one.kith("init", "--group", "old", "--name", "ada", "--root-out", root)
            try await one.start()
            try await one.kith("db", "create", "notes")
            try await one.kith("put", "notes", "mine", #"{"from":"old"}"#)
            try await one.stop()
            try await two.found("new")
            try await two.start()
            try await two.kith("db", "create", "notes")
            try await two.kith("put", "notes", "theirs", #"{"from":"new"}"#)
            try await one.kith("leave")

            let code = try await two.kith("invite")
            let address = try #require(two.address)
            let asked = try await one.run(["join", code, "--name", "ada", "--peer", address])
            #expect(asked.status == 64, "\(asked.errorText)")
            for word in ["old", "notes", "merge", "--yes"] {
                #expect(asked.errorText.contains(word), "\(asked.errorText)")
            }
            BadInputTests.expectOneLine(asked)
            // The code was not used up.
            let joined = try await one.run(["join", code, "--name", "ada", "--peer", address, "--yes"])
            try #require(joined.status == 0, "\(joined.errorText)")
            try await one.start(peers: [two])
            try await one.kith("wait", "--in-sync", "notes")
            try await [one, two].settleEach("notes")
            for node in [one, two] {
                #expect(try await node.kith("get", "notes", "mine") == #"{"from":"old"}"#)
                #expect(try await node.kith("get", "notes", "theirs") == #"{"from":"new"}"#)
            }
        }
    }

    @Test func theOnlyAdminIsAskedBeforeItLeaves() async throws {
        try await Lab.open(nodes: 2) { lab in
            let admin = lab.node("ada")
            let root = "\(lab.folder)/root.pem"
            try await admin.kith("init", "--group", "g", "--name", "ada", "--root-out", root)
            try await admin.start()
            let other = lab.node("ben")
            try await other.join(by: admin)
            try await other.start(peers: [admin])
            try await admin.kith("wait")
            let running = try await admin.run(["leave", "--yes"])
            #expect(running.status == 1 && !running.errorText.isEmpty)
            try await admin.stop()
            let asked = try await admin.run(["leave"])
            #expect(asked.status == 64 && asked.errorText.contains("only admin"), "\(asked.errorText)")
            BadInputTests.expectOneLine(asked)
            #expect(try await admin.run(["leave", "--yes"]).status == 0)
        }
    }

    @Test func codesTriedAtTheWrongAdminBurnItsInvites() async throws {
        try await Lab.open(nodes: 3) { lab in
            let admin = lab.node("ada")
            try await admin.found("g")
            try await admin.start()
            let second = lab.node("ben")
            try await second.join(by: admin, role: "admin")
            try await second.start(peers: [admin])
            let code = try await admin.kith("invite")
            let foreign = try await second.kith("invite")
            let guest = lab.node("carl")
            func join(_ code: String) async throws -> ChildProgram.Finished {
                try await guest.run(["join", code, "--name", "carl", "--peer", try #require(admin.address)])
            }
            for _ in 0..<5 {
                let result = try await join(foreign)
                #expect(
                    result.status == 1 && result.errorText.contains("does not know this code"), "\(result.errorText)")
            }
            let burnt = try await join(code)
            #expect(burnt.status == 1 && burnt.errorText.contains("burnt"), "\(burnt.errorText)")
            BadInputTests.expectOneLine(burnt)
            // A new one works, and the other admin's too, at the other admin.
            let fresh = try await join(try await admin.kith("invite"))
            #expect(fresh.status == 0, "\(fresh.errorText)")
        }
    }
}
