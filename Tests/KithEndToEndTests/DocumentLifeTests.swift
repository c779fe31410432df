import Glibc
import KithDocument
import Testing

/// The life of documents, as commands show it.
@Suite(.timeLimit(.minutes(10))) struct DocumentLifeTests {
    @Test func aDocumentIsMadeChangedDeletedMadeAnewAndPurged() async throws {
        try await Lab.open(nodes: 1) { lab in
            let node = try await lab.group(1)[0]
            try await node.kith("db", "create", "notes")
            let first = try await node.kith("put", "notes", "list", #"{ "milk" : true, "eggs": 10.0 }"#)
            #expect(first.hasPrefix("1-") && first.count == 34)
            #expect(try await node.kith("get", "notes", "list") == #"{"eggs":10,"milk":true}"#)
            // An equal body writes nothing.
            let sequence = try await node.database("notes")["sequence"]
            #expect(try await node.kith("put", "notes", "list", #"{"milk":true,"eggs":1e1}"#) == first)
            #expect(try await node.database("notes")["sequence"] == sequence)

            let second = try await node.kith("put", "notes", "list", #"{"milk":false}"#, "--rev", first)
            #expect(second.hasPrefix("2-"))
            let late = try await node.run(["put", "notes", "list", "{}", "--rev", first])
            #expect(late.status == 1 && late.errorText.contains(second))
            let meta = try await node.json("get", "notes", "list", "--meta")
            #expect(meta["_id"]?.string == "list" && meta["_rev"]?.string == second && meta["milk"]?.bool == false)
            let present = try await node.database("notes")["sequence"]?.natural
            #expect(meta["_sequence"]?.natural == present)
            #expect(try await node.kith("get", "notes", "list", "--rev", second) == #"{"milk":false}"#)

            let tombstone = try await node.kith("delete", "notes", "list", "--rev", second)
            #expect(tombstone.hasPrefix("3-"))
            #expect(try await node.run(["get", "notes", "list"]).status == 2)
            #expect(try await node.run(["delete", "notes", "list"]).status == 2)
            var counts = try await node.database("notes")
            #expect(counts["documents"]?.natural == 0 && counts["deleted"]?.natural == 1)

            let anew = try await node.kith("put", "notes", "list", #"{"bread":1}"#)
            #expect(anew.hasPrefix("4-"))
            #expect(try await node.kith("get", "notes", "list") == #"{"bread":1}"#)
            let history = try await node.json("history", "notes", "list", "--json")
            #expect(history["revisions"]?.array?.compactMap { $0["rev"]?.string } == [first, second, tombstone, anew])
            #expect(try await node.kith("history", "notes", "list").contains(anew))

            #expect(try await node.kith("purge", "notes", "list") == "")
            #expect(try await node.run(["get", "notes", "list"]).status == 2)
            #expect(try await node.run(["history", "notes", "list"]).status == 2)
            counts = try await node.database("notes")
            #expect(counts["documents"]?.natural == 0 && counts["deleted"]?.natural == 0)
            #expect(try await node.lines("changes", "notes").isEmpty)
        }
    }

    @Test func aPurgeIsOfOneNodeAndADeletionOfAll() async throws {
        try await Lab.open(nodes: 2) { lab in
            let nodes = try await lab.group(2)
            try await nodes.makeDatabase("notes")
            try await nodes[0].kith("put", "notes", "purged", #"{"n":1}"#)
            try await nodes[0].kith("put", "notes", "deleted", #"{"n":2}"#)
            try await nodes.settle("notes")
            try await nodes[0].kith("purge", "notes", "purged")
            try await nodes[1].kith("delete", "notes", "deleted")
            let isGone = try await eventually(within: 20) {
                try await nodes[0].run(["get", "notes", "deleted"]).status == 2
            }
            #expect(isGone)
            #expect(try await nodes[1].kith("get", "notes", "purged") == #"{"n":1}"#)
            #expect(try await nodes[0].run(["get", "notes", "purged"]).status == 2)
            try await Self.expectLeftOut(1, by: nodes[0], of: nodes)
            // Another edit brings the purged document back.
            try await nodes[1].kith("put", "notes", "purged", #"{"n":3}"#)
            let isBack = try await eventually(within: 20) {
                try await nodes[0].run(["get", "notes", "purged"]).line == #"{"n":3}"#
            }
            #expect(isBack)
            try await nodes.settle("notes")
            try await Self.expectLeftOut(0, by: nodes[0], of: nodes)
        }
    }

    /// Both nodes say how many documents one of them leaves out, and the other none.
    private static func expectLeftOut(_ count: UInt64, by node: TestNode, of nodes: [TestNode]) async throws {
        for one in nodes {
            let other = nodes.first { $0 !== one }!
            let (here, there) = one === node ? (count, 0) : (0, count)
            var shown: JSONValue?
            let isTold = try await eventually(within: 30) {
                shown = try await one.peer(other)["databases"]?.array?.first { $0["name"]?.string == "notes" }
                return shown?["left_out_here"]?.natural == here && shown?["left_out_by_peer"]?.natural == there
            }
            #expect(isTold, "\(one.name): \(String(describing: shown))")
        }
    }

    /// What is known of a peer is known of the node, not of where it was met.
    @Test func anEditOfAPulledDocumentGoesBackToAPeerWithANewAddress() async throws {
        try await Lab.open(nodes: 2) { lab in
            let nodes = try await lab.group(2)
            let (ada, ben) = (nodes[0], nodes[1])
            try await nodes.makeDatabase("notes")
            let first = try await ada.kith("put", "notes", "doc", #"{"n":1}"#)
            try await nodes.settle("notes")
            let address = ada.address
            try await ada.stop()
            let second = try await ben.kith("put", "notes", "doc", #"{"n":2}"#)
            try await ada.start(listening: "127.0.0.1:0", peers: [ben])
            #expect(ada.address != address)
            try await nodes.settle("notes")
            for node in nodes {
                #expect(try await node.revision("notes", "doc") == second)
                #expect(try await node.kith("get", "notes", "doc") == #"{"n":2}"#)
                #expect(try await node.database("notes")["conflicts"]?.natural == 0)
                let history = try await node.json("history", "notes", "doc", "--json")
                #expect(history["revisions"]?.array?.compactMap { $0["rev"]?.string } == [first, second])
            }
            // It was asked for the one document alone.
            let shown = try await ada.peer(ben)["databases"]?.array?.first
            #expect(shown?["pulled"]?.natural == 1, "\(String(describing: shown))")
        }
    }

    @Test func changesComeInOrderSinceALimitAndAsTheyHappen() async throws {
        try await Lab.open(nodes: 1) { lab in
            let node = try await lab.group(1)[0]
            try await node.kith("db", "create", "notes")
            var revisions: [String] = []
            for number in 1...4 { revisions.append(try await node.kith("put", "notes", "d\(number)", "{}")) }
            revisions[1] = try await node.kith("delete", "notes", "d2")
            let all = try await node.lines("changes", "notes")
            #expect(all.compactMap { $0["id"]?.string } == ["d1", "d3", "d4", "d2"])
            #expect(all.compactMap { $0["rev"]?.string } == [0, 2, 3, 1].map { revisions[$0] })
            #expect(all.compactMap { $0["deleted"]?.bool } == [false, false, false, true])
            let sequences = all.compactMap { $0["seq"]?.natural }
            #expect(sequences.count == 4 && sequences == sequences.sorted() && Set(sequences).count == 4)
            #expect(try await node.lines("changes", "notes", "--since", "\(sequences[1])") == Array(all[2...]))
            #expect(try await node.lines("changes", "notes", "--limit", "3") == Array(all[..<3]))
            #expect(
                try await node.lines("changes", "notes", "--since", "\(sequences[0])", "--limit", "1") == [all[1]])
            #expect(try await node.lines("changes", "notes", "--since", "\(sequences[3])").isEmpty)

            let follower = try node.program(["changes", "notes", "--follow", "--since", "\(sequences[2])"])
            func ids() throws -> [String] {
                try follower.output.split(separator: UInt8(ascii: "\n"))
                    .compactMap { try JSONValue(parsing: Array($0))["id"]?.string }
            }
            #expect(try await eventually(within: 20) { try ids() == ["d2"] })
            try await node.kith("put", "notes", "d5", "{}")
            #expect(try await eventually(within: 40) { try ids() == ["d2", "d5"] })
            try await node.kith("put", "notes", "d1", #"{"new":1}"#)
            #expect(try await eventually(within: 40) { try ids() == ["d2", "d5", "d1"] })
            // The end of the node is the end of what it tells.
            try await node.stop()
            _ = try await follower.finish(within: 20)
        }
    }

    @Test func aManualPolicyLeavesConflictsToPeople() async throws {
        try await Lab.open(nodes: 2) { lab in
            let nodes = try await lab.group(2)
            try await nodes.makeDatabase("notes")
            let manual = #"{"default":"manual"}"#
            #expect(try await nodes[0].kith("policy", "notes", manual) == manual)
            let isSet = try await eventually(within: 20) { try await nodes[1].kith("policy", "notes") == manual }
            try #require(isSet)
            try await nodes[0].kith("put", "notes", "one", #"{"by":"all"}"#)
            try await nodes[0].kith("put", "notes", "two", #"{"by":"all"}"#)
            try await nodes.settle("notes")
            try await nodes.pauseAll()
            for node in nodes {
                try await node.kith("put", "notes", "one", #"{"by":"\#(node.name)"}"#)
                try await node.kith("put", "notes", "two", #"{"by":"\#(node.name)"}"#)
            }
            try await nodes.resumeAll()
            try await nodes.settle("notes")

            let listed = try await nodes[0].json("conflicts", "notes", "--json")
            #expect(listed.array?.count == 2)
            #expect(try await nodes[1].json("conflicts", "notes", "--json") == listed)
            let leaves = listed[0]?["leaves"]?.array?.compactMap(\.string) ?? []
            #expect(leaves.count == 2 && listed[0]?["winner"]?.string == leaves.first)
            let meta = try await nodes[1].json("get", "notes", "one", "--meta")
            #expect(meta["_conflicts"]?.array?.compactMap(\.string) == Array(leaves.dropFirst()))
            let check = try await nodes[0].run(["check"])
            #expect(check.status == 1 && check.outputText.contains("CONFLICTS"), "\(check.outputText)")
            #expect(try await nodes[0].database("notes")["conflicts"]?.natural == 2)

            // The one that would not win by itself stays.
            let kept = try #require(leaves.last)
            let body = try await nodes[0].kith("get", "notes", "one", "--rev", kept)
            #expect(try await nodes[0].kith("resolve", "notes", "one", "--keep", kept) == kept)
            try await nodes.settle("notes")
            for node in nodes {
                #expect(try await node.kith("get", "notes", "one") == body)
                #expect(try await node.json("conflicts", "notes", "--json").array?.count == 1)
            }
            // Another policy merges what is left.
            try await nodes[0].kith("policy", "notes", #"{"default":"latest"}"#)
            let isMerged = try await eventually(within: 20) {
                for node in nodes where try await node.kith("conflicts", "notes") != "" { return false }
                return true
            }
            #expect(isMerged)
            try await nodes.settle("notes")
            let two = try await nodes[0].kith("get", "notes", "two")
            #expect(try await nodes[1].kith("get", "notes", "two") == two)
            #expect(try await nodes[0].run(["check"]).status == 0)
        }
    }

    @Test func fieldsWithPoliciesOfTheirOwnKeepWhatBothSidesDid() async throws {
        try await Lab.open(nodes: 2) { lab in
            let nodes = try await lab.group(2)
            try await nodes.makeDatabase("notes")
            let policy =
                #"{"default":"latest","paths":{"/count":"max","/low":"min","/tags":"union"},"together":[["/status","/completedAt"]]}"#
            #expect(try await nodes[0].kith("policy", "notes", "-", input: Array(policy.utf8)) == policy)
            let isSet = try await eventually(within: 20) {
                try await nodes[1].kith("policy", "notes", "--json") == policy
            }
            try #require(isSet)
            let first = #"{"count":1,"low":9,"status":"open","tags":["b","a"],"title":"x"}"#
            for id in ["one", "two"] { try await nodes[0].kith("put", "notes", id, first) }
            try await nodes.settle("notes")
            try await nodes.pauseAll()
            try await nodes[0].kith(
                "put", "notes", "one",
                #"{"completedAt":5,"count":7,"low":8.5,"status":"done","tags":["b","a","c"],"title":"x"}"#)
            try await nodes[1].kith(
                "put", "notes", "one", #"{"count":3,"low":-2,"status":"open","tags":["b","d"],"title":"y"}"#)
            try await nodes[0].kith("put", "notes", "two", #"{"count":1,"low":9,"status":"open","tags":["b","a"]}"#)
            try await nodes[1].kith(
                "put", "notes", "two", #"{"count":2,"low":9,"status":"open","tags":["b","a"],"title":"x"}"#)
            try await nodes.resumeAll()
            try await nodes.settle("notes")
            for node in nodes {
                let one = #"{"completedAt":5,"count":7,"low":-2,"status":"done","tags":["a","b","c","d"],"title":"y"}"#
                #expect(try await node.kith("get", "notes", "one") == one)
                #expect(
                    try await node.kith("get", "notes", "two")
                        == #"{"count":2,"low":9,"status":"open","tags":["b","a"]}"#)
                #expect(try await node.kith("conflicts", "notes") == "")
                #expect(try await node.run(["check"]).status == 0)
            }
        }
    }

    @Test func aPolicyByPathMergesWhatThePolicyBeforeLeft() async throws {
        try await Lab.open(nodes: 2) { lab in
            let nodes = try await lab.group(2)
            try await nodes.makeDatabase("notes")
            let manual = #"{"default":"manual"}"#
            try await nodes[0].kith("policy", "notes", manual)
            let isSet = try await eventually(within: 20) { try await nodes[1].kith("policy", "notes") == manual }
            try #require(isSet)
            try await nodes.pauseAll()
            for (node, count) in zip(nodes, [4, 6]) {
                try await node.kith("put", "notes", "one", "{\"count\":\(count),\"\(node.name)\":true}")
            }
            try await nodes.resumeAll()
            try await nodes.settle("notes")
            #expect(try await nodes[1].kith("conflicts", "notes") != "")
            try await nodes[0].kith("policy", "notes", #"{"default":"latest","paths":{"/count":"max"}}"#)
            let isMerged = try await eventually(within: 20) {
                for node in nodes where try await node.kith("conflicts", "notes") != "" { return false }
                return true
            }
            #expect(isMerged)
            try await nodes.settle("notes")
            for node in nodes { #expect(try await node.json("get", "notes", "one")["count"]?.natural == 6) }
        }
    }
}
