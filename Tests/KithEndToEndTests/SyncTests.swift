import KithDocument
import KithTestSupport
import Testing

/// `kith sync` over real nodes.
@Suite(.timeLimit(.minutes(10))) struct SyncTests {
    @Test func aDirectionHoldsOverARestartAndStatusIsHonest() async throws {
        try await Lab.open(nodes: 2) { lab in
            let nodes = try await lab.group(2)
            let (ada, ben) = (nodes[0], nodes[1])
            try await nodes.makeDatabase("notes")
            try await nodes.settle("notes")
            #expect(try await ben.kith("sync", "notes") == "both directions, continuous")
            try await ben.kith("sync", "notes", "--direction", "pull")
            try await ben.kith("put", "notes", "own", "{}")
            try await ben.stop()
            try await ben.start(peers: nodes)
            #expect(try await ben.kith("sync", "notes") == "pull only, continuous")
            try await ada.kith("put", "notes", "one", "{}")
            #expect(try await eventually(within: 60) { try await ben.run(["get", "notes", "one"]).status == 0 })
            let wait = try await ben.run(["wait", "--in-sync", "notes", "--timeout", "1s"])
            #expect(wait.status == 2 && wait.errorText.contains("notes is only pulled here"), "\(wait.errorText)")
            #expect(try await ada.run(["get", "notes", "own"]).status == 2)
            #expect(try await eventually(within: 60) { try await ada.peer(ben)["state"]?.string == "paused" })
            #expect(try await ben.kith("status").contains("0 of 1, pull only"))
            // One synchronisation is done, and leaves the two different.
            let report = try await ben.json("sync", "notes", "--once", "--json")
            #expect(report["exit"]?.natural == 0, "\(report)")
            #expect(report["peers"]?.array?.first?["outcome"]?.string == "done", "\(report)")
            try await ben.kith("sync", "notes", "--direction", "both")
            try await nodes.settle("notes", within: 60)
            #expect(try await ada.kith("get", "notes", "own") == "{}")
        }
    }

    @Test func aFilterIsSetByCommandShownAndEnded() async throws {
        try await Lab.open(nodes: 2) { lab in
            let nodes = try await lab.group(2)
            let (ada, ben) = (nodes[0], nodes[1])
            try await nodes.makeDatabase("notes")
            try await ada.kith("put", "notes", "red", #"{"color":"red"}"#)
            try await ada.kith("put", "notes", "blue", #"{"color":"blue"}"#)
            try await ben.kith("sync", "notes", "--filter", #"{ "color": "red" }"#)
            try await ben.kith("wait", "--in-sync", "notes", "--timeout", "60s")
            #expect(try await ben.kith("get", "notes", "red") == #"{"color":"red"}"#)
            #expect(try await ben.run(["get", "notes", "blue"]).status == 2)
            #expect(try await ben.kith("sync", "notes") == #"both directions, continuous, only {"color":"red"}"#)
            #expect(try await ben.kith("status").contains("1 of 1, filtered"))
            let wrong = try await ben.run(["sync", "notes", "--filter", #"{"a":{"$near":1}}"#])
            #expect(wrong.status != 0 && wrong.errorText.contains("$near"), "\(wrong.errorText)")
            let text = try await ben.run(["sync", "notes", "--filter", "color"])
            #expect(text.status != 0 && text.errorText.contains("the filter is no JSON"), "\(text.errorText)")
            try await ben.kith("sync", "notes", "--filter", #"["blue"]"#)
            try await ben.kith("wait", "--in-sync", "notes", "--timeout", "60s")
            #expect(try await eventually(within: 60) { try await ben.run(["get", "notes", "red"]).status == 2 })
            #expect(try await ben.run(["get", "notes", "blue"]).status == 0)
            try await ben.kith("sync", "notes", "--filter", "none")
            try await nodes.settle("notes", within: 60)
            #expect(try await ben.kith("get", "notes", "red") == #"{"color":"red"}"#)
        }
    }

    @Test func oneSynchronisationEndsWithWhatCameOfIt() async throws {
        try await Lab.open(nodes: 3) { lab in
            let nodes = try await lab.group(3)
            let (ada, ben, cleo) = (nodes[0], nodes[1], nodes[2])
            try await nodes.makeDatabase("notes")
            try await nodes.settle("notes")
            try await ben.kith("sync", "notes", "--mode", "on-demand")
            try await ada.kith("put", "notes", "one", #"{"n":1}"#)
            try await ben.kith("put", "notes", "two", #"{"n":2}"#)
            #expect(try await ben.run(["get", "notes", "one"]).status == 2)
            let text = try await ben.kith("sync", "notes", "--once")
            #expect(text.contains("ada") && text.contains("cleo") && text.contains("in sync"), "\(text)")
            #expect(try await ben.kith("get", "notes", "one") == #"{"n":1}"#)
            #expect(try await cleo.kith("get", "notes", "two") == #"{"n":2}"#)

            try await ada.kith("sync", "notes", "--pause")
            let half = try await ben.run(["sync", "notes", "--once"])
            #expect(half.status == 2 && half.outputText.contains("not offered"), "\(half.outputText) \(half.errorText)")
            let paused = try await ada.run(["sync", "notes", "--once"])
            #expect(paused.status == 1 && paused.errorText.contains("--resume"), "\(paused.errorText)")
            try await ada.kith("sync", "notes", "--resume")
            try await ben.kith("sync", "notes", "--mode", "continuous")
            try await nodes.settle("notes", within: 60)

            try await ada.stop()
            try await cleo.stop()
            let alone = try await ben.run(["sync", "notes", "--once"])
            #expect(alone.status == 2 && alone.errorText.contains("no peer could be reached"), "\(alone.errorText)")
            #expect(try await ben.run(["sync", "nothing", "--once"]).status == 2)
            #expect(try await ben.run(["sync", "notes", "--direction", "up"]).status == 64)
            #expect(try await ben.run(["sync", "notes", "--timeout", "1s"]).status == 64)
        }
    }
}
