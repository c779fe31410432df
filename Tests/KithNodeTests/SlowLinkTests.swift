import Dispatch
import KithDocument
import KithStore
import KithSystem
import KithTestSupport
import Testing

@testable import KithNode

/// Two running nodes on a slow way, watched all the time.
@Suite(.timeLimit(.minutes(5))) struct SlowLinkTests {
    /// 100 kB/s, and more under way than a ping passes in seconds: the sender hears no answer for long.
    @Test func aSlowLinkThatMovesIsNotDialledAnewWhileSomebodyWatches() async throws {
        let pair = try await NodePair(bytesPerSecond: 100_000)
        let (one, other) = (pair.one, pair.other)
        let watching = [one, other].map { node in
            Task {
                var states: Set<String> = []
                for await status in try await NodeService(node).statusUpdates() {
                    for peer in status.peers { states.insert(peer.state.rawValue) }
                }
                return states
            }
        }
        let service = NodeService(one)
        try await service.createDatabase("notes")
        // From the first document: on a busy machine some have passed before the last is written.
        let watch = Stopwatch()
        let text = String(repeating: "x", count: 100_000)
        for number in 0..<9 {
            let body = Array("{\"n\":\(number),\"x\":\"\(text)\"}".utf8)
            _ = try await service.put(body, as: DocumentID("large-\(number)"), in: "notes", revision: nil)
        }
        let isThere = await eventually(within: 120) {
            guard let database = other.catalog["notes"], let here = one.catalog["notes"] else { return false }
            return database.summary.digest == here.summary.digest
        }
        #expect(isThere)
        print("900 kB over a link of 100 kB/s took \(watch.seconds) s")
        #expect(watch.seconds > 5, "it was not slow")
        for node in [one, other] {
            let links = await withCheckedContinuation { done in
                node.queue.async { done.resume(returning: (node.counters.linksBegun, node.counters.linksEnded)) }
            }
            #expect(links.0 == 1 && links.1 == 0, "\(links.0) links were begun, and \(links.1) ended")
        }
        for task in watching { task.cancel() }
        let states = try await [watching[0].value, watching[1].value]
        print("states of a peer behind a slow link: \(states.map { $0.sorted() })")
        await pair.stop()
    }
}
