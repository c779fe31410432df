import KithStore

/// All that `kith status` shows, as docs/control.md describes it: `kith.status/1`. What is not known is nil.
///
/// Times are milliseconds since 1970, sizes bytes. Fields are only ever added.
package struct ControlStatus: Hashable, Sendable {
    package struct Node: Hashable, Sendable {
        package var id = ""
        package var name = ""
        package var group: String?
        /// `admin`, `writer` or `reader`; nil outside a group.
        package var role: String?
        package var version = ""
        package var pid: Int32 = 0
        package var startedAt: Int64 = 0
        /// `host:port`.
        package var listen: [String] = []
        package var data = ""
        /// Links closed before they were authenticated, since the start.
        package var strangers: UInt64 = 0
        /// When a peer last made a connection to this node; nil for never since the start.
        package var inboundAt: Int64?

        package init() {}
    }

    package enum Level: String, Sendable, CaseIterable {
        case ok, warning, critical
    }

    /// Something that is wrong.
    package struct Check: Hashable, Sendable {
        /// Stable: `DISCOVERY_DOWN` ...
        package var code: String
        package var level: Level
        package var summary: String
        /// What to do.
        package var action: String
        package var since: Int64?
        /// Until when somebody wants to hear no more of it; nil where nobody said so.
        package var mutedUntil: Int64?

        package init(code: String, level: Level, summary: String, action: String, since: Int64?) {
            self.code = code
            self.level = level
            self.summary = summary
            self.action = action
            self.since = since
        }
    }

    package enum DiscoveryState: String, Sendable, CaseIterable {
        case advertised, searching, unavailable, off
    }

    package struct Discovery: Hashable, Sendable {
        package var state = DiscoveryState.off
        package var since: Int64?
        package var lastError: String?
        /// Other groups of Kith seen on the network; nil where discovery does not tell.
        package var foreignGroups: Int?
        /// The network interfaces that count for discovery and have an address now; nil without discovery.
        package var interfaces: [String]?

        package init() {}
    }

    /// The disk that the node's directory is on.
    package struct Storage: Hashable, Sendable {
        package var freeBytes: UInt64?
        package var totalBytes: UInt64?
        /// What repairs and restores have put aside, ascending by path.
        package var keptFiles: [KeptFile] = []

        package init() {}
    }

    package struct Database: Hashable, Sendable {
        package var name = ""
        package var path: String?
        package var documents: UInt64?
        package var deleted: UInt64?
        package var conflicts: UInt64?
        /// Documents purged here: what peers still have of them is left out when digests are compared.
        package var purged: UInt64?
        package var sequence: UInt64?
        /// When it was last found to have been put back to an earlier state.
        package var putBackAt: Int64?
        /// 64 hex digits.
        package var digest: String?
        package var bytes: UInt64?
        package var walBytes: UInt64?
        /// How long the oldest reading under way has been going on; the log can't be emptied beyond it.
        package var oldestReaderMilliseconds: UInt64?
        /// Why it can't be used, or not be written; nil when it can.
        package var error: String?
        /// Connected peers that carry the database and have the same digest, documents purged or refused here or there
        /// apart.
        package var inSyncWith: Int?
        /// Connected peers that carry the database.
        package var peers: Int?
        /// How it is replicated by this node.
        package var replication = DatabaseReplication()

        package init() {}
    }

    package enum PeerState: String, Sendable, CaseIterable {
        case inSync = "in_sync"
        case catchingUp = "catching_up"
        case blocked, paused, unknown, refused
        case neverSeen = "never_seen"
    }

    package enum Direction: String, Sendable, CaseIterable {
        case dialled, accepted
    }

    /// An address at which a peer may be reached.
    package struct Candidate: Hashable, Sendable {
        /// `host:port`.
        package var address: String
        /// `discovered`, `static`, `remembered` ...
        package var source: String
        package var lastTriedAt: Int64?
        package var lastError: String?

        package init(address: String, source: String, lastTriedAt: Int64?, lastError: String?) {
            self.address = address
            self.source = source
            self.lastTriedAt = lastTriedAt
            self.lastError = lastError
        }
    }

    /// Where something happened.
    package enum Side: String, Sendable, CaseIterable {
        case here, there
    }

    /// One database as it stands with one peer.
    package struct PeerDatabase: Hashable, Sendable {
        package var name = ""
        /// Changes the peer has that are not stored here.
        package var inChanges: UInt64?
        /// Changes here that the peer has not acknowledged.
        package var outChanges: UInt64?
        /// The same counts with what has passed since the feed began: a first synchronisation has done `inTotal - inChanges` of
        /// `inTotal`.
        package var inTotal: UInt64?
        package var outTotal: UInt64?
        package var digestEqual: Bool?
        /// Whether changes of the peer are taken, and whether those of this node are offered to it and taken there.
        package var isPulled = true
        package var isPushed = true
        /// Revisions received since the link came up.
        package var pulled: UInt64?
        /// Revisions sent since the link came up.
        package var pushed: UInt64?
        /// Changes not taken here, with the reason in the peer's `reason`.
        package var refused: UInt64?
        /// Documents of this node that the peer refused since the link came up.
        package var refusedByPeer: UInt64?
        /// Why a store does not take what comes, and whose it is; nil while it does.
        package var error: String?
        package var errorAt: Side?
        /// Documents purged or refused here, and there, that are left out when the digests are compared.
        package var leftOutHere: Int?
        package var leftOutByPeer: Int?
        /// The last comparison by ranges since the node started: when, why (`no_checkpoint`, `digests_differed`), and how
        /// many revisions were stored here.
        package var comparedAt: Int64?
        package var comparedBecause: String?
        package var comparedRevisions: UInt64?

        package init() {}
    }

    package struct Peer: Hashable, Sendable {
        package var id = ""
        package var name: String?
        package var state = PeerState.unknown
        package var reason: String?
        package var connected = false
        package var direction: Direction?
        /// `host:port` of the link.
        package var address: String?
        /// Since when the state holds.
        package var since: Int64?
        package var lastExchangeAt: Int64?
        package var roundTripMilliseconds: Double?
        package var clockOffsetMilliseconds: Int64?
        /// By how much the offset may be wrong: half a round trip.
        package var clockErrorMilliseconds: Int64?
        package var sentBytes: UInt64?
        package var receivedBytes: UInt64?
        package var version: String?
        package var protocolVersion: Int?
        /// When a pause ends; nil where there is none or it has no end.
        package var pausedUntil: Int64?
        package var candidates: [Candidate] = []
        package var databases: [PeerDatabase] = []

        package init() {}
    }

    /// Somebody who was turned away lately, or who turned this node away.
    package struct Refused: Hashable, Sendable {
        /// The node's id, where it is known; whoever shows it need not be it.
        package var node: String?
        package var name: String?
        package var address: String?
        /// Whether the peer refused this node, rather than this node the peer.
        package var isByPeer = false
        package var reason = ""
        package var count = 1
        package var since: Int64 = 0
        package var lastAt: Int64 = 0

        package init() {}
    }

    package var generatedAt: Int64
    package var node = Node()
    /// The worst first.
    package var checks: [Check] = []
    package var discovery = Discovery()
    package var storage = Storage()
    /// Ascending by name.
    package var databases: [Database] = []
    /// Ascending by id.
    package var peers: [Peer] = []
    /// The latest first.
    package var refusals: [Refused] = []

    package init(generatedAt: Int64) { self.generatedAt = generatedAt }

    /// The worst level of all checks that are not muted.
    package var level: Level {
        checks.filter { $0.mutedUntil == nil }.map(\.level).max { $0.rank < $1.rank } ?? .ok
    }
}
