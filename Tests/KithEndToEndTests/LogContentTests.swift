import Glibc
import KithDocument
import Testing

/// What nodes write to their logs, and what they never do.
@Suite(.timeLimit(.minutes(10))) struct LogContentTests {
    @Test func nothingOfADocumentNoKeyAndNoCodeIsEverLogged() async throws {
        try await Lab.open(nodes: 3) { lab in
            let (ada, ben, cleo) = (lab.node("ada"), lab.node("ben"), lab.node("cleo"))
            try await ada.found("testers")
            try await ada.start(options: ["--log", "trace"])
            let code = try await ada.kith("invite")
            try await ben.kith("join", code, "--name", "ben", "--peer", try #require(ada.address))
            _ = try await cleo.run(["join", code, "--name", "cleo", "--peer", try #require(ada.address)])
            try await ben.start(peers: [ada], options: ["--log", "trace"])
            try await ada.kith("wait")
            let nodes = [ada, ben]
            try await nodes.makeDatabase("notes")
            let marker = "zebra-marker"
            try await ada.kith("put", "notes", "one", #"{"\#(marker)-name":"\#(marker)-value"}"#)
            _ = try await ada.run(["put", "notes", "two", #"{"\#(marker)": nonsense}"#])
            _ = try await ada.run(["put", "notes", "one", #"{"_\#(marker)":1}"#])
            try await nodes.settle("notes")
            try await nodes.pauseAll()
            try await ada.kith("put", "notes", "one", #"{"\#(marker)-name":"\#(marker)-ada"}"#)
            try await ben.kith("put", "notes", "one", #"{"\#(marker)-name":"\#(marker)-ben"}"#)
            try await ben.kith("delete", "notes", "one")
            try await nodes.resumeAll()
            try await nodes.settle("notes")
            _ = try await ada.run(
                ["import", "notes", "-"], input: Array("{\"_id\":\"x\",\"v\":\"\(marker)\"}\n{\"\(marker)\"".utf8))
            let key = Files.read(ada.directory + "/identity.pem")
            let secrets = String(decoding: key, as: UTF8.self).split(separator: "\n").filter { $0.utf8.count > 40 }
            #expect(!secrets.isEmpty)
            for node in nodes {
                #expect(node.log.contains(" info "), "\(node.name) logs nothing")
                #expect(!node.log.contains("zebra"), "\(node.log)")
                #expect(!node.log.contains(code) && !node.log.contains("PRIVATE KEY"))
                for line in secrets { #expect(!node.log.contains(line)) }
            }
        }
    }

    @Test func aSignalWritesTheStatusToTheLog() async throws {
        try await Lab.open(nodes: 2) { lab in
            let nodes = try await lab.group(2)
            try await nodes.makeDatabase("notes")
            try await nodes.settle("notes")
            let ada = nodes[0]
            #expect(kill(try #require(ada.processID), SIGUSR1) == 0)
            let told = try await eventually(within: 20) { ada.log.contains("status of a peer") }
            #expect(told, "\(ada.log)")
            #expect(ada.log.contains("status of a database database=notes"), "\(ada.log)")
            #expect(ada.log.contains("name=ben") && ada.log.contains("state=in_sync"), "\(ada.log)")
            #expect(try await ada.run(["check"]).status == 0)
        }
    }

    @Test func asJSONEveryLineIsAnObject() async throws {
        try await Lab.open(nodes: 1) { lab in
            let ada = lab.node("ada")
            try await ada.found("testers")
            try await ada.start(options: ["--log", "debug", "--log-format", "json", "--peer", "127.0.0.1:1"])
            let dialled = try await eventually(within: 20) { ada.log.contains("a dial failed") }
            #expect(dialled, "\(ada.log)")
            for line in ada.log.split(separator: "\n") {
                let value = try JSONValue(parsing: Array(line.utf8))
                #expect(value["time"]?.string?.hasSuffix("Z") == true && value["message"]?.string != nil)
            }
            let wrong = try await ada.run(["start", "--log-format", "xml"])
            #expect(wrong.status == 64 && wrong.errorText.contains("text or json"))
        }
    }

    /// A peer that is away costs a line, not a line for each attempt.
    @Test func peersThatAreAwayAreNotToldOfAgainAndAgain() async throws {
        try await Lab.open(nodes: 1) { lab in
            let ada = lab.node("ada")
            try await ada.found("testers")
            let peers = (1...20).flatMap { ["--peer", "127.0.0.1:\($0)"] }
            try await ada.start(options: peers)
            try await Task.sleep(for: .seconds(8))
            #expect(ada.log.utf8.count < 2_000, "\(ada.log)")
        }
    }

    @Test func afterARestartPeersThatAreAwayAreCalledByName() async throws {
        try await Lab.open(nodes: 2) { lab in
            let nodes = try await lab.group(2)
            let (ada, ben) = (nodes[0], nodes[1])
            try await nodes.makeDatabase("notes")
            try await nodes.settle("notes")
            try await ben.stop()
            try await ada.stop()
            try await ada.start()
            let peer = try await ada.peer(ben)
            #expect(peer["name"]?.string == "ben" && peer["state"]?.string == "unknown", "\(peer)")
            #expect(peer["last_exchange_at"]?.string?.hasSuffix("Z") == true, "\(peer)")
            #expect(try await ada.kith("status", "ben").contains("not connected"))
        }
    }
}
