import Glibc
import KithDocument
import KithHTTPCore
import Testing

/// A node whose disk is full: a state that it lives through, tells of and leaves by itself.
@Suite(.timeLimit(.minutes(10)), .enabled(if: SmallDisk.skipReason == nil, "mounting needs root"))
struct FullDiskTests {
    /// Two nodes of a group; the second has a disk of its own.
    private func onSmallDisk(_ body: (SmallDisk, TestNode, TestNode) async throws -> Void) async throws {
        try await Lab.open(nodes: 2) { lab in
            let (ada, ben) = (lab.node("ada"), lab.node("ben"))
            let disk = try await SmallDisk.mount(at: ben.directory, mebibytes: 48, folder: lab.folder)
            let result: Result<Void, any Error>
            do {
                try await ada.found("testers")
                try await ada.start()
                try await ben.join(by: ada)
                try await ben.start(peers: [ada])
                result = .success(try await body(disk, ada, ben))
            } catch {
                result = .failure(error)
            }
            ben.kill()
            await ben.ended()
            await disk.unmount()
            try result.get()
        }
    }

    private static func large(_ number: Int) -> [UInt8] {
        Array("{\"n\":\(number),\"text\":\"\(String(repeating: "x", count: 1 << 20))\"}".utf8)
    }

    private func checks(_ node: TestNode) async throws -> [String] {
        try await node.status()["health"]?["checks"]?.array?.compactMap { $0["code"]?.string } ?? []
    }

    /// Whether a disk or a peer in the way is told.
    private func isTroubled(_ node: TestNode) async throws -> Bool {
        try await checks(node).contains { $0.hasPrefix("STORAGE") || $0 == "PEER_BLOCKED" }
    }

    @Test func isToldToAllAndPassesByItself() async throws {
        try await onSmallDisk { disk, ada, ben in
            let nodes = [ada, ben]
            try await nodes.makeDatabase("notes")
            try await ada.kith("put", "notes", "small", #"{"n":1}"#)
            try await nodes.settle("notes")
            try disk.fill(leaving: 4 << 20)
            #expect(try await eventually(within: 40) { try await checks(ben).contains("STORAGE_LOW") })
            try disk.fill(leaving: 300 << 10)

            for number in 0..<4 {
                try await ada.kith("put", "notes", "large-\(number)", "-", input: Self.large(number))
            }
            #expect(try await eventually(within: 40) { try await checks(ben).contains("STORAGE_FULL") })
            #expect(try await ben.run(["check"]).status == 2)
            // Both say why nothing goes on, over a link that stays.
            let isBlocked = try await eventually(within: 40) {
                let seen = try await ada.peer(ben)
                return seen["state"]?.string == "blocked" && seen["reason"]?.string?.contains("no space") == true
                    && seen["connected"]?.bool == true
            }
            let told = try await ada.peer(ben)
            #expect(isBlocked, "\(told)")
            let seen = try await ben.peer(ada)
            #expect(seen["state"]?.string == "blocked" && seen["connected"]?.bool == true, "\(seen)")
            #expect(try await ada.database("notes")["in_sync_with"]?.natural == 0)
            let since = seen["since"]?.string

            // Reading goes on; a write fails and is not there.
            #expect(try await ben.kith("get", "notes", "small") == #"{"n":1}"#)
            #expect(try await ben.lines("changes", "notes").isEmpty == false)
            let refused = try await ben.run(["put", "notes", "mine", "-"], input: Self.large(9))
            #expect(refused.status == 1 && refused.errorText.contains("no space left"), "\(refused.errorText)")
            BadInputTests.expectOneLine(refused)
            #expect(try await ben.run(["get", "notes", "mine"]).status == 2)
            let client = HTTPClient(.unixSocket(ben.socket))
            let answer = try await Blocking.run {
                Result {
                    try client.send(
                        HTTPClientRequest(
                            method: "PUT", target: "/v1/databases/notes/documents/mine", body: .bytes(Self.large(9))))
                }
            }.get()
            #expect(answer.head.status == 507)
            #expect(try JSONValue(parsing: answer.body)["error"]?.string == "storage_full")

            // It is not tried in a circle, and the link has not been made anew.
            let before = try await ben.peer(ada)["received_bytes"]?.natural ?? 0
            try await Task.sleep(for: .seconds(3))
            let after = try await ben.peer(ada)["received_bytes"]?.natural ?? 0
            #expect(after - before < 1 << 20, "\(after - before) bytes came in 3 s")
            #expect(try await ben.peer(ada)["since"]?.string == since)

            disk.free()
            try await nodes.settle("notes", within: 60)
            #expect(try await eventually(within: 30) { try await !isTroubled(ben) })
            #expect(try await ada.seesInSync(ben))
            try await ben.kith("put", "notes", "mine", "-", input: Self.large(9))
            try await nodes.settle("notes")
        }
    }

    /// Too little room where a copy is made, and where it is to go.
    @Test func aCopyThatDoesNotFitIsAnErrorAndLeavesNothingBehind() async throws {
        try await onSmallDisk { disk, ada, ben in
            let nodes = [ada, ben]
            try await nodes.makeDatabase("notes")
            for number in 0..<12 {
                try await ada.kith("put", "notes", "large-\(number)", "-", input: Self.large(number))
            }
            try await nodes.settle("notes")
            try disk.fill(leaving: 4 << 20)
            let copies = "\(ada.directory)-copies"
            mkdir(copies, 0o700)
            let near = try await ben.run(["backup", "notes", copies + "/copy"], within: 60)
            #expect(near.status == 1 && near.errorText.contains("must be free in"), "\(near.errorText)")
            BadInputTests.expectOneLine(near)
            let far = try await ada.run(["backup", "notes", ben.directory + "/copy"], within: 60)
            #expect(far.status == 1 && far.errorText.contains("cannot write"), "\(far.errorText)")
            BadInputTests.expectOneLine(far)
            #expect(Files.names(in: copies).isEmpty)
            let left = Files.names(in: ben.directory) + Files.names(in: ben.directory + "/databases")
            #expect(!left.contains { $0.contains("copy") }, "\(left)")
            #expect(try await ben.kith("get", "notes", "large-1").utf8.count > 1 << 20)
        }
    }

    @Test func isToldBeforeAnybodyWrites() async throws {
        try await onSmallDisk { disk, ada, ben in
            let nodes = [ada, ben]
            try await nodes.makeDatabase("notes")
            try await ada.kith("put", "notes", "one", #"{"n":1}"#)
            try await nodes.settle("notes")
            try disk.fill()
            let check = try await ben.reaches("STORAGE_FULL", level: "critical")
            #expect(check["summary"]?.string?.contains("0 KiB") == true, "\(check)")
            #expect(try await ben.run(["check"]).status == 2)
            #expect(try await !checks(ben).contains("STORAGE_LOW"))
            #expect(try await ben.database("notes")["error"]?.isNull == true, "a write was tried")
            disk.free()
            #expect(try await eventually(within: 15) { try await !isTroubled(ben) })
            #expect(try await ben.run(["check"]).status == 0)
        }
    }

    @Test func smallFilesKeepWhatTheyHeldAndTheNodeStartsAllTheSame() async throws {
        try await onSmallDisk { disk, ada, ben in
            let nodes = [ada, ben]
            try await nodes.makeDatabase("notes")
            try await nodes.makeDatabase("spare")
            try await ben.kith("put", "spare", "one", #"{"n":1}"#)
            try await ada.kith("put", "notes", "one", #"{"n":1}"#)
            try await nodes.settle("notes")
            try await nodes.settle("spare")
            try disk.fill()

            // What can't be kept is not done.
            let pause = try await ben.run(["pause"])
            #expect(pause.status == 1, "\(pause.outputText)\(pause.errorText)")
            #expect(try await !checks(ben).contains("PAUSED"))
            #expect(try await ben.peer(ada)["connected"]?.bool == true)
            let muted = try await ben.run(["mute", "STORAGE_LOW"])
            #expect(muted.status == 1, "\(muted.outputText)\(muted.errorText)")
            let low = try await ben.status()["health"]?["checks"]?.array?.filter { $0["muted_until"]?.string != nil }
            #expect(low?.isEmpty == true, "what failed is not done")
            let created = try await ben.run(["db", "create", "more"])
            #expect(created.status == 1 && created.errorText.contains("more"), "\(created.errorText)")
            #expect(try await !ben.kith("db", "list").contains("more"))

            // An import says how far it got.
            let lines = (0..<400).map { "{\"_id\":\"i\($0)\",\"x\":\"\(String(repeating: "x", count: 4_000))\"}\n" }
            let load = try await ben.run(["import", "notes", "-"], input: Array(lines.joined().utf8))
            #expect(load.status == 1 && load.errorText.contains("import"), "\(load.errorText)")
            BadInputTests.expectOneLine(load)

            try await ben.stop()
            try disk.fill()
            // Also at an address that can't be remembered.
            try await ben.start(listening: "127.0.0.1:0", peers: [ada])
            #expect(ben.log.contains("the next start may choose another port"), "\(ben.log)")
            #expect(try await ben.run(["status"]).status == 0)
            // A database may be dropped to make room.
            try await ben.kith("db", "delete", "spare", "--yes")
            disk.free()
            try await nodes.settle("notes", within: 60)
            #expect(try await eventually(within: 30) { try await !isTroubled(ben) })
            #expect(try await ben.kith("get", "notes", "one") == #"{"n":1}"#)
            #expect(try await !ben.kith("db", "list").contains("spare"))
            try await ben.kith("pause")
            #expect(try await checks(ben).contains("PAUSED"))
        }
    }
}
