import KithDocument
import KithNode
import KithStore
import KithVirtualDisk

// What must be done in the end, and what must be left of it.

extension SimulationRun {
    /// L7: once there is room again, a write is done without anybody's help. Called when the room is there.
    func checkRecovery(of node: SimulatedNode) {
        let incarnation = node.incarnation
        world.after(SimulationLimits.roomTime) { [unowned self] in
            guard !isHealed, node.incarnation == incarnation, let process = node.process, !process.isPaused,
                node.machine.hasGoodDisk, !hasBadDisk(node), !node.isDamaged, !node.isOutsider, node.isRunning,
                let number = node.databases.keys.min()
            else { return }
            let before = Set(node.calls.keys)
            carryOut(
                Operation(
                    .put, node: node.index, database: number, document: "room-\(node.index)-\(now)", fields: "/a=1"))
            guard let call = node.calls.keys.first(where: { !before.contains($0) }) else { return }
            let wasWellUntil = node.badDiskUntil
            world.after(SimulationLimits.roomWriteTime) { [unowned self] in
                guard node.incarnation == incarnation, node.badDiskUntil == wasWellUntil, !process.isPaused,
                    node.machine.trouble.synchronizing == nil
                else { return }
                guard node.calls[call] != nil else { return note(.roomAgain) }
                world.fail(
                    Violation(
                        .storageRecovers, "node \(node.index) does not end a write though its disk has room again"))
            }
        }
    }

    /// L7: no node keeps from what its peers have since a disk failed that has been well for a while.
    func checkDisks(healedAt: UInt64) throws {
        let limit = max(now, healedAt + SimulationLimits.diskTime)
        let areUsed = try advance(to: limit) { self.core.allSatisfy { self.reasonNotToPull($0) == nil } }
        guard !areUsed else { return }
        for node in core {
            guard let reason = reasonNotToPull(node) else { continue }
            throw Violation(
                .storageRecovers,
                "node \(node.index) takes nothing from its peers \((now - healedAt) / 1_000_000) s after its disk was mended: "
                    + reason)
        }
    }

    private func reasonNotToPull(_ node: SimulatedNode) -> String? {
        for number in node.databases.keys.sorted() {
            guard let failure = node.databases[number]?.executor.diskFailure else { continue }
            return "db\(number): \(failure.code.rawValue)"
        }
        let failing = core.first { $0 !== node && node.node?.hasLocalFailure(with: $0.id) == true }
        return failing.map { "a link to node \($0.index) waits" }
    }

    /// L6: a compaction on each node ends, and what there was is there after it.
    func checkCompaction() throws {
        trace.line(now, node: -1, "phase", "compact")
        for node in core {
            for number in node.databases.keys.sorted() {
                carryOut(Operation(.compact, node: node.index, database: number))
            }
        }
        var compacting: Int { nodes.reduce(0) { $0 + $1.compactions.count } }
        let isDone = try advance(to: now + SimulationLimits.compactionTime) { compacting == 0 }
        guard isDone else { throw Violation(.compactionEnds, "\(compacting) compactions do not end") }
        for node in core {
            for number in node.databases.keys.sorted() {
                guard let database = node.databases[number] else { continue }
                try checkReopened(node, database, orElse: .compactionEnds)
            }
        }
    }

    /// S22: nothing is left of a node that was stopped: no object, no open file, no timer, no connection, no announcement.
    func checkEndings(_ stopping: [SimulatedNode]) throws {
        trace.line(now, node: -1, "phase", "end")
        var endings: [Ending] = []
        for node in stopping {
            guard let running = node.node, let process = node.process else { continue }
            for number in node.databases.keys.sorted() { node.databases[number]?.keepsReader = false }
            let ending = Ending(node, process, running)
            endings.append(ending)
            running.stop { ending.hasStopped = true }
            node.databases = [:]
            node.node = nil
            // A fault of long ago may have meant to start it only now.
            node.isLeftBehind = true
        }
        _ = try advance(to: now + SimulationLimits.stoppingTime) { endings.allSatisfy(\.hasStopped) }
        try advance(to: now + SimulationLimits.endingTime)
        for ending in endings {
            if let left = ending.left(network) {
                throw Violation(.hygiene, "node \(ending.simulated.index) has stopped, and \(left)")
            }
        }
        for node in stopping { kill(node, losesPower: false) }
    }

    /// A node that was told to stop.
    private final class Ending: @unchecked Sendable {
        // Sendable: a run has one thread.

        let simulated: SimulatedNode
        let process: SimulatedProcess
        weak var node: Node?
        private let executors: [WeakExecutor]
        var hasStopped = false

        private struct WeakExecutor { weak var executor: DatabaseExecutor? }

        init(_ simulated: SimulatedNode, _ process: SimulatedProcess, _ node: Node) {
            self.simulated = simulated
            self.process = process
            self.node = node
            executors = node.catalog.databases.map { WeakExecutor(executor: $0) }
        }

        /// What is left of it, in words; nil for nothing.
        func left(_ network: SimulatedNetwork) -> String? {
            let machine = simulated.machine
            if !hasStopped { return "does not say that it has" }
            if node != nil { return "its object is still there" }
            if executors.contains(where: { $0.executor != nil }) { return "a database of it is still there" }
            if process.files.openFiles > 0 { return "it has \(process.files.openFiles) files open" }
            if process.timers > 0 { return "\(process.timers) timers of it are set" }
            if machine.listeners.values.contains(where: \.isListening) { return "it listens" }
            if !machine.discoveries.isEmpty { return "it is announced" }
            let connections = network.connections(of: machine.index).filter { connection in
                connection.ends.contains { $0.machine === machine && $0.isOpen }
            }.map { "c\($0.number)" }
            return connections.isEmpty ? nil : "it has connections: \(connections.joined(separator: ", "))"
        }
    }
}
