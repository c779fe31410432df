/// What a large mesh was measured to do. Times are of the run's clock, in microseconds.
package struct ScaleFigures: Sendable {
    package var nodes = 0
    /// From the start of all nodes at once until they have settled: everyone has links, knows of everyone and is in sync with
    /// all to whom it has a link, and nobody has more links than the bound.
    package var settledAfter: UInt64?
    /// The most links that a node had at any look before.
    package var mostLinksWhileSettling = 0
    /// Of each node, ascending, when all was over.
    package var links: [Int] = []
    /// Of each change the time until all nodes had it.
    package var arrivals: [UInt64] = []
    /// Over all changes and nodes: from how many nodes one after the other a change was got.
    package var hops: [Int] = []
    /// Until all had it: less what idle nodes send, for each change.
    package var bytesPerChange: UInt64 = 0
    package var messagesPerChange: UInt64 = 0
    /// What idle nodes send, all together, in a second. What nodes tell the mesh of where they stand after changes is in no
    /// figure: one record each, however many changes there were, at most every 2 s, or every 20 s among a thousand.
    package var idleBytesPerSecond: UInt64 = 0
    package var idleMessagesPerSecond: UInt64 = 0
    /// So many writes on as many nodes at once, and the time until all nodes had all.
    package var burst = 0
    package var burstArrival: UInt64?
    /// Bodies that came from peers, and those that were there already.
    package var received = 0
    package var duplicates = 0
    package var events: UInt64 = 0
    package var virtualMicroseconds: UInt64 = 0
    package var processorMilliseconds = 0
    package var peakMemoryBytes = 0
    package var traceHash: UInt64 = 0
    /// Each bound that did not hold, and how.
    package var failures: [String] = []

    /// Links that a node may have: those that it wants and those that want it.
    package static func mostLinks(nodes: Int) -> Int {
        var power = 0
        while 1 << power < nodes { power += 1 }
        return max(7, 2 * power)
    }

    mutating func check() {
        func require(_ isSo: Bool, _ what: @autoclosure () -> String) { if !isSo { failures.append(what()) } }
        let most = Self.mostLinks(nodes: nodes)
        let settling = SimulationLimits.settling(nodes: nodes)
        require(
            settledAfter.map { $0 <= settling } ?? false,
            "the nodes have not settled within \(settling / 1_000_000) s")
        require((links.last ?? 0) <= most, "a node has \(links.last ?? 0) links, more than \(most)")
        let slowest = (arrivals + [burstArrival ?? 0]).max() ?? 0
        require(
            arrivals.count == SimulationLimits.scaleChanges && slowest <= SimulationLimits.scaleArrival,
            "a write took \(Self.seconds(slowest)) s to be everywhere, or was not within "
                + "\(SimulationLimits.scaleArrival / 1_000_000) s")
        require(burstArrival != nil, "writes on \(burst) nodes at once have not arrived everywhere")
        require(
            duplicates * 100 < max(1, received),
            "\(duplicates) of \(received) bodies came to nodes that had them")
    }

    /// For people, a line for each.
    package var text: String {
        let mean = links.isEmpty ? 0 : links.reduce(0, +) * 10 / links.count
        let meanHops = hops.isEmpty ? 0 : hops.reduce(0, +) * 10 / hops.count
        let meanArrival = arrivals.isEmpty ? 0 : arrivals.reduce(0, +) / UInt64(arrivals.count)
        let rate = processorMilliseconds > 0 ? events * 1_000 / UInt64(processorMilliseconds) : 0
        func perNode(_ number: UInt64) -> String { "\(number / UInt64(max(1, nodes)))" }
        return [
            "nodes               \(nodes)",
            "settled after       \(settledAfter.map(Self.seconds) ?? "-") s",
            "links per node      mean \(mean / 10).\(mean % 10), most \(links.last ?? 0) (while settling "
                + "\(mostLinksWhileSettling)), bound \(Self.mostLinks(nodes: nodes))",
            "hops per change     mean \(meanHops / 10).\(meanHops % 10), most \(hops.max() ?? 0)",
            "time to converge    mean \(Self.seconds(meanArrival)) s, longest \(Self.seconds(arrivals.max() ?? 0)) s",
            "bytes per change    \(bytesPerChange) until it is everywhere (\(perNode(bytesPerChange)) a node)",
            "messages per change \(messagesPerChange) until it is everywhere (\(perNode(messagesPerChange)) a node)",
            "\(burst) writes at once   everywhere after \(burstArrival.map(Self.seconds) ?? "-") s",
            "duplicates          \(duplicates) of \(received) bodies",
            "idle, in a second   \(idleBytesPerSecond) bytes (\(perNode(idleBytesPerSecond)) a node), "
                + "\(idleMessagesPerSecond) messages",
            "events              \(events) in \(virtualMicroseconds / 1_000_000) s of virtual time, \(rate) a second",
            "processor           \(processorMilliseconds / 1_000) s",
            "peak memory         \(peakMemoryBytes >> 20) MiB",
            "trace               \(RunReport.hex(traceHash))",
        ].joined(separator: "\n")
    }

    static func seconds(_ microseconds: UInt64) -> String {
        let milliseconds = String(microseconds / 1_000 % 1_000 + 1_000).dropFirst()
        return "\(microseconds / 1_000_000).\(milliseconds)"
    }
}
