import KithDocument
import KithReplication

/// One synchronisation of a database with the peers that can be reached (docs/replication-control.md). Used on the node's
/// queue only; ends once.
final class Synchronisation: @unchecked Sendable {
    // Sendable: used on the node's queue only.

    /// Its place among the node's watchers.
    var watcher: UInt64 = 0
    let database: String
    let begunAt: Instant
    /// The last sequence of the database when it began: what was written before is to pass.
    let sequence: UInt64
    /// Dials that were under way or due when it began, with their failures then.
    var awaited: [DialTarget: Int]
    /// What the sessions had counted when they were first seen.
    var counted: [NodeID: (pulled: UInt64, pushed: UInt64)]
    /// The peers that were reached, and what is known of each.
    var peers: [NodeID: ControlSync.Peer] = [:]
    /// Since when nothing is outstanding with a peer, as far as that was not found out to be equal or not.
    var quietSince: [NodeID: Instant] = [:]
    var isLookPlanned = false
    private var completion: (@Sendable (ControlSync) -> Void)?

    init(
        _ database: String, begunAt: Instant, sequence: UInt64, awaited: [DialTarget: Int],
        counted: [NodeID: (pulled: UInt64, pushed: UInt64)], _ completion: @escaping @Sendable (ControlSync) -> Void
    ) {
        self.database = database
        self.begunAt = begunAt
        self.sequence = sequence
        self.awaited = awaited
        self.counted = counted
        self.completion = completion
    }

    func finish() {
        completion?(ControlSync(database: database, peers: peers.values.sorted { $0.id < $1.id }))
        completion = nil
    }
}

/// What came of a synchronisation.
package struct ControlSync: Hashable, Sendable {
    package enum Outcome: String, Sendable, CaseIterable {
        case inSync = "in_sync"
        case done
        case notOffered = "not_offered"
        case failed, unfinished
    }

    package struct Peer: Hashable, Sendable {
        package var id: String
        package var name: String?
        package var outcome = Outcome.unfinished
        /// Why, for people; nil for what needs no reason.
        package var reason: String?
        /// Revisions that came and went.
        package var pulled: UInt64 = 0
        package var pushed: UInt64 = 0

        package init(id: String, name: String?) {
            self.id = id
            self.name = name
        }
    }

    package var database: String
    /// The peers that were reached, ascending by id.
    package var peers: [Peer]

    package init(database: String, peers: [Peer]) {
        self.database = database
        self.peers = peers
    }

    /// The exit status of a command: 0 where at least one peer was reached and all have what there was.
    package var exitStatus: Int {
        if peers.contains(where: { $0.outcome == .failed }) { return 1 }
        let isDone = !peers.isEmpty && peers.allSatisfy { $0.outcome == .inSync || $0.outcome == .done }
        return isDone ? 0 : 2
    }

    var json: [UInt8] {
        var object = JSONObjectWriter()
        object.add("database", database)
        object.add("exit", exitStatus)
        object.add("peers", elements: peers.map(\.json))
        return object.bytes
    }
}

extension ControlSync.Peer {
    fileprivate var json: [UInt8] {
        var object = JSONObjectWriter()
        object.add("id", id)
        object.add("name", name)
        object.add("outcome", outcome.rawValue)
        object.add("reason", reason)
        object.add("pulled", pulled)
        object.add("pushed", pushed)
        return object.bytes
    }
}
