import KithDocument
import KithNode

// Timelines, and nodes that run twice.

/// A timeline of some database of the run.
struct Timeline: Hashable {
    let database: Int
    let id: TimelineID
}

/// The process that began a timeline.
struct Beginner: Hashable {
    let node: Int
    let incarnation: Int
}

/// A copy of a node that runs beside it.
struct TwinWatch {
    let since: UInt64
    let original: Int
    let processes: [Int]
}

extension SimulationRun {
    /// S9: who writes, does so under a timeline that nobody else has written under: no process before it, no copy, and not the
    /// node before its disk was put back. Called before anybody hears of the commit.
    func checkTimeline(of node: SimulatedNode, _ database: ObservedDatabase, _ position: Position) throws {
        let place = Model.Place(node: node.index, database: database.number)
        guard position.sequence > model[place].sequence else { return }
        let timeline = Timeline(database: database.number, id: position.timeline)
        let beginner = Beginner(node: node.index, incarnation: node.incarnation)
        guard let earlier = timelines[timeline] else { return timelines[timeline] = beginner }
        if earlier != beginner {
            throw Violation(
                .storeIdentity,
                "node \(node.index) in its process \(node.incarnation) writes under the timeline of node \(earlier.node) in "
                    + "its process \(earlier.incarnation)")
        }
    }

    /// S9: who finds itself on another machine says so and speaks to nobody; two nodes that run with one identity are reported
    /// by one of them, or by another; and of no other identity anybody says that two nodes run with it.
    func checkTwins() throws {
        try checkFalseTwins()
        for node in nodes where node.isMoved && !node.isOutsider && !node.isDamaged {
            guard let running = node.node, let process = node.process, let since = startTimes[node.index],
                now > max(since, process.pausedUntil) + SimulationLimits.heldTime
            else { continue }
            guard running.healthCodes.contains("MACHINE_CHANGED"), running.linkedPeers.isEmpty else {
                throw Violation(.storeIdentity, "node \(node.index) runs on another machine as if it were its own")
            }
        }
        for copy in nodes {
            // Of several each is looked at beside the first.
            guard let original = twins(of: copy).first, original.index < copy.index,
                [copy, original].allSatisfy({ $0.isRunning && !$0.isMoved && $0.process?.isPaused == false }),
                !machinePairs.contains(where: { network.isCut(from: $0.0, to: $0.1) })
            else {
                twins[copy.index] = nil
                continue
            }
            let processes = nodes.map(\.incarnation)
            guard let watch = twins[copy.index], watch.processes == processes, watch.original == original.index else {
                twins[copy.index] = TwinWatch(since: now, original: original.index, processes: processes)
                continue
            }
            if nodes.contains(where: { $0.node?.knownTwins.contains(copy.id) == true }) {
                note(.twinsReported)
            } else if now > watch.since + SimulationLimits.twinTime {
                throw Violation(
                    .storeIdentity,
                    "nodes \(original.index) and \(copy.index) run with one identity, and nobody says so")
            }
        }
    }

    /// S9: a node that restarts, moves, sleeps, loses its links or comes back with another clock is one node, and is called so.
    private func checkFalseTwins() throws {
        let running = nodes.filter(\.isRunning)
        for (index, node) in running.enumerated() where running[..<index].contains(where: { $0.id == node.id }) {
            doubledAt[node.id] = now
        }
        // Which processes it had could not be noted, and what still goes round of them may be taken for a twin's.
        for node in running where hasBadDisk(node) { doubledAt[node.id] = now }
        // A hostile member says of whom it likes that there are two of him.
        guard !nodes.contains(where: \.isHostile) else { return }
        for node in running {
            for id in node.node?.knownTwins ?? [] {
                if let last = doubledAt[id], now <= last + SimulationLimits.twinBelief { continue }
                throw Violation(
                    .storeIdentity, "node \(node.index) says that two nodes run as \(id.short): there is one")
            }
        }
    }
}
