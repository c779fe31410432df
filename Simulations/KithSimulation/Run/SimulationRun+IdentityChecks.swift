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

    /// S9: two nodes that run with one identity are reported by one of them, or by another.
    func checkTwins() throws {
        for copy in nodes where copy.isClone {
            guard let original = nodes.first(where: { $0 !== copy && $0.id == copy.id && !$0.isAbsent }),
                original.isRunning,
                copy.isRunning, !isHealed, original.process?.isPaused == false, copy.process?.isPaused == false,
                !machinePairs.contains(where: { network.isCut(from: $0.0, to: $0.1) })
            else {
                twins[copy.index] = nil
                continue
            }
            let processes = nodes.map(\.incarnation)
            guard let watch = twins[copy.index], watch.processes == processes else {
                twins[copy.index] = TwinWatch(since: now, processes: processes)
                continue
            }
            guard now > watch.since + SimulationLimits.twinTime else { continue }
            let isReported = nodes.contains { node in
                node.node?.healthCodes.contains { $0 == "IDENTITY_DUPLICATE" || $0 == "MACHINE_CHANGED" } == true
            }
            guard isReported else {
                throw Violation(
                    .storeIdentity,
                    "nodes \(original.index) and \(copy.index) run with one identity, and nobody says so")
            }
            note(.twinsReported)
        }
    }
}
