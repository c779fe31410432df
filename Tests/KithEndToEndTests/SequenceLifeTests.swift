import Glibc
import KithDocument
import KithHTTPCore
import KithTestSupport
import Synchronization
import Testing

/// Directories put back and databases made again under running nodes, and processes killed anywhere.
@Suite(.timeLimit(.minutes(60))) struct SequenceLifeTests {
    @Test func aNodeWhoseDirectoryWasPutBackGetsItsOwnWritesBackAndSaysSo() async throws {
        try await Lab.open(nodes: 3) { lab in
            let nodes = try await lab.group(3)
            let (ada, ben) = (nodes[0], nodes[1])
            try await nodes.makeDatabase("notes")
            for number in 1...10 { try await ben.kith("put", "notes", "early-\(number)", #"{"n":\#(number)}"#) }
            try await nodes.settle("notes")
            // The backup is a copy of the running node's directory, the log of the database too.
            let backup = "\(lab.folder)/backup"
            try Files.copy(ben.directory, to: backup)
            try await ben.kith("import", "notes", "-", input: RestartTests.documents(100))
            try await ben.kith("put", "notes", "early-1", #"{"n":"changed"}"#)
            try await ben.kith("delete", "notes", "early-2")
            let before = try await nodes.settle("notes")

            try await ben.stop()
            await ben.willLose()
            try Files.copy(backup, to: ben.directory)
            try await ben.start(peers: nodes)
            #expect(try await nodes.settle("notes", within: 60) == before)
            for node in nodes {
                #expect(try await node.database("notes")["documents"]?.natural == 109)
                #expect(try await node.kith("get", "notes", "early-1") == #"{"n":"changed"}"#)
                #expect(try await node.run(["get", "notes", "early-2"]).status == 2)
            }
            let health = try await ben.status()["health"]
            let check = health?["checks"]?.array?.first { $0["code"]?.string == "ROLLBACK_DETECTED" }
            #expect(check?["summary"]?.string?.contains("notes") == true, "\(String(describing: health))")
            #expect(try await ben.database("notes")["put_back_at"]?.string?.hasSuffix("Z") == true)
            #expect(ben.log.contains("put back to an earlier state"))
            #expect(try await ben.run(["check"]).status == 1)
            // The others have nothing to report, and a restart ends it.
            #expect(try await ada.run(["check"]).status == 0)
            try await ben.stop()
            try await ben.start(peers: nodes)
            try await nodes.settle("notes")
            #expect(try await ben.run(["check"]).status == 0)
        }
    }

    @Test func aDatabaseDroppedAndMadeAgainUnderItsNameIsWholeAgain() async throws {
        try await Lab.open(nodes: 2) { lab in
            let nodes = try await lab.group(2)
            let (ada, ben) = (nodes[0], nodes[1])
            try await nodes.makeDatabase("notes")
            try await ada.kith("import", "notes", "-", input: RestartTests.documents(1_500))
            try await nodes.settle("notes")
            for round in 1...3 {
                // Documents are on their way while it goes and comes.
                try await ada.kith("put", "notes", "round-\(round)", #"{"n":\#(round)}"#)
                try await ben.kith("db", "delete", "notes", "--yes")
                try await ben.kith("db", "create", "notes")
                try await ben.kith("put", "notes", "again-\(round)", #"{"n":\#(round)}"#)
            }
            try await nodes.settle("notes")
            for node in nodes {
                #expect(try await node.database("notes")["documents"]?.natural == 1_506)
            }
            // And while the node is stopped, by hand: it is missed, and comes from the peer once somebody gives it up.
            try await ben.stop()
            await ben.willLose()
            for name in Files.names(in: "\(ben.directory)/databases") where name.hasPrefix("notes.sqlite3") {
                unlink("\(ben.directory)/databases/\(name)")
            }
            try await ben.start(peers: nodes)
            _ = try await ben.reaches("DATABASE_MISSING", level: "critical")
            try await ben.kith("db", "delete", "notes", "--yes")
            try await ben.kith("db", "create", "notes")
            try await nodes.settle("notes")
            #expect(try await ben.database("notes")["documents"]?.natural == 1_506)
            let log = ada.log
            #expect(log.contains("knew another history") || log.contains("has another history"), "\(log.suffix(2_000))")
            try await Self.expectComparison(ada, ben)
        }
    }

    /// A database made again and filled before it meets the other: the two have much and no checkpoint in common, so they
    /// are compared by ranges, and both nodes' status says so.
    private static func expectComparison(_ ada: TestNode, _ ben: TestNode) async throws {
        let begun = try #require(try await ada.status()["generated_at"]?.string)
        try await ben.kith("pause")
        try await ben.kith("db", "delete", "notes", "--yes")
        try await ben.kith("db", "create", "notes")
        try await ben.kith("import", "notes", "-", input: RestartTests.documents(1_500))
        try await ben.kith("put", "notes", "own", #"{"n":1}"#)
        try await ben.kith("resume")
        try await [ada, ben].settle("notes")
        for (node, other) in [(ada, ben), (ben, ada)] {
            #expect(try await node.database("notes")["documents"]?.natural == 1_507)
            let shown = try await node.peer(other)["databases"]?.array?.first { $0["name"]?.string == "notes" }
            let told = "\(node.name): \(String(describing: shown))"
            #expect(shown?["compared_because"]?.string == "no_checkpoint", "\(told)")
            #expect(shown?["compared_at"]?.string ?? "" > begun, "\(told)")
            #expect(shown?["compared_revisions"]?.natural ?? 0 > 0, "\(told)")
            #expect(shown?["left_out_here"]?.natural == 0 && shown?["left_out_by_peer"]?.natural == 0, "\(told)")
        }
    }

    @Test func aSecondNodeOnADirectoryNamesTheFirstAndAKilledOneLeavesNoLock() async throws {
        try await Lab.open(nodes: 1) { lab in
            let ada = lab.node("ada")
            try await ada.found("testers")
            try await ada.start()
            let first = try #require(ada.processID)
            for command in [["start", "--no-discovery"], ["identity", "reset", "--yes"], ["leave"]] {
                let second = try await ada.run(command)
                #expect(second.status == 1 && second.errorText.contains("\(first)"), "\(command): \(second.errorText)")
                BadInputTests.expectOneLine(second)
            }
            for _ in 0..<3 {
                ada.kill()
                await ada.ended()
                try await ada.start()
            }
            #expect(try await ada.run(["check"]).status == 0)
        }
    }

    /// Three nodes that write all the time, of which one after the other is killed wherever it is. 500 kills in the long
    /// form.
    @Test func whateverMomentANodeIsKilledNothingAcknowledgedIsLost() async throws {
        let kills = getenv("KITH_LONG_TESTS") == nil ? 10 : 500
        var random = SeededGenerator(seed: 20_261_130)
        try await Lab.open(nodes: 3) { lab in
            let nodes = try await lab.group(3)
            try await nodes.makeDatabase("notes")
            try await nodes.settle("notes")
            let writers = nodes.map { Writer($0, database: "notes") }
            for writer in writers { writer.start() }
            for kill in 0..<kills {
                try await Task.sleep(for: .milliseconds(random.within(0...150)))
                let victim = nodes[random.below(3)]
                victim.kill()
                await victim.ended()
                try await victim.start(peers: nodes)
                if kill % 4 == 3 { try await Task.sleep(for: .milliseconds(random.within(0...600))) }
            }
            for writer in writers { await writer.stop() }
            try await nodes.settle("notes", within: 180)
            let acknowledged = writers.flatMap(\.acknowledged)
            #expect(acknowledged.count > kills)
            for node in nodes {
                var bodies: [String: JSONValue] = [:]
                for line in try await node.lines("export", "notes") { bodies[line["_id"]?.string ?? ""] = line["n"] }
                for (id, number) in acknowledged where bodies[id]?.integer ?? -1 < Int64(number) {
                    Issue.record("\(id) is at \(String(describing: bodies[id])) on \(node.name), not at \(number)")
                }
                #expect(try await node.run(["check"]).status == 0)
            }
        }
    }

    /// Writes to a node as long as it is there, and remembers what was acknowledged.
    private final class Writer: @unchecked Sendable {
        // Sendable: what varies is locked.
        private struct State {
            var isOver = false
            var acknowledged: [String: Int] = [:]
        }

        private let node: TestNode
        private let database: String
        private let state = Mutex(State())
        private let task = Mutex<Task<Void, Never>?>(nil)

        init(_ node: TestNode, database: String) {
            self.node = node
            self.database = database
        }

        /// The ids, and the highest number that was acknowledged of each.
        var acknowledged: [(String, Int)] { state.withLock { $0.acknowledged.map { ($0.key, $0.value) } } }

        func start() {
            let task = Task { await Blocking.run { self.run() } }
            self.task.withLock { $0 = task }
        }

        func stop() async {
            state.withLock { $0.isOver = true }
            await task.withLock { $0 }?.value
        }

        private func run() {
            let client = HTTPClient(.unixSocket(node.socket))
            var number = 0
            while !state.withLock({ $0.isOver }) {
                number += 1
                // New documents, and some that are edited again and again.
                let id = number % 3 == 0 ? "\(node.name)-edited-\(number % 5)" : "\(node.name)-\(number)"
                let request = HTTPClientRequest(
                    method: "PUT", target: HTTPTarget.encode(["v1", "databases", database, "documents", id]),
                    body: .bytes(Array(#"{"n":\#(number)}"#.utf8)))
                if let answer = try? client.send(request), (200..<300).contains(answer.head.status) {
                    state.withLock { $0.acknowledged[id] = number }
                    node.ledger.wrote([id], in: database, by: node.name)
                } else {
                    usleep(2_000)
                }
                usleep(500)
            }
        }
    }
}
