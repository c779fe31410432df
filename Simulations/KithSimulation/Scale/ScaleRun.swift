import KithDocument
import KithNode
import KithReplication
import KithStore
import KithTestSupport

/// A mesh of many nodes that are started at once: how it comes up, and what writes cost in it. Nothing fails and no plan is
/// carried out; the nodes, the network and the model are those of every other run.
package final class ScaleRun: @unchecked Sendable {
    // Sendable: a run has one thread.

    private let plan: Plan
    private let run: SimulationRun
    private var random: SeededGenerator
    private var figures = ScaleFigures()
    /// Called with what is done now.
    private let tell: (String) -> Void

    /// How far writes have got.
    private struct Spreading {
        /// How many nodes a node got the first of them through; nil where it has none yet.
        var hops: [Int?]
        /// How many of them each node has.
        var has: [Int]
        /// Over all nodes.
        var missing: Int
        /// Where the databases stood before.
        let before: [UInt64]
    }

    private var spreading: Spreading?
    /// By id the place in `run.nodes`.
    private var places: [NodeID: Int] = [:]
    private var written = 0

    /// - Parameters:
    ///   - nodes: within `SimulationLimits.nodes`.
    ///   - seed: draws delays, ties, keys, and who writes.
    ///   - tell: told what is done now.
    package init(nodes: Int, seed: UInt64, tell: @escaping (String) -> Void = { _ in }) {
        plan = Plan(seed: seed, nodes: nodes, end: 0, items: [])
        do { run = try SimulationRun(plan: plan, sabotage: nil, printing: nil) } catch {
            preconditionFailure("the keys of a run can't be made: \(error)")
        }
        random = run.world.generator("scale")
        self.tell = tell
        figures.nodes = nodes
    }

    /// Runs it to its end.
    package func measure() -> ScaleFigures {
        let start = Usage.processorMilliseconds
        do {
            try comeUp()
            try beIdle()
            try change()
            try changeAtOnce()
        } catch { figures.failures.append("\(error)") }
        count()
        figures.check()
        figures.events = run.world.handled
        figures.virtualMicroseconds = run.now
        figures.traceHash = run.trace.hash ^ run.world.hash
        figures.peakMemoryBytes = Usage.peakMemoryBytes
        figures.processorMilliseconds = Usage.processorMilliseconds - start
        run.discard()
        return figures
    }

    // MARK: Coming up

    private func comeUp() throws {
        run.network.usualPace.delay = SimulationLimits.scaleDelay
        try run.setUp()
        for (place, node) in run.nodes.enumerated() { places[node.id] = place }
        for node in run.nodes { run.start(node) }
        tell("\(plan.nodes) nodes started")
        var lookAt: UInt64 = 0
        let isSettled = try run.advance(to: SimulationLimits.settlingAtMost(nodes: plan.nodes)) { [unowned self] in
            guard run.now >= lookAt else { return false }
            lookAt = run.now + SimulationLimits.scaleLook
            tell(describeStanding())
            return hasSettled()
        }
        guard isSettled else { throw ScaleError(describeUnsettled()) }
        figures.settledAfter = run.now
        tell("settled after \(run.now / 1_000_000) s")
        for (place, node) in run.nodes.enumerated() {
            node.databases[0]?.executor.observe(.max - 1) { [weak self] summary in
                self?.arrived(at: place, summary.position.sequence)
            }
        }
    }

    private func hasSettled() -> Bool {
        let links = run.nodes.map { $0.node?.linkedPeers.count ?? 0 }
        figures.mostLinksWhileSettling = max(figures.mostLinksWhileSettling, links.max() ?? 0)
        guard links.allSatisfy({ $0 > 0 && $0 <= ScaleFigures.mostLinks(nodes: plan.nodes) }) else { return false }
        return run.nodes.allSatisfy { $0.node?.presenceCount == plan.nodes - 1 } && run.nodes.allSatisfy(isInSync)
    }

    private func isInSync(_ node: SimulatedNode) -> Bool {
        guard let running = node.node else { return false }
        return running.linkedPeers.allSatisfy { running.state(of: $0) == .inSync }
    }

    /// The links that are missing or that neither end wants, as pairs of nodes.
    private var wrongLinks: (missing: [String], spare: [String]) {
        let ring = run.nodes.map(\.id).sorted()
        var wanted: Set<[Int]> = []
        for node in ring {
            for peer in MeshSelection(node: node, isReader: false).wanted(ring: ring, isReachable: { _ in true }) {
                wanted.insert([places[node] ?? 0, places[peer] ?? 0].sorted())
            }
        }
        var present: Set<[Int]> = []
        for node in run.nodes {
            for peer in node.node?.linkedPeers ?? [] { present.insert([node.index, places[peer] ?? 0].sorted()) }
        }
        func words(_ pairs: Set<[Int]>) -> [String] {
            pairs.sorted { $0.lexicographicallyPrecedes($1) }.prefix(20).map { "\($0[0])-\($0[1])" }
        }
        return (words(wanted.subtracting(present)), words(present.subtracting(wanted)))
    }

    private func describeStanding() -> String {
        let links = run.nodes.map { $0.node?.linkedPeers.count ?? 0 }
        let known = run.nodes.map { $0.node?.presenceCount ?? 0 }
        return "at \(ScaleFigures.seconds(run.now)) s: \(links.min() ?? 0) to \(links.max() ?? 0) links, "
            + "\(known.min() ?? 0) to \(known.max() ?? 0) others known, \(run.network.totalSegments) messages"
    }

    private func describeUnsettled() -> String {
        "\(describeStanding()), \(run.nodes.count { isInSync($0) }) in sync; missing links "
            + "[\(wrongLinks.missing.joined(separator: " "))], links that nobody wants "
            + "[\(wrongLinks.spare.joined(separator: " "))]"
    }

    // MARK: What it costs

    private func beIdle() throws {
        try run.advance(to: run.now + SimulationLimits.scaleQuiet)
        let (bytes, segments) = (run.network.totalBytes, run.network.totalSegments)
        try run.advance(to: run.now + SimulationLimits.scaleIdle)
        let seconds = SimulationLimits.scaleIdle / 1_000_000
        figures.idleBytesPerSecond = (run.network.totalBytes - bytes) / seconds
        figures.idleMessagesPerSecond = (run.network.totalSegments - segments) / seconds
        tell("idle: \(figures.idleMessagesPerSecond) messages a second")
    }

    private func change() throws {
        let (bytes, segments, since) = (run.network.totalBytes, run.network.totalSegments, run.now)
        for _ in 0..<SimulationLimits.scaleChanges {
            let start = run.now
            try spread(writers: [random.below(plan.nodes)])
            figures.arrivals.append(run.now - start)
        }
        let changes = UInt64(SimulationLimits.scaleChanges)
        func above(_ now: UInt64, _ before: UInt64, _ idle: UInt64) -> UInt64 {
            let usual = idle * (run.now - since) / 1_000_000
            return now - before > usual ? (now - before - usual) / changes : 0
        }
        figures.bytesPerChange = above(run.network.totalBytes, bytes, figures.idleBytesPerSecond)
        figures.messagesPerChange = above(run.network.totalSegments, segments, figures.idleMessagesPerSecond)
        tell("\(changes) changes: \(figures.messagesPerChange) messages each")
    }

    private func changeAtOnce() throws {
        let writers = Array(random.shuffle(Array(0..<plan.nodes)).prefix(SimulationLimits.scaleBurst)).sorted()
        figures.burst = writers.count
        let start = run.now
        try spread(writers: writers)
        figures.burstArrival = run.now - start
    }

    /// Writes a document on each of the nodes, and waits until all nodes have all.
    private func spread(writers: [Int]) throws {
        spreading = Spreading(
            hops: Array(repeating: nil, count: plan.nodes), has: Array(repeating: 0, count: plan.nodes),
            missing: plan.nodes * writers.count,
            before: run.nodes.map { $0.databases[0]?.executor.summary.position.sequence ?? 0 })
        for writer in writers {
            written += 1
            run.carryOut(Operation(.put, node: writer, document: "change-\(written)", fields: "/a=\(written)"))
        }
        let limit = run.now + 2 * SimulationLimits.scaleArrival
        while let spreading, spreading.missing > 0, let next = run.world.nextTime, next <= limit {
            _ = try run.world.step()
        }
        guard let spreading, spreading.missing == 0 else {
            throw ScaleError("a write is not everywhere after \(2 * SimulationLimits.scaleArrival / 1_000_000) s")
        }
        self.spreading = nil
        guard writers.count == 1 else { return }
        figures.hops += spreading.hops.compactMap(\.self).filter { $0 > 0 }
    }

    /// A node has committed something.
    private func arrived(at place: Int, _ sequence: UInt64) {
        guard var now = spreading, let executor = run.nodes[place].databases[0]?.executor else { return }
        spreading = nil
        let has = Int(sequence - now.before[place])
        now.missing -= has - now.has[place]
        now.has[place] = has
        if now.hops[place] == nil {
            // Who writes has sources too, of changes before.
            let source = executor.traffic.lastSource.flatMap { places[$0] }
            now.hops[place] = (source.flatMap { now.hops[$0] } ?? -1) + 1
        }
        spreading = now
    }

    // MARK: The end

    private func count() {
        figures.links = run.nodes.map { $0.node?.linkedPeers.count ?? 0 }.sorted()
        for node in run.nodes {
            guard let traffic = node.databases[0]?.executor.traffic else { continue }
            figures.received += traffic.received
            figures.duplicates += traffic.received - traffic.stored
        }
    }
}

/// A mesh that does not do what it should.
struct ScaleError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
