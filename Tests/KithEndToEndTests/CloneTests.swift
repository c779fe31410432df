import Glibc
import KithDocument
import Testing

/// Directories of nodes that were moved or copied to another machine, and two nodes with one identity.
@Suite(.timeLimit(.minutes(10))) struct CloneTests {
    private static let machines = ["3f1cbb72a6f64b14a0d6c1b9d5c0e8aa", "9d0d4c33f1a94be0b8e35a7be2b80c51"]

    /// A file with the id of a machine, as a node is told to read it.
    private func machine(_ number: Int, _ name: String, in lab: Lab) throws -> String {
        let path = "\(lab.folder)/machine-\(name)"
        try Files.write(Array("\(Self.machines[number])\n".utf8), to: path)
        return path
    }

    /// The codes of what is wrong; advice is no trouble: a group of two has one admin.
    private func codes(_ node: TestNode) async throws -> [String] {
        (try await node.status()["health"]?["checks"]?.array ?? []).filter { $0["level"]?.string != "ok" }
            .compactMap { $0["code"]?.string }
    }

    @Test func aNodeOnAnotherMachineWaitsUntilItIsToldThatItWasMoved() async throws {
        try await Lab.open(nodes: 2) { lab in
            let ada = lab.node("ada")
            let file = try machine(0, "ben", in: lab)
            let ben = lab.node("ben", environment: ["KITH_MACHINE_ID_FILE=\(file)"])
            try await ada.found("testers")
            try await ada.start()
            try await ben.join(by: ada)
            try await ben.start(peers: [ada])
            try await [ada, ben].makeDatabase("notes")
            try await [ada, ben].settle("notes")
            #expect(try await ben.kith("identity", "show").contains("this one, as before"))
            try await ben.stop()

            _ = try machine(1, "ben", in: lab)
            for _ in 0..<2 {
                // A restart changes nothing.
                try await ben.start(peers: [ada])
                #expect(try await codes(ben) == ["MACHINE_CHANGED"])
                #expect(try await ben.run(["check"]).status == 2)
                #expect(try await ben.peer(ada)["state"]?.string == "paused")
                let late = try await ben.run(["wait", "--timeout", "1s"])
                #expect(late.status == 2)
                if try await ben.run(["get", "notes", "one"]).status == 2 {
                    try await ben.kith("put", "notes", "one", #"{"n":1}"#)
                    try await ben.stop()
                }
            }
            #expect(try await ada.run(["get", "notes", "one"]).status == 2, "nothing is replicated")
            #expect(try await ada.peer(ben)["connected"]?.bool == false)
            let shown = try await ben.json("identity", "show", "--json")
            #expect(shown["machine"]?.string == "changed" && shown["id"]?.string == ben.id)
            #expect(shown["name"]?.string == "ben" && shown["role"]?.string == "writer")
            let group = try await ada.json("identity", "show", "--json")["fingerprint"]?.string
            #expect(shown["fingerprint"]?.string == group && group?.utf8.count == 64)

            try await ben.kith("identity", "keep")
            try await [ada, ben].settle("notes", within: 30)
            #expect(try await ada.kith("get", "notes", "one") == #"{"n":1}"#)
            #expect(try await codes(ben).isEmpty)
            try await ben.stop()
            try await ben.start(peers: [ada])
            try await [ada, ben].settle("notes", within: 30)
            // The id of the machine itself is nowhere in the directory.
            for name in Files.names(in: ben.directory) {
                let text = String(decoding: Files.read("\(ben.directory)/\(name)"), as: UTF8.self)
                #expect(!text.contains(Self.machines[1]), "\(name) holds the machine's id")
            }
            // Said to a node that does not run it holds from the next start on.
            try await ben.stop()
            _ = try machine(0, "ben", in: lab)
            try await ben.kith("identity", "keep")
            try await ben.start(peers: [ada])
            #expect(try await codes(ben).isEmpty)
            try await [ada, ben].settle("notes", within: 30)
        }
    }

    @Test func aCopyOnAnotherMachineBecomesANodeOfItsOwn() async throws {
        try await Lab.open(nodes: 3) { lab in
            let files = (try machine(0, "ben", in: lab), try machine(1, "copy", in: lab))
            let ada = lab.node("ada")
            let ben = lab.node("ben", environment: ["KITH_MACHINE_ID_FILE=\(files.0)"])
            let copy = lab.node("copy", environment: ["KITH_MACHINE_ID_FILE=\(files.1)"])
            try await ada.found("testers")
            try await ada.start()
            try await ben.join(by: ada)
            try await ben.start(peers: [ada])
            try await [ada, ben].makeDatabase("notes")
            for number in 1...20 { try await ben.kith("put", "notes", "early-\(number)", #"{"n":\#(number)}"#) }
            try await [ada, ben].settle("notes")

            // The directory is copied while the node runs.
            try Files.copy(ben.directory, to: copy.directory)
            try await copy.start(listening: "127.0.0.1:0", peers: [ada, ben])
            #expect(try await codes(copy) == ["MACHINE_CHANGED"])
            try await copy.kith("put", "notes", "by-the-copy", #"{"n":1}"#)
            try await ben.kith("put", "notes", "early-1", #"{"n":"changed"}"#)
            try await [ada, ben].settle("notes")
            for node in [ada, ben] { #expect(try await codes(node).isEmpty, "a held copy disturbs nobody") }

            let running = try await copy.run(["identity", "reset", "--yes"])
            #expect(running.status == 1 && running.errorText.contains("kith stop"), "\(running.errorText)")
            BadInputTests.expectOneLine(running)
            try await copy.stop()
            #expect(try await copy.run(["identity", "reset"]).status == 64, "it asks, and there is nobody")
            try await copy.kith("identity", "reset", "--yes")
            #expect(try await copy.run(["start"]).status == 1)
            try await copy.join(by: ada)
            #expect(copy.id != ben.id)
            try await copy.start(listening: "127.0.0.1:0", peers: [ada, ben])
            let all = [ada, ben, copy]
            try await all.settle("notes")
            for node in all {
                #expect(try await node.kith("get", "notes", "by-the-copy") == #"{"n":1}"#)
                #expect(try await node.kith("get", "notes", "early-1") == #"{"n":"changed"}"#)
                #expect(try await node.database("notes")["documents"]?.natural == 21)
                #expect(try await codes(node).isEmpty)
            }
        }
    }

    /// Both on machines that look alike, as images rolled out with their machine-id do.
    @Test func twoNodesWithOneIdentityAreReportedByAllAndDoNotTakeTurns() async throws {
        try await Lab.open(nodes: 4) { lab in
            let nodes = try await lab.group(3)
            let (ada, ben, cleo) = (nodes[0], nodes[1], nodes[2])
            let twin = lab.node("twin")
            try await nodes.makeDatabase("notes")
            try await cleo.kith("put", "notes", "early", #"{"n":1}"#)
            try await nodes.settle("notes")
            try Files.copy(cleo.directory, to: twin.directory)
            try await twin.start(listening: "127.0.0.1:0", peers: nodes)
            try await twin.kith("put", "notes", "by-the-twin", #"{"n":2}"#)
            try await cleo.kith("put", "notes", "by-cleo", #"{"n":2}"#)

            let isReported = try await eventually(within: 90) {
                for node in [ada, ben, cleo, twin] {
                    guard try await codes(node).contains("IDENTITY_DUPLICATE") else { return false }
                }
                return true
            }
            #expect(isReported, "\(ada.log.suffix(1_000))\n\(cleo.log.suffix(1_000))\n\(twin.log.suffix(1_000))")
            let named = try await ada.kith("status")
            #expect(named.contains(String(cleo.id.prefix(8))), "\(named)")
            // From here on nobody takes turns: one of the two is turned away now and then, and that is all.
            let before = (try await links([ada, ben]), try await turnedAway([ada, ben]))
            try await Task.sleep(for: .seconds(12))
            let after = (try await links([ada, ben]), try await turnedAway([ada, ben]))
            #expect(after.0 - before.0 <= 6, "\(after.0 - before.0) new links in 12 s\n\(ada.log.suffix(3_000))")
            #expect(after.1 - before.1 <= 40, "\(after.1 - before.1) turned away in 12 s\n\(ada.log.suffix(3_000))")

            try await twin.stop()
            try await twin.kith("identity", "reset", "--yes")
            try await twin.join(by: ada)
            try await twin.start(listening: "127.0.0.1:0", peers: nodes)
            try await (nodes + [twin]).settle("notes", within: 90)
            for node in nodes + [twin] {
                for id in ["by-the-twin", "by-cleo", "early"] {
                    #expect(try await node.run(["get", "notes", id]).status == 0, "\(id) on \(node.name)")
                }
            }
            guard getenv("KITH_LONG_TESTS") != nil else { return }
            // It is forgotten by itself.
            let isForgotten = try await eventually(within: 240) {
                for node in nodes + [twin] where try await !codes(node).isEmpty { return false }
                return true
            }
            #expect(isForgotten)
        }
    }

    /// How often nodes took up a link, and how often they turned one away as a twin's.
    private func links(_ nodes: [TestNode]) async throws -> Int { try await sum("kith_links_begun_total", nodes) }
    private func turnedAway(_ nodes: [TestNode]) async throws -> Int {
        try await sum("kith_links_turned_away_total", nodes)
    }

    private func sum(_ series: String, _ nodes: [TestNode]) async throws -> Int {
        var sum = 0
        for node in nodes { sum += Int(try await node.metric(series) ?? 0) }
        return sum
    }

    /// Two who know of nobody but each other: each dials itself, and finds somebody else.
    @Test func twoNodesWithOneIdentityThatMeetEachOtherAloneReportIt() async throws {
        try await Lab.open(nodes: 3) { lab in
            // A node that is given its own address dials itself, and is nobody's twin.
            let single = lab.node("single")
            try await single.found("others")
            try await single.start()
            try await single.kith("stop")
            await single.ended()
            try await single.start(options: ["--peer", try #require(single.address)])
            let (one, other) = (lab.node("one"), lab.node("other"))
            try await one.found("testers")
            try await one.start()
            try Files.copy(one.directory, to: other.directory)
            try await other.start(listening: "127.0.0.1:0", peers: [one])
            let isReported = try await eventually(within: 60) {
                let found = (try await codes(one), try await codes(other))
                return found.0.contains("IDENTITY_DUPLICATE") && found.1.contains("IDENTITY_DUPLICATE")
            }
            #expect(isReported, "\(one.log.suffix(1_000))\n\(other.log.suffix(1_000))")
            #expect(try await codes(single).isEmpty)
        }
    }
}
