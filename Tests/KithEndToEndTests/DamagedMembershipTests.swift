import Glibc
import KithDocument
import Testing

/// The file that says who was revoked, damaged: nobody who was revoked gets in, and there is a way out.
@Suite(.timeLimit(.minutes(10))) struct DamagedMembershipTests {
    /// Whether a node takes another for revoked.
    private func isRevoked(_ node: TestNode, _ other: TestNode) async throws -> Bool {
        let members = try await node.json("members", "--json")["members"]?.array ?? []
        return members.first { $0["id"]?.string == other.id }?["revoked"]?.bool == true
    }

    private func expectNoStart(_ node: TestNode) async throws {
        for arguments in [["start"], ["start", "--check"]] {
            let result = try await node.run(arguments + ["--no-discovery", "--listen", "127.0.0.1:0"])
            #expect(result.status == 1, "\(result.outputText)")
            #expect(result.errorText.contains("\(node.directory)/membership is damaged"), "\(result.errorText)")
            #expect(result.errorText.contains("kith identity recover"), "\(result.errorText)")
        }
    }

    @Test func aNodeThatLostItListensToItsAdminFirst() async throws {
        try await Lab.open(nodes: 3) { lab in
            let nodes = try await lab.group(3)
            try await lose(nodes[0], nodes[1], nodes[2])
            try await knock(nodes[1], nodes[2], nodes)
            try await hear(nodes[0], nodes[1], nodes[2])
        }
    }

    /// The second node loses what it knew, among it that the third was revoked.
    private func lose(_ ada: TestNode, _ ben: TestNode, _ cleo: TestNode) async throws {
        let nodes = [ada, ben, cleo]
        try await nodes.makeDatabase("notes")
        // Who is revoked has not heard of it.
        try await cleo.stop()
        try await ada.kith("revoke", "cleo", "--yes")
        #expect(try await eventually(within: 40) { try await isRevoked(ben, cleo) })
        try await ben.stop()
        try await ada.stop()

        let path = ben.directory + "/membership"
        try Files.write([UInt8](repeating: 0, count: Files.read(path).count), to: path)
        try await expectNoStart(ben)
        let told = try await ben.json("identity", "recover", "--json")
        #expect(told["statements"]?.natural == 0 && told["complete"]?.bool == false, "\(told)")
        #expect(told["awaited"]?.string == ada.id)
        #expect(!Files.read(path + ".damaged").isEmpty)
    }

    private func knock(_ ben: TestNode, _ cleo: TestNode, _ nodes: [TestNode]) async throws {
        // The revoked one knocks, and is not let in.
        try await ben.start(peers: nodes)
        let check = try await ben.reaches("FILE_DAMAGED", level: "critical")
        #expect(check["summary"]?.string?.contains("until it has heard from") == true, "\(check)")
        try await cleo.start(peers: [ben])
        try await cleo.kith("put", "notes", "forged", "{}")
        let isTurnedAway = try await eventually(within: 40) {
            let status = try await ben.status()
            return status["refusals"]?.array?.isEmpty == false || (status["node"]?["strangers"]?.natural ?? 0) > 0
        }
        #expect(isTurnedAway)
        let peers = try await ben.status()["peers"]?.array ?? []
        #expect(!peers.contains { $0["connected"]?.bool == true }, "\(peers)")
    }

    private func hear(_ ada: TestNode, _ ben: TestNode, _ cleo: TestNode) async throws {
        let path = ben.directory + "/membership"
        try await ada.start(peers: [ben])
        #expect(try await eventually(within: 60) { try await isRevoked(ben, cleo) })
        let isHeard = try await eventually(within: 60) {
            try await ben.check("FILE_DAMAGED")?["level"]?.string == "warning"
        }
        #expect(isHeard, "\(ben.log.suffix(1_000))")
        #expect(try await ben.run(["get", "notes", "forged"]).status == 2)
        unlink(path + ".damaged")
        try await ben.leaves("FILE_DAMAGED")
        // What was heard is on disk.
        try await ben.stop()
        try await ben.start(peers: [ada])
        #expect(try await isRevoked(ben, cleo))
    }

    @Test func whatIsSignedAndWholeIsTakenOutOfTheDamage() async throws {
        try await Lab.open(nodes: 1) { lab in
            let ada = lab.node("ada")
            try await ada.kith("init", "--group", "testers", "--name", "ada")
            try await ada.start()
            let others = (1...3).map { String(repeating: "\($0)", count: 64) }
            for other in others { try await ada.kith("revoke", other, "--yes") }
            try await ada.stop()
            let path = ada.directory + "/membership"
            let whole = Files.read(path)
            func revoked() async throws -> Int {
                let members = try await ada.json("members", "--json")["members"]?.array ?? []
                return members.count { $0["revoked"]?.bool == true }
            }

            // The checksum alone: all is there.
            var bytes = whole
            bytes[bytes.count - 1] ^= 1
            try Files.write(bytes, to: path)
            try await expectNoStart(ada)
            let complete = try await ada.json("identity", "recover", "--json")
            #expect(complete["statements"]?.natural == 3 && complete["complete"]?.bool == true, "\(complete)")
            #expect(complete["awaited"] == .null)
            try await ada.start()
            #expect(try await revoked() == 3)
            try await ada.stop()

            // One of the statements: an admin has to say whom to believe.
            bytes = whole
            bytes[bytes.count / 2] ^= 1
            try Files.write(bytes, to: path)
            let asked = try await ada.run(["identity", "recover"])
            #expect(asked.status == 64 && asked.errorText.contains("--alone"), "\(asked.errorText)")
            #expect(Files.read(path) == bytes, "nothing was done")
            let wrong = try await ada.run(["identity", "recover", "ben"])
            #expect(wrong.status == 64 && wrong.errorText.contains("64 hex digits"), "\(wrong.errorText)")
            try await ada.kith("identity", "recover", others[0])
            try await ada.start()
            try await ada.reaches("FILE_DAMAGED", level: "critical")
            #expect(try await revoked() == 2)
            let busy = try await ada.run(["identity", "recover"])
            #expect(busy.status == 1 && busy.errorText.contains("is used by the running node"), "\(busy.errorText)")
            try await ada.stop()
            // Should that one never come again.
            let told = try await ada.run(["identity", "recover", "--alone"])
            #expect(told.status == 0 && told.errorText.contains("2 statements"), "\(told.errorText)")
            try await ada.start()
            try await ada.reaches("FILE_DAMAGED", level: "warning")
            #expect(try await revoked() == 2)
            try await ada.stop()
            let sound = try await ada.run(["identity", "recover"])
            #expect(sound.status == 64 && sound.errorText.contains("is sound"), "\(sound.errorText)")
        }
    }
}
