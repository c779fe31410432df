/// How the replication of one database is going.
public struct ReplicationStatus: Hashable, Sendable {
    /// In one word.
    public enum State: String, Sendable, CaseIterable {
        /// The node was stopped.
        case stopped
        /// A setting, or a pause, lets nothing pass now.
        case paused
        /// No peer that has the database is connected.
        case offline
        /// Changes are under way.
        case busy
        /// Connected, and nothing is under way.
        case idle
    }

    /// What keeps changes from being stored.
    public struct Problem: Hashable, Sendable {
        /// The kinds of problem.
        public enum Kind: String, Sendable, CaseIterable {
            /// The disk or the file here does not take them.
            case storeHere
            /// Those of the peer do not.
            case storeAtPeer
            /// Documents of the peer that were not taken here, since they break a rule.
            case refusedHere
            /// Documents of this node that the peer did not take.
            case refusedByPeer
        }

        /// The kind.
        public let kind: Kind
        /// The id of the peer.
        public let peer: String
        /// For people: why, or how many documents.
        public let reason: String
    }

    /// The database.
    public let database: String
    /// In one word.
    public let state: State
    /// Changes that were under way with connected peers when their feeds began, and have come since, both ways; and of these
    /// those that are done. Equal when nothing is under way. Nil while one of the peers has not said.
    public let total: UInt64?
    /// Those of `total` that are done.
    public let done: UInt64?
    /// What keeps changes from being stored; empty when all is well.
    public let problems: [Problem]
    /// Connected peers that have the database.
    public let peers: Int
    /// Those of them that have the same documents.
    public let inSyncWith: Int

    init(_ database: String, _ status: NodeStatus) {
        self.database = database
        let here = status.database(database)
        let pairs = status.peers.filter(\.isConnected).flatMap { peer in
            peer.databases.filter { $0.name == database }.map { (peer: peer.id, progress: $0) }
        }
        peers = here?.peers ?? 0
        inSyncWith = here?.inSyncWith ?? 0
        problems = pairs.flatMap { $0.progress.problems(at: $0.peer) }
        let counts = pairs.map(\.progress.counts)
        let known = counts.compactMap(\.self)
        let (sum, left) = known.reduce((0 as UInt64, 0 as UInt64)) { ($0.0 &+ $1.total, $0.1 &+ $1.left) }
        total = known.count == counts.count ? sum : nil
        done = total.map { $0 - min($0, left) }
        let isOpen = pairs.contains { $0.progress.isPulled || $0.progress.isPushed }
        state =
            if status.state == .stopped {
                .stopped
            } else if here?.replication.isPaused == true || !pairs.isEmpty && !isOpen {
                .paused
            } else if pairs.isEmpty { .offline } else if left > 0 || total == nil { .busy } else { .idle }
    }
}

extension NodeStatus.Peer.Progress {
    /// What is left and what there was in all, in the directions that are open; nil while that is not known.
    fileprivate var counts: (total: UInt64, left: UInt64)? {
        var (total, left) = (0 as UInt64, 0 as UInt64)
        let ways = [(isPulled, inTotal, inChanges), (isPushed, outTotal, outChanges)]
        for (isOpen, all, rest) in ways where isOpen {
            guard let all, let rest else { return nil }
            total += max(all, rest)
            left += rest
        }
        return (total, left)
    }

    fileprivate func problems(at peer: String) -> [ReplicationStatus.Problem] {
        var problems: [ReplicationStatus.Problem] = []
        if let error {
            problems.append(.init(kind: isErrorHere ? .storeHere : .storeAtPeer, peer: peer, reason: error))
        }
        for (kind, count) in [(ReplicationStatus.Problem.Kind.refusedHere, refused), (.refusedByPeer, refusedByPeer)] {
            if let count, count > 0 { problems.append(.init(kind: kind, peer: peer, reason: "\(count) documents")) }
        }
        return problems
    }
}

/// A document that was exchanged with a peer, or was not to be had.
public struct ReplicatedDocument: Hashable, Sendable {
    /// Which way it went.
    public enum Direction: String, Sendable, CaseIterable {
        /// From the peer; it is on disk here.
        case came
        /// Handed to the connection to the peer. That it is on the peer's disk is known once
        /// `LocalNode.pendingDocuments` does not list it any more.
        case went
    }

    /// Counts the documents of the stream from 1: where a number is missing, the reader was too slow for so many.
    public let number: UInt64
    /// The document.
    public let id: String
    /// The id of the peer.
    public let peer: String
    /// Which way it went.
    public let direction: Direction
    /// Why it was not stored, here or at the peer; nil where nothing is wrong.
    public let error: String?
}

/// Documents whose latest change was not acknowledged yet.
public struct PendingDocuments: Hashable, Sendable {
    /// Ids, those changed first first.
    public let documents: [String]
    /// Whether there are more than were asked for.
    public let hasMore: Bool
    /// Whether the peer, or any, has said since this node started how far it is. If not, all documents are listed, though
    /// peers may have them.
    public let isKnown: Bool
}
