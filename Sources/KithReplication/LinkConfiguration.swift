package import KithDocument

/// What a link is told before it starts: who is on both ends, as the transport has authenticated them, and its times.
package struct LinkConfiguration: Sendable {
    package var localNode: NodeID
    package var peerNode: NodeID
    /// Whether documents are pulled from this side; false for a reader.
    package var localIsSource = true
    /// Whether documents are pulled from the peer; false for a reader.
    package var peerIsSource = true
    package var nodeName: String
    package var softwareVersion: String
    /// Names this process among all that run with the identity; 0 to say nothing of it.
    package var instance: UInt64 = 0
    /// The protocol versions offered; another range only in tests.
    package var versions = ProtocolVersions.supported
    package var capabilities: [String] = []
    /// Revocations and policies as they were signed, for the hello.
    package var statements: [[UInt8]] = []
    /// Credit granted to the peer.
    package var windowBytes = ReplicationLimits.windowBytes
    package var pingMilliseconds = ReplicationLimits.pingMilliseconds
    package var silenceMilliseconds = ReplicationLimits.silenceMilliseconds

    package init(localNode: NodeID, peerNode: NodeID, nodeName: String, softwareVersion: String) {
        self.localNode = localNode
        self.peerNode = peerNode
        self.nodeName = nodeName
        self.softwareVersion = softwareVersion
    }
}

/// A database that this node carries, as a link is told of it.
package struct CarriedDatabase: Sendable {
    package let name: String
    package let summary: ReplicaSummary
    /// Whether pulling waits until `LinkInput.hold` says otherwise: an empty database takes one feed first.
    package let isHeld: Bool
    /// Which ways its documents may pass.
    package let directions: FeedDirections

    package init(
        name: String, summary: ReplicaSummary, isHeld: Bool = false, directions: FeedDirections = .both
    ) {
        self.name = name
        self.summary = summary
        self.isHeld = isHeld
        self.directions = directions
    }
}
