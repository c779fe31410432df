import KithDocument
import Testing

/// A node that nobody finds and that dials one other alone, as one in a container does: it tells of an address.
@Suite(.timeLimit(.minutes(10))) struct AdvertiseTests {
    @Test func anAddressThatANodeTellsOfIsUsedByNodesThatHaveNoOther() async throws {
        try await Lab.open(nodes: 3) { lab in
            let nodes = try await lab.group(2)
            let cleo = lab.node("cleo")
            try await cleo.join(by: nodes[0])
            try await cleo.start(peers: [nodes[0]])
            try await cleo.kith("wait", "--peers", "1")
            // Ben learns of it by way of ada, and has no address for it.
            let isKnown = try await eventually(within: 30) {
                try await nodes[1].status()["peers"]?.array?.contains { $0["id"]?.string == cleo.id } == true
            }
            #expect(isKnown)
            #expect(try await nodes[1].peer(cleo)["candidates"]?.array?.isEmpty == true)
            #expect(try await nodes[1].peer(cleo)["connected"] == false)

            try await cleo.stop()
            try await cleo.start(peers: [nodes[0]], options: ["--advertise", try #require(cleo.address)])
            let isReached = try await eventually(within: 60) { try await nodes[1].peer(cleo)["connected"] == true }
            #expect(isReached)
            let peer = try await nodes[1].peer(cleo)
            #expect(peer["direction"] == "dialled")
            #expect(peer["candidates"]?[0]?["source"] == "advertised")
        }
    }

    @Test func whatIsNoAddressOrPatternIsRefusedBeforeAnythingStarts() async throws {
        try await Lab.open(nodes: 1) { lab in
            let node = lab.node("ada")
            try await node.found("testers")
            for (option, value, words) in [
                ("--advertise", "0.0.0.0:5484", "no node can be at this address"),
                ("--interface", "eth 0", "no pattern"),
            ] {
                let result = try await node.run(["start", "--no-discovery", option, value])
                #expect(result.status == 64, "\(result.errorText)")
                #expect(result.errorText.contains(words), "\(result.errorText)")
            }
        }
    }
}
