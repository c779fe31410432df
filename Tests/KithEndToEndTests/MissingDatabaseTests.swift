import Glibc
import KithDocument
import Testing

/// Databases whose files went while their node was stopped: they are missed, and nothing is made in their place.
@Suite(.timeLimit(.minutes(10))) struct MissingDatabaseTests {
    private func takeAway(_ name: String, from node: TestNode) {
        let folder = "\(node.directory)/databases"
        for file in Files.names(in: folder) where file.hasPrefix("\(name).sqlite3") { unlink("\(folder)/\(file)") }
    }

    private func isMissed(_ node: TestNode) async throws -> Bool {
        let checks = try await node.status()["health"]?["checks"]?.array ?? []
        return checks.contains { $0["code"]?.string == "DATABASE_MISSING" }
    }

    @Test func aDatabaseThatVanishedWhileTheNodeWasStoppedIsMissedAndComesBackAsItIsTold() async throws {
        try await Lab.open(nodes: 2) { lab in
            let nodes = try await lab.group(2)
            let (ada, ben) = (nodes[0], nodes[1])
            for name in ["notes", "spare"] {
                try await nodes.makeDatabase(name)
                try await ada.kith("put", name, "one", #"{"n":1}"#)
                try await nodes.settle(name)
            }
            let copy = lab.folder + "/copy"
            try await ben.kith("backup", "notes", copy)
            try await ben.stop()
            takeAway("notes", from: ben)

            // Also without the node.
            for command in [["verify"], ["repair", "notes"]] {
                let told = try await ben.run(command)
                #expect(told.status == 1 && told.errorText.contains("notes.sqlite3 is gone"), "\(told.errorText)")
            }
            try await ben.start(peers: nodes)
            let check = try await ben.reaches("DATABASE_MISSING", level: "critical")
            #expect(check["summary"]?.string?.contains("notes.sqlite3 is gone") == true, "\(check)")
            #expect(check["action"]?.string?.contains("kith restore notes FILE") == true, "\(check)")
            #expect(try await ben.run(["check"]).status == 2)
            for command in [
                ["get", "notes", "one"], ["put", "notes", "one", "{}"], ["verify", "notes"], ["repair", "notes"],
                ["db", "create", "notes"],
            ] {
                let refused = try await ben.run(command)
                #expect(refused.status == 1 && refused.errorText.contains("notes.sqlite3 is gone"), "\(command)")
                BadInputTests.expectOneLine(refused)
            }
            // The other database goes on; nobody calls the pair in sync, and no file came into being.
            try await ada.kith("put", "spare", "one", #"{"n":2}"#)
            try await nodes.settle("spare")
            #expect(try await ben.peer(ada)["state"]?.string == "blocked")
            #expect(!Files.names(in: "\(ben.directory)/databases").contains { $0.hasPrefix("notes.sqlite3") })

            // Nothing is there to be replaced, so nobody is asked.
            try await ben.kith("restore", "notes", copy)
            try await nodes.settle("notes")
            #expect(try await !isMissed(ben))

            try await ben.stop()
            takeAway("notes", from: ben)
            try await ben.start(peers: nodes)
            #expect(try await isMissed(ben))
            try await ben.kith("db", "delete", "notes", "--yes")
            #expect(try await !isMissed(ben))
            try await ben.kith("db", "create", "notes")
            try await nodes.settle("notes")
            #expect(try await ben.kith("get", "notes", "one") == #"{"n":1}"#)
            try await ben.stop()
            try await ben.start(peers: nodes)
            #expect(try await !isMissed(ben))
        }
    }
}

/// What status and pages tell to do about damage, typed as it stands there, leads out of it.
@Suite(.timeLimit(.minutes(10))) struct DamageActionTests {
    /// Each names a database, and does to its closed file what the name says.
    private static let kinds: [(name: String, harm: @Sendable (String, _ log: [UInt8]) throws -> Void)] = [
        ("garbage", { path, _ in try Files.write(Array(repeating: 65, count: 8_192), to: path) }),
        ("empty", { path, _ in try Files.write([], to: path) }),
        ("cut", { path, _ in try Files.write(Array(Files.read(path).dropLast(1_000)), to: path) }),
        ("half", { path, _ in try Files.write(Array(Files.read(path).prefix(3 * 4_096)), to: path) }),
        ("head", { path, _ in try UpkeepTests.overwrite(page: 1, of: path) }),
        ("rows", { path, _ in try UpkeepTests.overwrite(page: Files.read(path).count / 4_096, of: path) }),
        (
            "alone",
            { path, log in
                unlink(path)
                try Files.write(log, to: path + "-wal")
            }
        ),
        ("foreign", { path, log in try Files.write(log, to: path + "-wal") }),
    ]

    /// Two nodes, the second stopped, with a damaged database of each kind, and a copy of each from before.
    private func withDamage(
        _ body: (_ nodes: [TestNode], _ victim: TestNode, _ copy: (String) -> String) async throws -> Void
    ) async throws {
        try await Lab.open(nodes: 2) { lab in
            let nodes = try await lab.group(2)
            for kind in Self.kinds {
                try await nodes.makeDatabase(kind.name)
                try await nodes[0].kith("import", kind.name, "-", input: RestartTests.documents(60))
                try await nodes.settle(kind.name)
                try await nodes[1].kith("backup", kind.name, "\(lab.folder)/\(kind.name).copy")
            }
            let log = Files.read(nodes[0].file("rows") + "-wal")
            try #require(!log.isEmpty)
            try await nodes[1].stop()
            for kind in Self.kinds { try kind.harm(nodes[1].file(kind.name), log) }
            try await body(nodes, nodes[1]) { "\(lab.folder)/\($0).copy" }
        }
    }

    private func expectWhole(_ nodes: [TestNode]) async throws {
        for kind in Self.kinds {
            try await nodes.settle(kind.name)
            #expect(try await nodes[1].lines("export", kind.name).count == 60, "\(kind.name)")
        }
        #expect(try await nodes[1].run(["verify"]).status == 0)
        let checks = try await nodes[1].status()["health"]?["checks"]?.array ?? []
        #expect(!checks.contains { $0["code"]?.string?.hasPrefix("DATABASE") == true }, "\(checks)")
    }

    /// The commands in an action, with the file for `FILE`, and without being asked.
    private func commands(_ action: String, _ file: String) -> [[String]] {
        let words = action.split { " ;,:".contains($0) }.map(String.init)
        return words.indices.filter { words[$0] == "kith" }.map { start in
            let count = ["db": 3, "restore": 3][words[start + 1]] ?? 2
            let command = words[(start + 1)...].prefix(count).map { $0 == "FILE" ? file : $0 }
            let asks = command[0] == "restore" || command.starts(with: ["db", "delete"])
            return command + (asks ? ["--yes"] : [])
        }
    }

    @Test func theActionOfEachCheckLeadsOut() async throws {
        try await withDamage { nodes, victim, copy in
            try await victim.start(peers: nodes)
            // A repair waits for those who are linked: with nobody there it says what is not back.
            let isLinked = try await eventually(within: 60) {
                try await victim.peer(nodes[0])["connected"]?.bool == true
            }
            #expect(isLinked)
            // Damage within a file is found by a check.
            _ = try await victim.run(["verify"], within: 120)
            var typed: [String] = []
            for _ in 0..<(2 * Self.kinds.count) {
                let checks = try await victim.status()["health"]?["checks"]?.array ?? []
                guard let check = checks.first(where: { $0["code"]?.string == "DATABASE_DAMAGED" }) else { break }
                let summary = check["summary"]?.string ?? ""
                let name = try #require(summary.split(separator: " ").dropFirst().first.map(String.init), "\(summary)")
                let action = try #require(check["action"]?.string)
                let command = try #require(commands(action, copy(name)).first, "no command in: \(action)")
                #expect(!typed.contains(command.joined(separator: " ")), "in a circle: \(command)")
                typed.append(command.joined(separator: " "))
                let result = try await victim.run(command, within: 120)
                #expect(result.status == 0, "\(command): \(result.outputText)\(result.errorText)")
            }
            #expect(typed.count == Self.kinds.count, "\(typed)")
            try await expectWhole(nodes)
        }
    }

    @Test func theStepsOfThePageLeadOutWithoutANode() async throws {
        try await withDamage { nodes, victim, copy in
            for kind in Self.kinds {
                let check = try await victim.run(["verify", kind.name])
                #expect(check.status == 1, "\(kind.name) is not found: \(check.errorText)")
                let repair = try await victim.run(["repair", kind.name])
                if repair.status == 0 { continue }
                // What is left out comes from peers later, which is said; a file that can't be repaired comes from a copy.
                if repair.errorText.contains("repaired") { continue }
                #expect(["empty", "alone", "foreign"].contains(kind.name), "\(kind.name): \(repair.errorText)")
                BadInputTests.expectOneLine(repair)
                try await victim.kith("restore", kind.name, copy(kind.name), "--yes")
            }
            try await victim.start(peers: nodes)
            try await expectWhole(nodes)
        }
    }

    @Test func aDatabaseThatIsGivenUpComesFromThePeers() async throws {
        try await withDamage { nodes, victim, _ in
            try await victim.start(peers: nodes)
            for kind in Self.kinds {
                try await victim.kith("db", "delete", kind.name, "--yes")
                try await victim.kith("db", "create", kind.name)
            }
            try await expectWhole(nodes)
        }
    }
}
