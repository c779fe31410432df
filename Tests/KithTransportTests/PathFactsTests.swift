import Dispatch
import KithTestSupport
import Testing

@testable import KithTransport

/// What of the kernel's numbers tells a path that loses large packets from a peer that is slow, stopped or gone.
@Suite struct PathFactsTests {
    private func facts(_ change: (inout PathFacts) -> Void) -> PathFacts {
        var facts = PathFacts()
        facts.repeats = TransportLimits.repeatsOfALostPacket
        facts.waitingBytes = 40_000
        facts.quietMilliseconds = 60_000
        change(&facts)
        return facts
    }

    @Test func `packets that arrive behind a lost one show the path`() {
        #expect(facts { $0.arrivedBehind = 1 }.losesLargeHere)
    }

    @Test func `so does a peer of which something comes while it acknowledges nothing`() {
        #expect(facts { $0.quietMilliseconds = 300 }.losesLargeHere)
    }

    @Test func `a peer that is gone is no such path`() { #expect(!facts { _ in }.losesLargeHere) }

    @Test func `neither is one that was slow once or twice`() {
        #expect(!facts { ($0.repeats, $0.arrivedBehind) = (2, 3) }.losesLargeHere)
    }

    @Test func `small packets are not lost for their size`() {
        #expect(!facts { ($0.waitingBytes, $0.quietMilliseconds) = (120, 100) }.losesLargeHere)
    }

    @Test func `the end of a message without its beginning shows the path in a handshake`() {
        #expect(facts { ($0.repeats, $0.waitingBytes, $0.outOfOrder) = (0, 0, 1) }.lostLargeInHandshake)
        #expect(!facts { ($0.repeats, $0.waitingBytes) = (0, 0) }.lostLargeInHandshake)
    }

    @Test func `the kernel tells of a connection that is well`() async throws {
        let group = try TestGroup()
        let server = try TestServer(try .member(group.first))
        let client = try Connection.dial(server.endpoint, try .member(try group.member()), segmentBytes: 1_220) {
            _, _ in
        }
        #expect(await eventually { !server.connections.isEmpty })
        client.send([UInt8](repeating: 7, count: 100_000))
        #expect(await server.recorder.wait { $0.count == 100_000 } != nil)
        let facts = await withCheckedContinuation { continuation in
            client.queue.async { continuation.resume(returning: PathFacts(client.descriptor)) }
        }
        #if os(Linux)
        #expect(facts?.repeats == 0)
        #expect(facts?.losesLargeHere == false)
        #endif
        client.close()
    }
}
