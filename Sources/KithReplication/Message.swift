package import KithDocument

/// What one side of a link says to the other; docs/protocol.md says who may say what when.
package enum Message: Hashable, Sendable {
    case hello(Hello)
    case databases(DatabasesUpdate)
    case statements([[UInt8]])
    case presence([UInt8])
    case gossip(Gossip)
    case ping(Heartbeat)
    case pong(Heartbeat)
    case goodbye(Goodbye)
    /// Bytes of credit given back.
    case credit(UInt64)

    // The puller's side of a feed.
    case open(feed: FeedID, database: UInt64, filter: FeedFilter? = nil)
    case subscribe(feed: FeedID, after: Position?)
    case unsubscribe(FeedEnd)
    case want(feed: FeedID, request: UInt64, wants: [Want])
    case ack(Ack)
    case refused(feed: FeedID, refusals: [Refusal])
    case rangeQuery(feed: FeedID, firstBytes: [UInt8])
    case rangeList(feed: FeedID, ranges: [UInt16])
    case compare(feed: FeedID, documents: [DocumentID])

    // The source's side of a feed.
    case changes(Changes)
    case revisions(Revisions)
    case revisionChunk(RevisionChunk)
    case feedEnded(FeedEnd)
    case unknown(FeedID, DatabaseState)
    case rangeDigests(RangeAnswer)
    case rangeChanges(feed: FeedID, changes: [Change], isFinal: Bool)
    case compared(Compared)
}

/// The number of a feed: chosen by its puller, ascending from 1 on each link.
package typealias FeedID = UInt64

/// The protocol versions that a side speaks, both included.
package struct ProtocolVersions: Hashable, Sendable, CustomStringConvertible {
    package let lowest: UInt64
    package let highest: UInt64

    package init(_ lowest: UInt64, _ highest: UInt64) {
        self.lowest = lowest
        self.highest = highest
    }

    /// What this program speaks.
    package static let supported = ProtocolVersions(1, 1)

    /// The highest version that both sides speak.
    package func common(with other: Self) -> UInt64? {
        let version = min(highest, other.highest)
        return version >= max(lowest, other.lowest) ? version : nil
    }

    package var description: String { lowest == highest ? "\(lowest)" : "\(lowest) to \(highest)" }
}

/// The first message of each side.
package struct Hello: Hashable, Sendable {
    package var versions: ProtocolVersions
    /// Names of what this side can do besides; unknown ones are ignored.
    package var capabilities: [String]
    package var nodeName: String
    package var softwareVersion: String
    /// Revocations and policies as they were signed.
    package var statements: [[UInt8]]
    package var databases: [DatabaseEntry]
    /// The credit granted at the start, in bytes.
    package var window: UInt64
    /// Names this process among all that run with the identity; 0 where it is not said.
    package var instance: UInt64 = 0
}

/// Where a database stands, as its side says.
package struct DatabaseState: Hashable, Sendable {
    package let position: Position
    package let digest: Digest256
    package let documents: UInt64

    package init(_ summary: ReplicaSummary) {
        self.init(position: summary.position, digest: summary.digest, documents: summary.documents)
    }

    package init(position: Position, digest: Digest256, documents: UInt64) {
        self.position = position
        self.digest = digest
        self.documents = documents
    }
}

/// A database that a side carries.
package struct DatabaseEntry: Hashable, Sendable {
    /// Chosen by the side that carries it, ascending from 1 and never used twice on a link.
    package let number: UInt64
    package let name: String
    package let state: DatabaseState
    /// What its side does with it; both where nothing is said.
    package var directions = FeedDirections.both
    /// Whether its side takes only what a filter wants.
    package var isPart = false
}

extension [DatabaseEntry] {
    /// The numbers of those that are not offered, and of those that are not taken from peers.
    var notPushed: [UInt64] { filter { !$0.directions.pushes }.map(\.number) }
    var notPulled: [UInt64] { filter { !$0.directions.pulls }.map(\.number) }
    /// The numbers of those of which only a part is taken.
    var parts: [UInt64] { filter(\.isPart).map(\.number) }

    func without(pushing notPushed: [UInt64], pulling notPulled: [UInt64], parts: [UInt64]) -> Self {
        if notPushed.isEmpty, notPulled.isEmpty, parts.isEmpty { return self }
        return map { entry in
            var entry = entry
            entry.isPart = parts.contains(entry.number)
            if notPushed.contains(entry.number) { entry.directions.pushes = false }
            if notPulled.contains(entry.number) { entry.directions.pulls = false }
            return entry
        }
    }
}

package struct DatabasesUpdate: Hashable, Sendable {
    package var added: [DatabaseEntry]
    /// Numbers of databases no longer carried.
    package var removed: [UInt64]
}

package struct Heartbeat: Hashable, Sendable {
    package let nonce: UInt64
    /// The sender's wall clock in milliseconds since 1970; nil when it has none.
    package let wallClock: Int64?
}

/// Why a link ends.
package struct Goodbye: Hashable, Sendable {
    package struct Code: Hashable, Sendable {
        package let rawValue: UInt64

        package init(rawValue: UInt64) { self.rawValue = rawValue }

        /// The node stops, or leaves the group.
        package static let closing = Code(rawValue: 0)
        /// A rule of the protocol was broken; the text says which.
        package static let protocolError = Code(rawValue: 1)
        /// No common protocol version.
        package static let versionMismatch = Code(rawValue: 2)
        /// The peer is not, or no longer, trusted.
        package static let notTrusted = Code(rawValue: 3)
        /// Nothing was received for too long.
        package static let silence = Code(rawValue: 4)
        /// Another link to the same node stays.
        package static let replaced = Code(rawValue: 5)
        /// The link is not wanted for now; the text may name another node to try.
        package static let full = Code(rawValue: 6)
        /// Replication with this peer is paused here.
        package static let paused = Code(rawValue: 7)
        /// Another node runs with the peer's identity, and has the link.
        package static let duplicate = Code(rawValue: 8)
    }

    package let code: Code
    package let text: String

    package init(code: Code, text: String) {
        self.code = code
        self.text = text
    }
}

/// The end of a feed, from either side.
package struct FeedEnd: Hashable, Sendable {
    package struct Code: Hashable, Sendable {
        package let rawValue: UInt64

        package init(rawValue: UInt64) { self.rawValue = rawValue }

        /// The database is not carried any more, or not pulled for now.
        package static let closed = Code(rawValue: 0)
        /// The store failed in a way that may pass.
        package static let storeBusy = Code(rawValue: 1)
        /// The store failed for good.
        package static let storeFailed = Code(rawValue: 2)
        /// Nobody pulls from a reader.
        package static let notASource = Code(rawValue: 3)
        /// The database is not carried.
        package static let noDatabase = Code(rawValue: 4)
    }

    package let feed: FeedID
    package let code: Code
    package let text: String
}

/// One page of a feed.
package struct Changes: Hashable, Sendable {
    package let feed: FeedID
    /// From 1, without a gap.
    package let page: UInt64
    /// All changes up to here are in this page, in earlier ones, or need not be offered.
    package let through: Position
    /// The source's digest at `through`, when nothing followed it; nil when more is to come.
    package let digest: Digest256?
    /// The source's last sequence as far as the sender knows.
    package let latest: UInt64
    package let changes: [Change]
}

/// All leaves of the pages up to this one are durably stored at the puller, or recorded as refused.
package struct Ack: Hashable, Sendable {
    package let feed: FeedID
    package let page: UInt64
    /// Where the puller's own database stands now.
    package let position: Position
    package let digest: Digest256
    /// Said by a puller from which nobody pulls: what its comparison with the source came to, at this position.
    package var equality: Equality?

    package init(feed: FeedID, page: UInt64, position: Position, digest: Digest256, equality: Equality? = nil) {
        self.feed = feed
        self.page = page
        self.position = position
        self.digest = digest
        self.equality = equality
    }

    /// Two databases are equal but for documents that either side leaves out.
    package struct Equality: Hashable, Sendable {
        /// The digest of either without them, as the source said it in its `Compared`.
        package let digest: Digest256
        /// How many the puller leaves out.
        package let leftOut: Int

        package init(digest: Digest256, leftOut: Int) {
            self.digest = digest
            self.leftOut = leftOut
        }
    }
}

/// A document as it came: whole, or what is wrong with it.
package enum ReceivedDelivery: Hashable, Sendable {
    case whole(Delivery)
    /// The document could not be read: its id, the ids of its revisions as far as they were, and the reason.
    case unreadable(DocumentID, [RevisionID], reason: String)

    package var document: DocumentID {
        switch self {
        case .whole(let delivery): delivery.document
        case .unreadable(let document, _, _): document
        }
    }
}

/// An answer, or a part of one, to a `Want`.
package struct Revisions: Hashable, Sendable {
    package let feed: FeedID
    package let request: UInt64
    /// Whether each want of the request has been answered with this.
    package let isFinal: Bool
    package let deliveries: [ReceivedDelivery]
    /// Documents of which nothing wanted is at the source any more.
    package let gone: [DocumentID]
}

/// A part of a delivery too large for one frame.
package struct RevisionChunk: Hashable, Sendable {
    package let feed: FeedID
    package let request: UInt64
    package let totalBytes: Int
    package let offset: Int
    package let bytes: [UInt8]
}

/// Digests of ranges: of all first bytes, or of the ranges within those asked about.
package struct RangeAnswer: Hashable, Sendable {
    package let feed: FeedID
    /// Where the source stood when it was scanned.
    package let position: Position
    /// Ascending by index, which is the first byte, or the first 16 bits, of the id hash.
    package let ranges: [RangeDigests.Range]
}

/// The source's digest without the documents that either side leaves out, and those that it leaves out.
package struct Compared: Hashable, Sendable {
    package let feed: FeedID
    package let position: Position
    package let digest: Digest256
    package let documents: [DocumentID]
}
