import Glibc
import KithDocument
import KithTestSupport
import Testing

@testable import KithReplication

/// What a peer that does not keep up, or does not want to, costs the others.
@Suite(.timeLimit(.minutes(30))) struct MemoryTests {
    private static let isLong = getenv("KITH_LONG_TESTS") != nil
    /// Bytes of memory that one peer may cost.
    private static let allowance = 10 << 20

    /// Documents of 100 kB each that differ in every byte's place from those of another run.
    private static func documents(_ name: String, megabytes: Int) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(megabytes << 20)
        for number in 0..<(megabytes * 10) {
            text += Array("{\"_id\":\"\(name)-\(number)\",\"x\":\"".utf8)
            text += [UInt8](repeating: UInt8(ascii: "a") + UInt8(number % 26), count: 100_000)
            text += Array("\"}\n".utf8)
        }
        return text
    }

    @Test func aStoppedPeerCostsNoMoreMemoryHoweverMuchWaitsForIt() async throws {
        try await Lab.open(nodes: 2) { lab in
            let nodes = try await lab.group(2)
            try await nodes.makeDatabase("bulk")
            let pid = try #require(nodes[0].processID)
            let megabytes = Self.isLong ? 500 : 40
            let path = "\(lab.folder)/documents"
            // The first time warms the node up: what it keeps of its own is not the peer's cost.
            try Files.write(Self.documents("warm", megabytes: 40), to: path)
            try await nodes[0].kith("import", "bulk", path, within: 300)
            try await nodes.settle("bulk", within: 300)
            let stopped = try #require(nodes[1].processID)
            kill(stopped, SIGSTOP)
            defer { kill(stopped, SIGCONT) }
            try Files.write(Self.documents("behind", megabytes: megabytes), to: path)
            let before = ProcessFacts.residentBytes(pid)
            try ProcessFacts.resetPeak(pid)
            let watch = Stopwatch()
            try await nodes[0].kith("import", "bulk", path, within: 600)
            // Until the link is given up: what waited for it is given back only then.
            _ = try await eventually(within: 60) { watch.seconds > 3 }
            // The kernel's own account misses no moment of it.
            let highest = ProcessFacts.peakBytes(pid)
            try #require(highest > 0)
            print("\(megabytes) MB behind a stopped peer: \(before >> 20) MB before, \(highest >> 20) MB at most")
            #expect(highest - before < Self.allowance, "\(before) bytes before, \(highest) with the stopped peer")
            kill(stopped, SIGCONT)
            try await nodes.settle("bulk", within: 300)
        }
    }

    @Test func aPeerThatAsksForEverythingAndReadsNothingCostsLittle() async throws {
        try await Lab.open(nodes: 2) { lab in
            let node = try await lab.group(1)[0]
            let patched = lab.node("patched")
            try await patched.join(by: node)
            try await node.kith("db", "create", "bulk")
            let path = "\(lab.folder)/documents"
            try Files.write(Self.documents("wanted", megabytes: 30), to: path)
            try await node.kith("import", "bulk", path, within: 300)
            let wants = try await node.lines("changes", "bulk").compactMap { line -> Want? in
                guard let id = line["id"]?.string, let revision = line["rev"]?.string.flatMap({ RevisionID($0) }) else {
                    return nil
                }
                return Want(document: DocumentID(unchecked: id), revisions: [revision], known: [])
            }
            try #require(wants.count == 300)
            let pid = try #require(node.processID)
            let before = ProcessFacts.residentBytes(pid)
            let peer = try PatchedPeer(as: patched, to: node, reads: false)
            peer.greet()
            peer.say(.open(feed: 1, database: 1))
            peer.say(.subscribe(feed: 1, after: nil))
            for request in 1...UInt64(ReplicationLimits.requestsInFlight) {
                peer.say(.want(feed: 1, request: request, wants: wants))
            }
            var highest = 0
            var nonce: UInt64 = 0
            let watch = Stopwatch()
            // It is dropped when it has answered no ping for a minute.
            let isOver = try await eventually(within: 100) {
                highest = max(highest, ProcessFacts.residentBytes(pid))
                // It goes on talking, so that silence is no reason.
                if Double(nonce) < watch.seconds {
                    nonce += 1
                    peer.say(.ping(Heartbeat(nonce: nonce, wallClock: nil)))
                }
                let links = try await node.status()["peers"]?.array?.count { $0["connected"]?.bool == true }
                return watch.seconds > 2 && (links == 0 || !Self.isLong && watch.seconds > 5)
            }
            #expect(isOver, "it is still connected")
            print("a peer that reads nothing: \(before >> 20) MB before, \(highest >> 20) MB at most")
            #expect(highest - before < Self.allowance, "\(before) bytes before, \(highest) with the peer")
            #expect(try await node.kith("get", "bulk", "wanted-1").hasPrefix("{"))
        }
    }

    @Test func aMemberThatSaysNothingIsDroppedAndHoldsUpNobody() async throws {
        try await Lab.open(nodes: 3) { lab in
            let nodes = try await lab.group(2)
            let silent = lab.node("silent")
            try await silent.join(by: nodes[0])
            try await nodes.makeDatabase("notes")
            let peers = try (0..<5).map { _ in try PatchedPeer(as: silent, to: nodes[0], reads: true) }
            let isThere = try await eventually(within: 30) { peers.contains { $0.isConnected } }
            #expect(isThere)
            try await nodes[0].kith("put", "notes", "meanwhile", "{}")
            let arrived = try await eventually(within: 40) {
                try await nodes[1].run(["get", "notes", "meanwhile"]).status == 0
            }
            #expect(arrived)
            let watch = Stopwatch()
            let areDropped = try await eventually(within: 60) { peers.allSatisfy { $0.end != nil } }
            #expect(areDropped, "10 s on an idle machine; still there after \(watch.seconds) s")
            try await nodes.settle("notes")
        }
    }

    @Test func aMemberThatOpensFeedsOfManyNamesIsDropped() async throws {
        try await Lab.open(nodes: 2) { lab in
            let node = try await lab.group(1)[0]
            let patched = lab.node("patched")
            try await patched.join(by: node)
            try await node.kith("db", "create", "notes")
            let pid = try #require(node.processID)
            let before = ProcessFacts.residentBytes(pid)
            let peer = try PatchedPeer(as: patched, to: node, reads: false)
            peer.greet()
            var writer = CBORWriter(capacity: 1 << 20)
            for feed in 1...UInt64(100_000) { writer.append(frame: .open(feed: feed, database: feed)) }
            peer.say(raw: writer.bytes)
            // It reads nothing, so its own end of the connection may not know.
            let isDropped = try await eventually(within: 60) {
                guard peer.isConnected, peer.end == nil else { return peer.end != nil }
                let peers = try await node.status()["peers"]?.array ?? []
                return peers.contains { $0["reason"]?.string?.contains("was not named") == true }
            }
            #expect(isDropped)
            #expect(ProcessFacts.residentBytes(pid) - before < Self.allowance)
        }
    }
}
