import Glibc
import KithDocument
import KithTestSupport
import Testing

/// Commands that wait for what comes: they end with who reads them, and with the node.
@Suite(.timeLimit(.minutes(10))) struct StreamEndTests {
    @Test(arguments: [["changes", "notes", "--follow"], ["status", "--watch", "--json"]])
    func aCommandThatFollowsEndsWithItsReader(arguments: [String]) async throws {
        try await Lab.open(nodes: 1) { lab in
            let node = try await lab.group(1)[0]
            try await node.kith("db", "create", "notes")
            try await node.kith("put", "notes", "one", "{}")
            let watch = Stopwatch()
            let pipe = try ChildProgram(
                ["-c", "'\(ChildProgram.kith)' \(arguments.joined(separator: " ")) | head -n 1"], of: "/bin/sh",
                in: lab.folder, environment: ["KITH_DATA=\(node.directory)"])
            let result = try await pipe.finish(within: 30)
            #expect(result.status == 0)
            #expect(result.outputText.split(separator: "\n").count == 1, "\(result.outputText)")
            #expect(watch.seconds < 20, "nothing changed, and it ended")
        }
    }

    @Test func whoFollowsOrWaitsIsToldThatTheNodeStops() async throws {
        try await Lab.open(nodes: 1) { lab in
            let node = try await lab.group(1)[0]
            try await node.kith("db", "create", "notes")
            try await node.kith("put", "notes", "one", "{}")
            let waiter = try node.program(["wait", "--peers", "3", "--timeout", "60s"])
            let follower = try node.program(["changes", "notes", "--follow"])
            let watcher = try node.program(["status", "--watch", "--json"])
            // The one that waits says nothing: that it asks shows in its socket.
            let isRunning = try await eventually(within: 30) {
                !follower.output.isEmpty && !watcher.output.isEmpty && waiter.hasSocket
            }
            #expect(isRunning)
            try await node.stop()
            let ends: [(what: String, program: ChildProgram, status: Int32, says: String)] = [
                ("changes", follower, 1, "the node stops"), ("status", watcher, 69, "the node has ended"),
                ("wait", waiter, 2, "the node stops"),
            ]
            for (what, program, status, says) in ends {
                let result = try await program.finish(within: 20)
                #expect(result.status == status, "\(what): \(result.status)")
                #expect(result.errorText.contains(says), "\(what): \(result.errorText)")
                BadInputTests.expectOneLine(result)
            }
        }
    }
}
