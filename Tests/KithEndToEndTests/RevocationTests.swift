import Glibc
import KithDocument
import KithTestSupport
import Testing

/// How a membership ends, and what is seen of it.
@Suite(.timeLimit(.minutes(10))) struct RevocationTests {
    @Test func aRevokedNodeIsPartedFromAllAndToldSo() async throws {
        try await Lab.open(nodes: 3) { lab in
            let nodes = try await lab.group(3)
            let (admin, victim, other) = (nodes[0], nodes[1], nodes[2])
            try await nodes.makeDatabase("notes")
            try await victim.kith("put", "notes", "old", #"{"by":"ben"}"#)
            try await nodes.settle("notes")

            // Nobody is there to be asked.
            let asked = try await admin.run(["revoke", "ben"])
            #expect(asked.status == 64 && asked.errorText.contains("--yes"), "\(asked.errorText)")
            #expect(try await victim.status()["health"]?["level"]?.string != "critical")
            let told = try await admin.run(["revoke", "ben", "--yes"])
            #expect(told.status == 0 && told.errorText.contains("is revoked"), "\(told.errorText)")

            // The links end within ten seconds, also that to a node which no admin is told through.
            let parted = try await eventually(within: 50) {
                for node in [admin, other] where try await node.peer(victim)["state"]?.string != "refused" {
                    return false
                }
                let peers = try await victim.status()["peers"]?.array ?? []
                return !peers.contains { $0["connected"]?.bool == true }
            }
            #expect(parted)
            // As the nodes tell it: the tests may have to wait for a thread.
            let said = try #require(Self.times(of: "revoked ben", in: admin).last)
            let ended = Self.times(of: "a link ended", in: victim).map {
                ($0 - said + 86_400).truncatingRemainder(dividingBy: 86_400)
            }.filter { $0 < 43_200 }
            print("a revoked node's links ended after \(ended) s")
            #expect(!ended.isEmpty && ended.allSatisfy { $0 < 10 }, "\(victim.log)")
            #expect(try await admin.peer(victim)["reason"]?.string?.hasPrefix("revoked") == true)
            let told2 = try await eventually(within: 20) {
                try await Self.checks(victim).contains { $0["code"]?.string == "REVOKED" }
            }
            #expect(told2)
            #expect(try await victim.run(["check"]).status == 2)

            // What it writes now stays with it; what it wrote before stays with all.
            try await victim.kith("put", "notes", "new", #"{"by":"ben"}"#)
            try await other.kith("put", "notes", "after", "{}")
            try await [admin, other].settleEach("notes")
            #expect(try await admin.kith("get", "notes", "old") == #"{"by":"ben"}"#)
            #expect(try await victim.run(["get", "notes", "after"]).status == 2)

            // It is never undone, and asking twice changes nothing.
            let again = try await admin.run(["revoke", victim.id, "--yes"])
            #expect(again.status == 0 && again.errorText.contains("already"), "\(again.errorText)")

            // The way back is to join anew.
            try await victim.stop()
            let before = victim.id
            try await victim.kith("leave")
            try await victim.join(by: admin)
            #expect(victim.id != before)
            try await victim.start(peers: nodes)
            try await [admin, other, victim].settleEach("notes")
            #expect(try await admin.kith("get", "notes", "new") == #"{"by":"ben"}"#)
            // Two members have had the name; the one who is a member now is meant.
            #expect(try await admin.run(["role", "ben", "writer"]).status == 0)
        }
    }

    @Test func whoWasAwayHearsOfItBeforeAnyDocument() async throws {
        try await Lab.open(nodes: 4) { lab in
            let nodes = try await lab.group(4)
            let (admin, victim, other, away) = (nodes[0], nodes[1], nodes[2], nodes[3])
            try await nodes.makeDatabase("notes")
            try await nodes.settle("notes")
            try await away.stop()
            try await victim.stop()
            try await admin.kith("revoke", "ben", "--yes")
            try await other.kith("wait", "--peers", "1")
            let spread = try await eventually(within: 20) { try await Self.isRevoked(victim, at: other) }
            #expect(spread)
            try await admin.stop()
            // One who is no admin tells the one who was away; then the revoked node comes, which knows of nothing.
            try await away.start(peers: [victim, other])
            try await away.kith("wait")
            let heard = try await eventually(within: 40) { try await Self.isRevoked(victim, at: away) }
            #expect(heard)
            try await victim.start(peers: [away, other])
            try await victim.kith("put", "notes", "new", #"{"by":"ben"}"#)
            let refused = try await eventually(within: 40) {
                for node in [away, other] {
                    let peers = try await node.status()["peers"]?.array ?? []
                    let state = peers.first { $0["id"]?.string == victim.id }
                    guard state?["state"]?.string == "refused", state?["reason"]?.string?.hasPrefix("revoked") == true
                    else { return false }
                }
                return true
            }
            #expect(refused)
            // It was shown no statement, so it says who told it.
            let told = try await eventually(within: 40) {
                try await Self.checks(victim).first { $0["code"]?.string == "REVOKED" }?["summary"]?.string?
                    .contains("says that") == true
            }
            #expect(told)
            #expect(try await victim.peer(other)["state"]?.string == "refused")
            #expect(try await victim.peer(other)["reason"]?.string?.contains("revoked") == true)
            try await other.kith("put", "notes", "after", "{}")
            try await [away, other].settleEach("notes")
            for node in [away, other] { #expect(try await node.run(["get", "notes", "new"]).status == 2) }
            #expect(try await victim.run(["get", "notes", "after"]).status == 2)
        }
    }

    @Test func anAdminIsRevokedByTheRootWithAllWhomItLetIn() async throws {
        try await Lab.open(nodes: 4) { lab in
            let first = lab.node("ada")
            let root = "\(lab.folder)/root.pem"
            try await first.kith("init", "--group", "g", "--name", "ada", "--root-out", root)
            try await first.start()
            let (second, third, fourth) = (lab.node("ben"), lab.node("cleo"), lab.node("dora"))
            try await second.join(by: first, role: "admin", root: root)
            try await second.start(peers: [first])
            try await third.join(by: first)
            try await third.start(peers: [first, second])
            try await fourth.join(by: second)
            try await fourth.start(peers: [first, second, third])
            let all = [first, second, third, fourth]
            try await together(all) { try await $0.kith("wait", "--peers", "3") }
            try await all.makeDatabase("notes")
            try await all.writeEach("before", in: "notes")
            try await all.settle("notes")
            let id = try #require(try await first.status()["node"]?["id"]?.string)

            // Two admins: neither is alone.
            #expect(try await Self.checks(second).isEmpty)
            #expect(try await second.run(["members"]).outputText.contains("4 members known, 2 admins"))
            // An admin's word is not enough against an admin.
            let without = try await second.run(["revoke", "ada", "--yes"])
            #expect(without.status == 1 && without.errorText.contains("--root"), "\(without.errorText)")
            BadInputTests.expectOneLine(without)
            let own = try await second.run(["revoke", "ben", "--root", root, "--yes"])
            #expect(own.status == 1 && own.errorText.contains("kith leave"), "\(own.errorText)")

            let told = try await second.run(["revoke", "ada", "--root", root, "--yes"])
            #expect(told.status == 0, "\(told.errorText)")
            #expect(told.errorText.contains("cleo") && !told.errorText.contains("dora"), "\(told.errorText)")
            let parted = try await eventually(within: 50) {
                for node in [first, third] {
                    guard try await Self.checks(node).contains(where: { $0["code"]?.string == "REVOKED" }) else {
                        return false
                    }
                }
                return try await second.peer(third)["state"]?.string == "refused"
            }
            #expect(parted)
            // It says for whose sake.
            let summary = try await Self.checks(third).first { $0["code"]?.string == "REVOKED" }?["summary"]?.string
            #expect(summary?.contains("ada") == true, "\(summary ?? "-")")
            // A revoked admin signs nothing any more.
            for arguments in [["invite"], ["revoke", "dora", "--yes"], ["role", "dora", "reader"]] {
                let result = try await first.run(arguments)
                #expect(result.status == 1 && result.errorText.contains("revoked"), "\(arguments): \(result.errorText)")
            }
            // Those whom the other let in go on, and it is the only admin now.
            try await second.kith("wait", "--peers", "1")
            #expect(try await fourth.peer(second)["connected"]?.bool == true)
            try await [second, fourth].writeEach("after", in: "notes")
            try await [second, fourth].settleEach("notes")
            let alone = try await Self.checks(second).first { $0["code"]?.string == "SINGLE_ADMIN" }
            #expect(alone?["level"]?.string == "ok")
            let last = try await fourth.run(["revoke", "ben", "--root", root, "--yes"])
            #expect(last.status == 1 && last.errorText.contains("only admin"), "\(last.errorText)")
            let members = try await second.json("members", "--json")["members"]?.array ?? []
            #expect(members.first { $0["id"]?.string == id }?["revoked"]?.bool == true)
            // Who went with the admin comes back by the other.
            try await third.stop()
            try await third.kith("leave")
            try await third.join(by: second)
            try await third.start(peers: [second, fourth])
            try await third.kith("wait", "--peers", "2")
            try await [second, third, fourth].settleEach("notes")
        }
    }

    @Test func twoAdminsWhoRevokeAtOnceAgree() async throws {
        try await Lab.open(nodes: 4) { lab in
            let first = lab.node("ada")
            try await first.found("g")
            try await first.start()
            let (second, third, fourth) = (lab.node("ben"), lab.node("cleo"), lab.node("dora"))
            try await second.join(by: first, role: "admin")
            try await second.start(peers: [first])
            for node in [third, fourth] {
                try await node.join(by: first)
                try await node.start(peers: [first, second, third])
            }
            try await together([first, second, third, fourth]) { try await $0.kith("wait", "--peers", "3") }
            try await [first, second, third, fourth].makeDatabase("notes")
            try await [third, fourth].writeEach("before", in: "notes")
            try await [first, second, third, fourth].settle("notes")
            // Apart, each revokes: the one the same node as the other, and another.
            try await [first, second].pauseAll()
            async let one = first.run(["revoke", "cleo", "--yes"])
            async let two = second.run(["revoke", "cleo", "--yes"])
            #expect(try await one.status == 0)
            #expect(try await two.status == 0)
            try await second.kith("revoke", "dora", "--yes")
            try await together([first, second]) { try await $0.kith("resume") }
            let agreed = try await eventually(within: 60) {
                for node in [first, second] {
                    for victim in [third, fourth] where try await !Self.isRevoked(victim, at: node) { return false }
                }
                return true
            }
            #expect(agreed)
            try await second.kith("wait", "--peers", "1")
            try await [first, second].writeEach("after", in: "notes")
            try await [first, second].settleEach("notes")
        }
    }

    @Test func whomNobodyKnowsIsRevokedByTheWholeId() async throws {
        try await Lab.open(nodes: 2) { lab in
            let nodes = try await lab.group(2)
            let unknown = try await nodes[0].run(["revoke", "nobody", "--yes"])
            #expect(unknown.status == 2 && unknown.errorText.contains("kith members"), "\(unknown.errorText)")
            let writer = try await nodes[1].run(["revoke", "ada", "--yes"])
            #expect(writer.status == 1 && writer.errorText.contains("only an admin"), "\(writer.errorText)")
            let id = String(repeating: "ab", count: 32)
            try await nodes[0].kith("revoke", id, "--yes")
            let spread = try await eventually(within: 20) {
                try await nodes[1].json("members", "--json")["members"]?.array?.contains { $0["id"]?.string == id }
                    == true
            }
            #expect(spread)
            // On disk before the command returned.
            nodes[0].kill()
            await nodes[0].ended()
            try await nodes[0].start(peers: nodes)
            #expect(try await nodes[0].run(["revoke", id, "--yes"]).errorText.contains("already"))
        }
    }

    @Test func aLostAdminIsReplacedByTheRootAnywhere() async throws {
        try await Lab.open(nodes: 4) { lab in
            let lost = lab.node("ada")
            let root = "\(lab.folder)/root.pem"
            try await lost.kith("init", "--group", "g", "--name", "ada", "--root-out", root)
            try await lost.start()
            let writer = lab.node("ben")
            try await writer.join(by: lost)
            try await writer.start(peers: [lost])
            try await [lost, writer].makeDatabase("notes")
            try await lost.kith("put", "notes", "by-the-lost", "{}")
            try await [lost, writer].settle("notes")
            lost.kill()
            await lost.ended()
            let without = try await writer.run(["invite", "--role", "admin"])
            #expect(without.status == 1 && without.errorText.contains("--root"), "\(without.errorText)")
            #expect(try await writer.run(["invite", "--root", root]).errorText.contains("only an admin"))
            let admin = lab.node("cleo")
            try await admin.join(by: writer, role: "admin", root: root)
            try await admin.start(peers: [writer])
            try await admin.kith("wait")
            let other = lab.node("dora")
            try await other.join(by: admin)
            try await other.start(peers: [writer, admin])
            try await other.kith("wait", "--peers", "2")
            try await [writer, admin, other].settleEach("notes")
        }
    }

    @Test func whatCantBeWrittenIsNotAcknowledged() async throws {
        try await Lab.open(nodes: 2) { lab in
            let nodes = try await lab.group(2)
            let id = String(repeating: "cd", count: 32)
            // Where the file is written aside there is a folder.
            let aside = "\(nodes[0].directory)/membership.new"
            try #require(mkdir(aside, 0o700) == 0)
            for arguments in [["revoke", id, "--yes"], ["revoke", id, "--yes"], ["role", "ben", "reader"]] {
                let result = try await nodes[0].run(arguments)
                #expect(result.status == 1 && result.errorText.contains("disk"), "\(arguments): \(result.errorText)")
            }
            // A revocation holds all the same; a role, which has a number, does not.
            let shown = try await nodes[0].json("members", "--json")["members"]?.array ?? []
            #expect(shown.first { $0["id"]?.string == id }?["revoked"]?.bool == true)
            #expect(shown.first { $0["name"]?.string == "ben" }?["role"]?.string == "writer")
            try #require(rmdir(aside) == 0)
            try await nodes[0].kith("revoke", id, "--yes")
            try await nodes[0].kith("role", "ben", "reader")
            nodes[0].kill()
            await nodes[0].ended()
            try await nodes[0].start(peers: nodes)
            let members = try await nodes[0].json("members", "--json")["members"]?.array ?? []
            #expect(members.first { $0["id"]?.string == id }?["revoked"]?.bool == true)
            #expect(members.first { $0["name"]?.string == "ben" }?["role"]?.string == "reader")
        }
    }

    // MARK: Helpers

    /// The seconds of the day at which a node logged something, in the order of the log.
    private static func times(of words: String, in node: TestNode) -> [Double] {
        node.log.split(separator: "\n").filter { $0.contains(words) }.map { line in
            // 2026-11-30T10:06:00.860Z
            let clock = line.prefix(23).suffix(12).split(separator: ":").map { Double($0) ?? .nan }
            return clock.reduce(0) { $0 * 60 + $1 }
        }
    }

    static func checks(_ node: TestNode) async throws -> [JSONValue] {
        try await node.status()["health"]?["checks"]?.array ?? []
    }

    static func isRevoked(_ victim: TestNode, at node: TestNode) async throws -> Bool {
        let members = try await node.json("members", "--json")["members"]?.array ?? []
        return members.contains { $0["id"]?.string == victim.id && $0["revoked"]?.bool == true }
    }
}
