import Glibc
import KithDocument
import Testing

/// Databases that can't be used: the node is there all the same, and so are the others.
@Suite(.timeLimit(.minutes(10))) struct DamagedDatabaseTests {
    private func checks(_ node: TestNode) async throws -> [String: JSONValue] {
        var checks: [String: JSONValue] = [:]
        for check in try await node.status()["health"]?["checks"]?.array ?? [] {
            checks[check["code"]?.string ?? ""] = check
        }
        return checks
    }

    private func file(_ node: TestNode, _ name: String) -> String { "\(node.directory)/databases/\(name)" }

    @Test func aNodeStartsWithWhatItCanUseAndTellsOfTheRest() async throws {
        try await Lab.open(nodes: 2) { lab in
            let nodes = try await lab.group(2)
            let (ada, ben) = (nodes[0], nodes[1])
            for name in ["good", "bad", "empty", "newer", "other", "worn"] {
                try await nodes.makeDatabase(name)
                for number in 0..<3 { try await ada.kith("put", name, "d\(number)", #"{"n":1}"#) }
                try await nodes.settle(name)
            }
            try await ben.stop()
            await ben.willLose()
            let whole = Files.read(file(ben, "bad.sqlite3"))
            try Files.write(Array(repeating: 65, count: 8192), to: file(ben, "bad.sqlite3"))
            try Files.write([], to: file(ben, "empty.sqlite3"))
            var newer = Files.read(file(ben, "newer.sqlite3"))
            newer.replaceSubrange(60..<64, with: [0, 0, 0, 99])
            try Files.write(newer, to: file(ben, "newer.sqlite3"))
            var other = Files.read(file(ben, "other.sqlite3"))
            other.replaceSubrange(68..<72, with: [0, 0, 0, 7])
            try Files.write(other, to: file(ben, "other.sqlite3"))
            // As after a crash, and a page of nonsense.
            var worn = Files.read(file(ben, "worn.sqlite3"))
            for offset in worn.count - 4096..<worn.count { worn[offset] = UInt8(truncatingIfNeeded: offset &* 11) }
            try Files.write(worn, to: file(ben, "worn.sqlite3"))
            try Files.write([], to: file(ben, "worn.sqlite3-wal"))
            unlink(file(ben, "worn.lock"))

            try await ben.start(peers: nodes)
            let wornIsFound = try await eventually(within: 20) {
                try await ben.database("worn")["error"]?.string?.contains("damaged") == true
            }
            let status = try await ben.status()
            #expect(wornIsFound, "\(status)")
            let checks = try await checks(ben)
            for (code, level) in [
                ("DATABASE_DAMAGED", "critical"), ("DATABASE_NEWER", "critical"), ("DATABASE_UNUSABLE", "critical"),
            ] {
                #expect(checks[code]?["level"]?.string == level, "\(code): \(checks.keys.sorted())")
                let page = try await ben.run(["help", code])
                #expect(page.status == 0, "\(code) has no page")
            }
            #expect(checks["DATABASE_DAMAGED"]?["summary"]?.string?.contains("more)") == true, "\(checks)")
            for name in ["bad", "empty", "newer", "other"] {
                let database = try await ben.database(name)
                #expect(database["error"]?.string?.contains("\(name).sqlite3") == true, "\(database)")
                #expect(database["documents"]?.isNull == true && database["digest"]?.isNull == true)
                let get = try await ben.run(["get", name, "d1"])
                #expect(get.status == 1 && get.errorText.contains(name), "\(get.errorText)")
                BadInputTests.expectOneLine(get)
            }
            let put = try await ben.run(["put", "worn", "d9", "{}"])
            #expect(put.status == 1 && put.errorText.contains("damaged"), "\(put.errorText)")
            #expect(try await ben.kith("status").contains("not usable"))

            // The others go on, and nobody calls it in sync.
            try await nodes.settle("good")
            try await ada.kith("put", "good", "d1", #"{"n":2}"#)
            try await nodes.settle("good")
            #expect(try await ben.kith("get", "good", "d1") == #"{"n":2}"#)
            #expect(try await ben.peer(ada)["state"]?.string == "blocked")

            // Put back, it is used without a restart; dropped, it comes from the peer.
            try Files.write(whole, to: file(ben, "bad.sqlite3"))
            try await nodes.settle("bad", within: 60)
            try await ben.kith("db", "delete", "empty", "--yes")
            try await ben.kith("db", "create", "empty")
            try await nodes.settle("empty")
            #expect(try await ben.kith("get", "empty", "d1") == #"{"n":1}"#)
            // What was refused was left as it was.
            #expect(Files.read(file(ben, "newer.sqlite3")) == newer)
            #expect(Files.read(file(ben, "other.sqlite3")) == other)
        }
    }

    @Test func aFileTakenAwayUnderTheNodeIsNotWrittenToAnyMore() async throws {
        try await Lab.open(nodes: 1) { lab in
            let ada = try await lab.group(1)[0]
            try await ada.kith("db", "create", "notes")
            try await ada.kith("db", "create", "other")
            try await ada.kith("put", "notes", "one", #"{"n":1}"#)
            let path = file(ada, "notes.sqlite3")
            rename(path, path + ".away")
            let put = try await ada.run(["put", "notes", "one", #"{"n":2}"#])
            #expect(put.status == 1 && put.errorText.contains("notes.sqlite3 is gone"), "\(put.errorText)")
            BadInputTests.expectOneLine(put)
            #expect(try await checks(ada)["DATABASE_MOVED"] != nil)
            #expect(try await ada.kith("get", "notes", "one") == #"{"n":1}"#)
            try await ada.kith("put", "other", "one", #"{"n":1}"#)
            rename(path + ".away", path)
            try await ada.kith("put", "notes", "one", #"{"n":2}"#)
            #expect(try await checks(ada)["DATABASE_MOVED"] == nil)
            for name in ["notes", "other"] { try await [ada].settleEach(name) }
        }
    }

    @Test func aLogThatWasRemovedIsToldAndComesBackFromPeers() async throws {
        try await Lab.open(nodes: 2) { lab in
            let nodes = try await lab.group(2)
            let (ada, ben) = (nodes[0], nodes[1])
            try await nodes.makeDatabase("notes")
            for number in 0..<5 { try await ben.kith("put", "notes", "d\(number)", #"{"n":\#(number)}"#) }
            try await nodes.settle("notes")
            ben.kill()
            await ben.ended()
            await ben.willLose()
            unlink(file(ben, "notes.sqlite3-wal"))
            try await ben.start(peers: nodes)
            #expect(try await checks(ben)["LOG_LOST"]?["level"]?.string == "warning")
            try await nodes.settle("notes")
            for number in 0..<5 { #expect(try await ben.kith("get", "notes", "d\(number)") == #"{"n":\#(number)}"#) }
            #expect(try await ada.database("notes")["documents"]?.natural == 5)
            try await ben.stop()
            try await ben.start(peers: nodes)
            #expect(try await checks(ben)["LOG_LOST"] == nil)
            try await nodes.settle("notes")
        }
    }

    @Test func databasesWithoutTheirIdentityAreNotTakenForANewNode() async throws {
        try await Lab.open(nodes: 2) { lab in
            let ada = try await lab.group(1)[0]
            let ben = lab.node("ben")
            try await ben.join(by: ada)
            try await ben.start(peers: [ada])
            try await ben.kith("db", "create", "notes")
            try await ben.kith("put", "notes", "one", #"{"n":1}"#)
            try await ben.stop()
            let identity = "\(ben.directory)/identity.pem"
            rename(identity, identity + ".away")
            rename("\(ben.directory)/membership", "\(ben.directory)/membership.away")
            let code = try await ada.kith("invite")
            for command in [
                ["start", "--no-discovery"], ["init"], ["join", code, "--peer", ada.address ?? ""],
            ] {
                let result = try await ben.run(command)
                #expect(result.status == 1, "\(command): \(result.outputText)")
                #expect(result.errorText.contains("databases are there and identity.pem is not"), "\(result.errorText)")
                BadInputTests.expectOneLine(result)
            }
            rename(identity + ".away", identity)
            rename("\(ben.directory)/membership.away", "\(ben.directory)/membership")
            try await ben.start(peers: [ada])
            #expect(try await ben.kith("get", "notes", "one") == #"{"n":1}"#)
            // Who has left may come again, and keeps what it has.
            try await ben.stop()
            try await ben.kith("leave")
            try await ben.join(by: ada)
            try await ben.start(peers: [ada])
            try await [ada, ben].settle("notes")

            // An empty place, as an unmounted disk leaves it.
            let empty = lab.node("nobody")
            mkdir(empty.directory, 0o700)
            let start = try await empty.run(["start", "--no-discovery"])
            #expect(start.status == 1 && start.errorText.contains("is its disk mounted?"), "\(start.errorText)")
            #expect(Files.read("\(empty.directory)/lock").isEmpty)
        }
    }
}
