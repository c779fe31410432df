import KithNode

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a node says of itself and of its peers at a moment: what `kith status` shows.
public struct NodeStatus: Hashable, Sendable {
    /// The node's state in one word, for a badge.
    public enum State: String, Sendable, CaseIterable {
        /// It was stopped.
        case stopped
        /// No other node of the group is known, or none can be reached.
        case offline
        /// Others are known, and there is no link to any yet.
        case connecting
        /// All that connected peers have is here, and what is here they have.
        case idle
        /// Documents are under way.
        case busy
    }

    /// How bad it is.
    public enum HealthLevel: String, Sendable, CaseIterable {
        case ok, warning, critical
    }

    /// Something that is wrong.
    public struct Problem: Hashable, Sendable {
        /// Stable, as `DISCOVERY_DOWN`; `kith help CODE` has a page on each.
        public let code: String
        /// How bad it is.
        public let level: HealthLevel
        /// What is wrong, in a sentence.
        public let summary: String
        /// What to do.
        public let action: String
        /// Since when; nil where that is not known.
        public let since: Date?
    }

    /// Where a database of the node stands.
    public struct DatabaseState: Hashable, Sendable {
        /// Its name, the same on all nodes.
        public let name: String
        /// Documents that live; nil where the database can't be used.
        public let documents: Int?
        /// Documents with more than one live revision.
        public let conflicts: Int?
        /// The number of the last change on this node.
        public let sequence: UInt64?
        /// Connected peers that have the database, and how many of them have the same documents.
        public let peers: Int?
        /// Connected peers that have the same documents.
        public let inSyncWith: Int?
        /// How it is replicated by this node.
        public let replication: ReplicationSettings
        /// Why it can't be used or written.
        public let error: String?
    }

    /// How this node stands with a peer.
    public enum PeerState: String, Sendable, CaseIterable {
        case inSync = "in_sync"
        case catchingUp = "catching_up"
        case blocked, paused, unknown, refused
        case neverSeen = "never_seen"
    }

    /// Another node of the group.
    public struct Peer: Hashable, Sendable {
        /// Its id, of its key.
        public let id: String
        /// What people call it; nil where that is not known.
        public let name: String?
        /// How this node stands with it.
        public let state: PeerState
        /// Why it is so, for people.
        public let reason: String?
        /// Whether there is a link.
        public let isConnected: Bool
        /// `host:port` of the link.
        public let address: String?
        /// When something was last exchanged; nil for never since the start.
        public let lastExchangeAt: Date?
        /// By database: changes that the peer has and this node lacks, and the reverse; nil where that is not known.
        public let databases: [Progress]

        /// How far two nodes are with a database. A first synchronisation has done `inTotal - inChanges` of `inTotal`.
        public struct Progress: Hashable, Sendable {
            /// The database.
            public let name: String
            /// Changes that the peer has and this node has not stored; nil where that is not known.
            public let inChanges: UInt64?
            /// Changes here that the peer has not acknowledged; nil where that is not known.
            public let outChanges: UInt64?
            /// At most so many changes the peer had that were not here when the feed began, and has made since; nil where that is
            /// not known.
            public let inTotal: UInt64?
            /// The same of changes here.
            public let outTotal: UInt64?
            /// Whether changes are taken from the peer, and given to it, as roles and directions have it on both sides.
            public let isPulled: Bool
            /// Whether changes are given to the peer.
            public let isPushed: Bool
            /// Revisions received, and sent, since the link came up.
            public let pulled: UInt64?
            /// Revisions sent since the link came up.
            public let pushed: UInt64?
            /// Changes of the peer that were not taken here.
            public let refused: UInt64?
            /// Changes of this node that the peer did not take.
            public let refusedByPeer: UInt64?
            /// Why the disk or the file of one of the two does not take what comes; nil while they do.
            public let error: String?
            /// Whether that is this node's.
            public let isErrorHere: Bool
        }
    }

    /// The state in one word.
    public internal(set) var state: State
    /// The worst level of all problems.
    public let level: HealthLevel
    /// The worst first; those that somebody has muted are not among them.
    public let problems: [Problem]
    /// What people call this node.
    public let name: String
    /// The id of this node, of its key.
    public let id: String
    /// `host:port`.
    public let listening: [String]
    /// Ascending by name.
    public let databases: [DatabaseState]
    /// Ascending by id.
    public let peers: [Peer]
    /// When this was so.
    public let generatedAt: Date

    /// A database by its name.
    public func database(_ name: String) -> DatabaseState? { databases.first { $0.name == name } }

    init(_ status: ControlStatus) {
        level = HealthLevel(status.level)
        problems = status.checks.filter { $0.mutedUntil == nil }.map { Problem($0) }
        name = status.node.name
        id = status.node.id
        listening = status.node.listen
        databases = status.databases.map { DatabaseState($0) }
        peers = status.peers.map { Peer($0) }
        generatedAt = Date(milliseconds: status.generatedAt)
        state = .offline
        state = Self.state(of: peers)
    }

    private static func state(of peers: [Peer]) -> State {
        let connected = peers.filter(\.isConnected)
        if connected.isEmpty {
            return peers.contains { $0.state == .unknown && $0.lastExchangeAt == nil } ? .connecting : .offline
        }
        let isIdle = connected.allSatisfy { $0.state != .catchingUp && $0.databases.allSatisfy(\.isDone) }
        return isIdle ? .idle : .busy
    }
}

extension NodeStatus.Peer.Progress {
    /// Whether nothing is under way, as far as that is known.
    fileprivate var isDone: Bool { (inChanges ?? 0) == 0 && (outChanges ?? 0) == 0 }

    fileprivate init(_ database: ControlStatus.PeerDatabase) {
        self.init(
            name: database.name, inChanges: database.inChanges, outChanges: database.outChanges,
            inTotal: database.inTotal, outTotal: database.outTotal, isPulled: database.isPulled,
            isPushed: database.isPushed, pulled: database.pulled, pushed: database.pushed, refused: database.refused,
            refusedByPeer: database.refusedByPeer, error: database.error, isErrorHere: database.errorAt == .here)
    }
}

extension NodeStatus.Peer {
    fileprivate init(_ peer: ControlStatus.Peer) {
        self.init(
            id: peer.id, name: peer.name, state: NodeStatus.PeerState(rawValue: peer.state.rawValue) ?? .unknown,
            reason: peer.reason, isConnected: peer.connected, address: peer.address,
            lastExchangeAt: peer.lastExchangeAt.map { Date(milliseconds: $0) },
            databases: peer.databases.map { Progress($0) })
    }
}

extension NodeStatus.DatabaseState {
    fileprivate init(_ database: ControlStatus.Database) {
        let living = database.documents.map { Int($0 - min($0, database.deleted ?? 0)) }
        self.init(
            name: database.name, documents: living, conflicts: database.conflicts.map { Int($0) },
            sequence: database.sequence, peers: database.peers, inSyncWith: database.inSyncWith,
            replication: ReplicationSettings(database.replication), error: database.error)
    }
}

extension NodeStatus.Problem {
    fileprivate init(_ check: ControlStatus.Check) {
        self.init(
            code: check.code, level: NodeStatus.HealthLevel(check.level), summary: check.summary, action: check.action,
            since: check.since.map { Date(milliseconds: $0) })
    }
}

extension NodeStatus.HealthLevel {
    fileprivate init(_ level: ControlStatus.Level) {
        switch level {
        case .ok: self = .ok
        case .warning: self = .warning
        case .critical: self = .critical
        }
    }
}

extension Date {
    init(milliseconds: Int64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1_000) }
}
