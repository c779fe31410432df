import Glibc
import KithDocument
import KithHTTPCore
import Testing

/// What a running node says is wrong, that it says since when, and that it stops when it is over.
@Suite(.timeLimit(.minutes(10))) struct HealthTests {
    @Test func withoutABusDiscoveryIsDownAndTheRestGoesOn() async throws {
        try await Lab.open(nodes: 2) { lab in
            let (ada, ben) = (lab.node("ada"), lab.node("ben"))
            try await ada.found("testers")
            try await ada.start()
            try await ben.join(by: ada)
            let process = try ChildProgram(
                ["start", "--listen", "127.0.0.1:0", "--peer", try #require(ada.address)], in: lab.folder,
                environment: [
                    "KITH_DATA=\(ben.directory)", "DBUS_SYSTEM_BUS_ADDRESS=unix:path=\(lab.folder)/no-bus",
                ])
            let isReady = try await eventually(within: 30) { !process.output.isEmpty }
            #expect(isReady)
            let check = try await ben.reaches("DISCOVERY_DOWN")
            #expect(check["summary"]?.string?.contains("can't be found") == true, "\(check)")
            #expect(try await ben.status()["discovery"]?["state"]?.string == "unavailable")
            // Whom it knows it replicates with all the same.
            try await [ada, ben].makeDatabase("notes")
            try await [ada, ben].writeEach("without-a-bus", in: "notes")
            try await [ada, ben].settle("notes")
            try await Task.sleep(for: .seconds(3))
            #expect(try await ben.check("DISCOVERY_DOWN")?["since"] == check["since"])
            process.signal(SIGTERM)
            let ended = try await process.finish(within: 20)
            #expect(ended.status == 0)
            let lines = ended.errorText.split(separator: "\n")
            #expect(lines.count { $0.contains("a health check began code=DISCOVERY_DOWN") } == 1, "\(ended.errorText)")
            #expect(ended.errors.count < 8_000, "\(ended.errorText)")
        }
    }

    @Test func conflictsAreCountedFirstOnEveryNodeUntilTheyAreResolved() async throws {
        try await Lab.open(nodes: 2) { lab in
            let nodes = try await lab.group(2)
            let (ada, ben) = (nodes[0], nodes[1])
            try await nodes.makeDatabase("notes")
            try await ada.kith("policy", "notes", #"{"default":"manual"}"#)
            try await nodes.settle("notes")
            try await nodes.pauseAll()
            try await ada.kith("put", "notes", "one", #"{"by":"ada"}"#)
            try await ben.kith("put", "notes", "one", #"{"by":"ben"}"#)
            try await nodes.resumeAll()
            try await nodes.settle("notes")
            for node in nodes {
                let check = try await node.reaches("CONFLICTS")
                #expect(check["summary"]?.string == "one document has more than one version")
                #expect(try await node.database("notes")["conflicts"]?.natural == 1)
                let text = try await node.kith("status")
                let first = text.split(separator: "\n").prefix(2)
                #expect(first[0].hasPrefix("health     warning") && first[1].contains("CONFLICTS"), "\(text)")
                #expect(try await node.kith("metrics").contains(#"kith_database_conflicts{database="notes"} 1"#))
            }
            let winner = try #require(try await ben.revision("notes", "one"))
            try await ben.kith("resolve", "notes", "one", "--keep", winner)
            for node in nodes { try await node.leaves("CONFLICTS") }
            try await nodes.settle("notes")
            #expect(ada.log.contains("a health check is over code=CONFLICTS"))
        }
    }

    @Test func aDocumentThatWasTamperedWithIsRefusedAndTheOthersComeThrough() async throws {
        try await Lab.open(nodes: 2) { lab in
            let nodes = try await lab.group(2)
            let (ada, ben) = (nodes[0], nodes[1])
            try await nodes.makeDatabase("notes")
            try await nodes.settle("notes")
            try await ada.kith("pause")
            try await ben.kith("put", "notes", "bad", #"{"text":"what was written"}"#)
            try await ben.kith("put", "notes", "good", #"{"text":"another thing"}"#)
            let path = try #require(try await ben.database("notes")["path"]?.string)
            try await ben.stop()
            await ben.willLose("notes")
            try Self.replace("what was written", with: "what was forged!", in: path)
            try await ben.start(peers: nodes)
            try await ada.kith("resume")
            let check = try await ada.reaches("DOCUMENTS_REFUSED")
            #expect(check["summary"]?.string?.contains("notes") == true, "\(check)")
            let came = try await eventually(within: 30) { try await ada.run(["get", "notes", "good"]).status == 0 }
            #expect(came)
            #expect(try await ada.run(["get", "notes", "bad"]).status == 2)
            #expect(ada.log.contains("refused a document"))
            #expect(!ada.log.contains("forged") && !ben.log.contains("forged"))
            // A new edit of it mends it.
            try await ben.kith("put", "notes", "bad", #"{"text":"written anew"}"#)
            try await ada.leaves("DOCUMENTS_REFUSED")
            #expect(try await ada.kith("get", "notes", "bad") == #"{"text":"written anew"}"#)
            try await nodes.settle("notes")
        }
    }

    private static func replace(_ old: String, with new: String, in path: String) throws {
        var bytes = Files.read(path)
        let (old, new) = (Array(old.utf8), Array(new.utf8))
        try #require(old.count == new.count)
        var places: [Int] = []
        for place in 0..<max(0, bytes.count - old.count) where bytes[place] == old[0] {
            if Array(bytes[place..<(place + old.count)]) == old { places.append(place) }
        }
        try #require(!places.isEmpty, "the file \(path) does not have it")
        for place in places { bytes.replaceSubrange(place..<(place + new.count), with: new) }
        try Files.write(bytes, to: path)
    }

    @Test func aStoreThatCantWriteBlocksItsPeersAndRecovers() async throws {
        try await Lab.open(nodes: 2) { lab in
            let nodes = try await lab.group(2)
            let (ada, ben) = (nodes[0], nodes[1])
            try await nodes.makeDatabase("notes")
            try await ada.kith("put", "notes", "zero", #"{"n":0}"#)
            try await nodes.settle("notes")
            // No file of ada's may grow from here on: every write to a database fails.
            try await Self.limitFiles(of: ada, to: "1", lab)
            try await ben.kith("put", "notes", "one", #"{"n":1}"#)
            let check = try await ada.reaches("PEER_BLOCKED", level: "critical")
            #expect(check["summary"]?.string?.contains("ben") == true, "\(check)")
            #expect(try await ada.peer(ben)["state"]?.string == "blocked")
            #expect(try await ada.peer(ben)["reason"]?.string?.contains("notes") == true)
            #expect(try await ada.run(["put", "notes", "two", #"{"n":2}"#]).status == 1)
            try await ada.reaches("STORAGE_FAILED", level: "critical")
            #expect(try await ada.kith("get", "notes", "zero") == #"{"n":0}"#)
            // Nobody is called in sync meanwhile, on neither side.
            #expect(try await ben.peer(ada)["state"]?.string != "in_sync")
            try await Self.limitFiles(of: ada, to: "unlimited", lab)
            try await nodes.settle("notes")
            for code in ["PEER_BLOCKED", "STORAGE_FAILED"] { try await ada.leaves(code) }
            #expect(try await ada.kith("get", "notes", "one") == #"{"n":1}"#)
            #expect(try await ada.run(["check"]).status == 0)
        }
    }

    private static func limitFiles(of node: TestNode, to size: String, _ lab: Lab) async throws {
        let pid = try #require(node.processID)
        let program = try ChildProgram(
            ["--pid", "\(pid)", "--fsize=\(size):unlimited"], of: "/usr/bin/prlimit", in: lab.folder)
        let result = try await program.finish(within: 20)
        try #require(result.status == 0, "no limit: \(result.errorText)")
    }

    @Test func aPauseIsACheckUntilItEnds() async throws {
        try await Lab.open(nodes: 1) { lab in
            let ada = try await lab.group(1)[0]
            try await ada.kith("pause", "--for", "1h")
            #expect(try await ada.reaches("PAUSED")["summary"]?.string == "replication with all peers is paused")
            // Who has seen it wants to hear no more of it, over a restart too.
            try await ada.kith("mute", "paused", "--for", "1d")
            for _ in 1...2 {
                #expect(try await ada.run(["check"]).outputText == "OK\n")
                #expect(try await ada.check("PAUSED")?["muted_until"]?.string != nil)
                #expect(try await ada.kith("status").contains("\nmuted      PAUSED (23h 59m left)\n"))
                try await ada.stop()
                try await ada.start()
            }
            #expect(try await ada.run(["mute", "nonsense"]).status == 64)
            try await ada.kith("unmute")
            try await ada.reaches("PAUSED")
            try await ada.kith("resume")
            try await ada.leaves("PAUSED")
            #expect(try await ada.run(["check"]).outputText == "OK\n")
        }
    }

    @Test func theMetricsOfARunningNodeAreServedToAnyProgram() async throws {
        try await Lab.open(nodes: 2) { lab in
            let nodes = try await lab.group(2)
            try await nodes.makeDatabase("notes")
            try await nodes[0].kith("put", "notes", "one", #"{"n":1}"#)
            try await nodes.settle("notes")
            let text = try await nodes[0].kith("metrics")
            #expect(text.hasSuffix("# EOF"))
            #expect(text.contains(#"kith_database_documents{database="notes"} 1"#))
            #expect(text.contains(#"kith_peers{state="in_sync"} 1"#))
            #expect(text.contains("kith_health_level 0\n"))
            #expect(text.contains(#"name="ben",state="in_sync"} 1"#))
            let client = HTTPClient(.unixSocket(nodes[0].socket))
            let answer = try client.send(HTTPClientRequest(method: "GET", target: "/v1/metrics"))
            #expect(answer.head.headers["Content-Type"]?.hasPrefix("application/openmetrics-text") == true)
        }
    }
}
