import Glibc
import KithDocument
import KithTestSupport
import Testing

/// Where a node listens: what it says when it can't, and that a restart can at once.
@Suite(.timeLimit(.minutes(10))) struct ListeningTests {
    @Test func anAddressThatWasAskedForAndIsTakenOrAbsentIsAClearError() async throws {
        try await Lab.open(nodes: 2) { lab in
            let first = try await lab.group(1)[0]
            let taken = try #require(first.address)
            let second = lab.node("second")
            try await second.kith("init", "--group", "others", "--name", "second")
            for (address, words) in [
                (taken, ["Address already in use", "--listen"]),
                ("192.0.2.77:5484", ["no interface of this machine has the address 192.0.2.77", "--listen"]),
            ] {
                let result = try await second.run(["start", "--no-discovery", "--listen", address], within: 20)
                #expect(result.status == 1)
                #expect(result.output.isEmpty)
                for word in words { #expect(result.errorText.contains(word), "\(result.errorText)") }
                BadInputTests.expectOneLine(result)
            }
            // Left to the node, the next free port is taken.
            try await second.start(listening: nil)
            #expect(second.address != nil && second.address != first.address)
        }
    }

    @Test func aRestartListensOnTheSamePortAtOnceHoweverItEnded() async throws {
        try await Lab.open(nodes: 2) { lab in
            let nodes = try await lab.group(2)
            try await nodes.makeDatabase("notes")
            let address = nodes[0].address
            for isCrash in [true, false] {
                // The link is open, so the port has connections that linger in the kernel.
                if isCrash {
                    nodes[0].kill()
                    await nodes[0].ended()
                } else {
                    try await nodes[0].stop()
                }
                let watch = Stopwatch()
                try await nodes[0].start(peers: nodes)
                #expect(watch.seconds < 30)
                #expect(nodes[0].address == address)
                try await nodes.settle("notes")
            }
        }
    }
}
