import KithNode

/// How a database is replicated by this node. On disk once set; other nodes are not asked, and go on among themselves.
public struct ReplicationSettings: Hashable, Sendable {
    /// Which ways documents pass.
    public enum Direction: String, Sendable, CaseIterable {
        /// The usual one.
        case both
        /// Changes of others come, own ones stay here.
        case pull
        /// Own changes go, those of others do not come.
        case push
        case none
    }

    /// Which ways documents pass.
    public var direction: Direction
    /// Whether they pass all the time, rather than in `LocalNode.sync` alone.
    public var isContinuous: Bool
    /// Whether nothing passes until it is resumed, in `LocalNode.sync` neither.
    public var isPaused: Bool
    /// Which documents this node takes from others; nil for all of them.
    public var filter: ReplicationFilter?

    /// The usual settings, but for what is named.
    /// - Parameters:
    ///   - direction: which ways documents pass.
    ///   - isContinuous: whether they pass all the time.
    ///   - isPaused: whether nothing passes.
    ///   - filter: which documents are taken from others; nil for all.
    public init(
        direction: Direction = .both, isContinuous: Bool = true, isPaused: Bool = false,
        filter: ReplicationFilter? = nil
    ) {
        self.direction = direction
        self.isContinuous = isContinuous
        self.isPaused = isPaused
        self.filter = filter
    }

    init(_ settings: DatabaseReplication) {
        direction = Direction(rawValue: settings.direction.rawValue) ?? .both
        isContinuous = settings.mode == .continuous
        isPaused = settings.isPaused
        filter = settings.filterJSON.map { ReplicationFilter($0) }
    }

    func setting() throws(ControlError) -> DatabaseReplication {
        var setting = DatabaseReplication()
        setting.direction = DatabaseReplication.Direction(rawValue: direction.rawValue) ?? .both
        setting.mode = isContinuous ? .continuous : .onDemand
        setting.isPaused = isPaused
        try setting.setFilter(json: filter?.json)
        return setting
    }
}

/// What came of one synchronisation.
public struct SyncReport: Hashable, Sendable {
    /// How it ended with a peer.
    public enum Outcome: String, Sendable, CaseIterable {
        /// All has passed, and both have the same documents.
        case inSync = "in_sync"
        /// All has passed that may; the two differ, because of a direction here or there or since somebody has written.
        case done
        /// The peer neither pushes nor pulls the database at present, or does not carry it.
        case notOffered = "not_offered"
        /// The disk or the file failed, here or there.
        case failed
        /// The time was up, or the link ended.
        case unfinished
    }

    /// A peer that was reached.
    public struct Peer: Hashable, Sendable {
        /// Its id.
        public let id: String
        /// What people call it; nil while it has not told.
        public let name: String?
        /// How it ended.
        public let outcome: Outcome
        /// Why, for people; nil where there is nothing to say.
        public let reason: String?
        /// Revisions that came from it.
        public let pulled: UInt64
        /// Revisions that went to it.
        public let pushed: UInt64
    }

    /// The peers that were reached, ascending by id.
    public let peers: [Peer]

    /// Whether at least one peer was reached, and each has what there was.
    public var isComplete: Bool {
        !peers.isEmpty && peers.allSatisfy { $0.outcome == .inSync || $0.outcome == .done }
    }

    init(_ sync: ControlSync) {
        peers = sync.peers.map { peer in
            Peer(
                id: peer.id, name: peer.name, outcome: Outcome(rawValue: peer.outcome.rawValue) ?? .failed,
                reason: peer.reason, pulled: peer.pulled, pushed: peer.pushed)
        }
    }
}
