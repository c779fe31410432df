import Glibc
import KithDocument
import KithTestSupport
import Testing

/// The life of nodes: pausing, stopping, vanishing, and what each says of the others.
@Suite(.timeLimit(.minutes(10))) struct NodeLifeTests {
    @Test func aPauseOutlivesARestartAndEndsByResume() async throws {
        try await Lab.open(nodes: 2) { lab in
            let nodes = try await lab.group(2)
            let (ada, ben) = (nodes[0], nodes[1])
            try await nodes.makeDatabase("notes")
            try await nodes.settle("notes")
            try await ben.kith("pause", "--for", "4h")
            func isPaused() async throws -> Bool {
                let peer = try await ben.peer(ada)
                return peer["state"]?.string == "paused" && peer["connected"]?.bool == false
                    && peer["paused_until"]?.string != nil
            }
            #expect(try await eventually(within: 40) { try await isPaused() })
            #expect(try await ben.run(["check"]).status == 1)
            try await ada.kith("put", "notes", "one", #"{"n":1}"#)

            try await ben.stop()
            try await ben.start(peers: nodes)
            #expect(try await isPaused())
            let early = try await ben.run(["wait", "--timeout", "1s"])
            #expect(early.status == 2)
            #expect(try await ben.run(["get", "notes", "one"]).status == 2)
            let seen = try await ada.peer(ben)
            #expect(seen["state"]?.string != "in_sync" && seen["connected"]?.bool == false, "\(seen)")
            // The other side says so too, and goes on saying so however often it asks.
            func saysPaused() async throws -> Bool {
                let peer = try await ada.peer(ben)
                return peer["state"]?.string == "paused" && peer["connected"]?.bool == false
                    && peer["reason"]?.string?.hasPrefix("the peer says: paused there until 20") == true
            }
            #expect(try await eventually(within: 60) { try await saysPaused() })
            let since = try await ada.peer(ben)["since"]?.string
            let watch = Stopwatch()
            let isOver = try await eventually(within: 60) {
                let stillSays = try await saysPaused()
                #expect(stillSays)
                return watch.seconds > 6
            }
            let sinceThen = try await ada.peer(ben)["since"]?.string
            #expect(isOver && sinceThen == since)
            #expect(try await ada.kith("status").contains("the peer says: paused there until"))

            try await ben.kith("resume")
            try await nodes.settle("notes", within: 20)
            #expect(try await ben.kith("get", "notes", "one") == #"{"n":1}"#)
            #expect(try await ben.run(["check"]).status == 0)
        }
    }

    @Test func aPauseOfOnePeerIsOfThatPeerAndEndsWithItsTime() async throws {
        try await Lab.open(nodes: 3) { lab in
            let nodes = try await lab.group(3)
            let (ada, ben, cleo) = (nodes[0], nodes[1], nodes[2])
            try await nodes.makeDatabase("notes")
            try await nodes.settle("notes")
            try await cleo.kith("pause", ben.name, "--for", "2s")
            #expect(try await eventually(within: 40) { try await cleo.peer(ben)["connected"]?.bool == false })
            #expect(try await cleo.peer(ada)["connected"]?.bool == true)
            // It comes by way of the third.
            try await ben.kith("put", "notes", "one", #"{"n":1}"#)
            #expect(try await eventually(within: 40) { try await cleo.run(["get", "notes", "one"]).status == 0 })
            try await nodes.settle("notes", within: 40)
            #expect(try await cleo.peer(ben)["paused_until"]?.isNull == true)
        }
    }

    @Test func pausesInTheMiddleOfADialLeaveNoPairApart() async throws {
        try await Lab.open(nodes: 5) { lab in
            let nodes = try await lab.group(5)
            try await nodes.makeDatabase("notes")
            for round in 1...4 {
                // The first to be paused is dialled by those that are not yet, and are a moment later.
                try await together(nodes) { try await $0.kith("wait", "--peers", "4") }
                try await Task.sleep(for: .milliseconds(1_100))
                try await together(nodes) { try await $0.kith("pause") }
                try await nodes[round % 5].kith("put", "notes", "one", #"{"round":\#(round)}"#)
                try await together(nodes) { try await $0.kith("resume") }
            }
            try await nodes.settle("notes", within: 40)
            #expect(try await nodes[1].kith("get", "notes", "one") == #"{"round":4}"#)
        }
    }

    @Test func aNodeThatWasToldToStopEndsWellAndIsUnknownToTheOthers() async throws {
        try await Lab.open(nodes: 2) { lab in
            let nodes = try await lab.group(2)
            let (ada, ben) = (nodes[0], nodes[1])
            try await nodes.makeDatabase("notes")
            try await nodes.settle("notes")
            try await ben.kith("stop")
            #expect(await ben.ended() == 0)
            let late = try await ben.run(["status"])
            #expect(late.status == 69 && late.errorText.contains("kith start"))
            BadInputTests.expectOneLine(late)
            #expect(try await ben.run(["check"]).status == 3)

            #expect(try await eventually(within: 20) { try await ada.peer(ben)["state"]?.string == "unknown" })
            let peer = try await ada.peer(ben)
            #expect(peer["connected"]?.bool == false)
            #expect(peer["databases"]?.array?.isEmpty == true, "\(peer)")
            let database = try await ada.database("notes")
            #expect(database["peers"]?.natural == 0 && database["in_sync_with"]?.natural == 0)
            #expect(try await ada.run(["wait", "--in-sync", "notes", "--timeout", "100ms"]).status == 2)

            try await ben.start(peers: nodes)
            try await nodes.settle("notes", within: 30)
        }
    }

    @Test func aNodeThatHangsIsUnknownAndNeverInSync() async throws {
        try await Lab.open(nodes: 2) { lab in
            let nodes = try await lab.group(2)
            let (ada, ben) = (nodes[0], nodes[1])
            try await nodes.makeDatabase("notes")
            try await nodes.settle("notes")
            let pid = try #require(ben.processID)
            #expect(try await ada.seesInSync(ben))
            _ = kill(pid, SIGSTOP)
            let isUnknown = try await eventually(within: 20) { try await ada.peer(ben)["state"]?.string == "unknown" }
            let seen = try await ada.peer(ben)
            #expect(isUnknown, "\(seen)")
            // A write meanwhile is never called known there.
            try await ada.kith("put", "notes", "one", #"{"n":1}"#)
            #expect(try await ada.peer(ben)["state"]?.string == "unknown")
            #expect(try await ada.database("notes")["in_sync_with"]?.natural == 0)
            _ = kill(pid, SIGCONT)
            try await nodes.settle("notes", within: 40)
            #expect(try await ben.kith("get", "notes", "one") == #"{"n":1}"#)
        }
    }

    @Test func theStatusHasEveryMember() async throws {
        try await Lab.open(nodes: 2) { lab in
            let nodes = try await lab.group(2)
            try await nodes.makeDatabase("notes")
            try await nodes[0].kith("put", "notes", "one", #"{"n":1}"#)
            try await nodes.settle("notes")
            for node in nodes {
                var status = JSONValue.null
                // On a busy machine a peer may answer late, and is unknown until it does.
                let isSeen = try await eventually(within: 30) {
                    status = try await node.status()
                    return status["peers"]?[0]?["state"]?.string == "in_sync"
                }
                #expect(isSeen)
                let other = nodes.first { $0 !== node }!
                #expect(status["schema"]?.string == "kith.status/1")
                for (path, names) in Self.members {
                    var value: JSONValue? = status
                    for step in path.split(separator: "/") { value = step == "0" ? value?[0] : value?[String(step)] }
                    let object = try #require(value?.object, "\(path) is no object")
                    for name in names { #expect(object[name] != nil, "\(path) has no \(name)") }
                }
                #expect(status["node"]?["name"]?.string == node.name)
                #expect(status["node"]?["group"]?.string == "testers")
                #expect(status["node"]?["role"]?.string == (node === nodes[0] ? "admin" : "writer"))
                #expect(status["node"]?["listen"]?[0]?.string == node.address)
                #expect(status["node"]?["data"]?.string == node.directory)
                #expect(status["node"]?["pid"]?.integer == node.processID.map { Int64($0) })
                #expect(status["health"]?["level"]?.string == "ok")
                #expect(status["discovery"]?["state"]?.string == "off")
                let database = try #require(status["databases"]?[0])
                #expect(database["documents"]?.natural == 1 && database["in_sync_with"]?.natural == 1)
                #expect(database["digest"]?.string?.utf8.count == 64)
                let peer = try #require(status["peers"]?[0])
                #expect(peer["name"]?.string == other.name && peer["state"]?.string == "in_sync")
                #expect(peer["databases"]?[0]?["digest_equal"]?.bool == true)
                #expect(peer["databases"]?[0]?["in_changes"]?.natural == 0)
                #expect(peer["databases"]?[0]?["out_changes"]?.natural == 0)
                for time in [
                    status["generated_at"], status["node"]?["started_at"], peer["since"], peer["last_exchange_at"],
                ] {
                    let text = time?.string ?? ""
                    #expect(text.hasSuffix("Z") && text.contains("T"), "\(text)")
                }
                // One peer by name, and the forms for people.
                #expect(try await node.json("status", other.name, "--json")["id"] == peer["id"])
                #expect(try await node.kith("status", "-x").split(separator: "\n").count == 1)
                #expect(try await node.kith("status").contains(other.name))
            }
        }
    }

    /// What `kith.status/1` has at least.
    private static let members: [(String, [String])] = [
        ("", ["schema", "generated_at", "node", "health", "discovery", "databases", "peers"]),
        ("node", ["id", "name", "group", "role", "version", "pid", "started_at", "listen", "data"]),
        ("health", ["level", "checks"]),
        ("discovery", ["state", "since", "last_error", "foreign_groups", "interfaces"]),
        (
            "databases/0",
            [
                "name", "path", "documents", "deleted", "conflicts", "sequence", "digest", "bytes", "wal_bytes",
                "in_sync_with", "peers",
            ]
        ),
        (
            "peers/0",
            [
                "id", "name", "state", "reason", "connected", "direction", "address", "since", "last_exchange_at",
                "round_trip_ms", "clock_offset_ms", "sent_bytes", "received_bytes", "version", "protocol", "candidates",
                "databases",
            ]
        ),
        (
            "peers/0/databases/0",
            ["name", "in_changes", "out_changes", "digest_equal", "pulled", "pushed", "refused"]
        ),
    ]

    @Test func theMeshIsTheSameSeenFromEverywhere() async throws {
        try await Lab.open(nodes: 3) { lab in
            let nodes = try await lab.group(3)
            let isWhole = try await eventually(within: 30) {
                for node in nodes {
                    let mesh = try await node.json("mesh", "--json")
                    guard mesh["schema"]?.string == "kith.mesh/1", let known = mesh["nodes"]?.array, known.count == 3
                    else {
                        return false
                    }
                    guard known.allSatisfy({ $0["neighbours"]?.array?.count == 2 }) else { return false }
                    guard Set(known.compactMap { $0["name"]?.string }) == Set(nodes.map(\.name)) else { return false }
                    guard known.filter({ $0["self"]?.bool == true }).compactMap({ $0["name"]?.string }) == [node.name]
                    else { return false }
                }
                return true
            }
            let seen = try await nodes[0].json("mesh", "--json")
            #expect(isWhole, "\(seen)")
            let text = try await nodes[1].kith("mesh")
            for node in nodes { #expect(text.contains(node.name)) }
        }
    }

    @Test func aDroppedDatabaseIsDroppedHereOnly() async throws {
        try await Lab.open(nodes: 2) { lab in
            let nodes = try await lab.group(2)
            try await nodes.makeDatabase("notes")
            try await nodes[0].kith("put", "notes", "one", #"{"n":1}"#)
            try await nodes.settle("notes")
            try await nodes[1].kith("db", "delete", "notes", "--yes")
            #expect(try await nodes[1].kith("db", "list") == "")
            #expect(try await nodes[0].kith("get", "notes", "one") == #"{"n":1}"#)
            // Not even a restart brings it back by itself.
            try await nodes[1].stop()
            try await nodes[1].start(peers: nodes)
            try await nodes[1].kith("wait")
            #expect(try await nodes[1].kith("db", "list") == "")
            // Made again it is filled again.
            try await nodes[1].kith("db", "create", "notes")
            try await nodes.settle("notes", within: 30)
            #expect(try await nodes[1].kith("get", "notes", "one") == #"{"n":1}"#)
        }
    }

    @Test func aNodeThatStandsStillIsSaidNotToAnswer() async throws {
        try await Lab.open(nodes: 1) { lab in
            let ada = lab.node("ada")
            try await ada.found("testers")
            try await ada.start()
            let process = try #require(ada.processID)
            kill(process, SIGSTOP)
            defer { kill(process, SIGCONT) }
            let check = try await ada.run(["check"], within: 120)
            #expect(check.status == 3 && check.outputText.contains("does not answer"), "\(check.outputText)")
            let status = try await ada.run(["status"], within: 120)
            #expect(status.status == 1 && status.errorText.contains("does not answer"), "\(status.errorText)")
        }
    }
}
