import Dispatch

/// Every bound of this target, with its reason.
package enum TransportLimits {
    // Connections

    /// Milliseconds from asking for a connection to having one; addresses that drop packets silently are common on a LAN.
    package static let connectMilliseconds = 5_000
    /// Milliseconds for a TLS handshake. A slow board needs well under one second; strangers must be gone within ten.
    package static let handshakeMilliseconds = 5_000
    /// Milliseconds that a closed connection is read from and thrown away, so that the peer gets our last alert and no reset.
    package static let lingerMilliseconds = 1_000
    /// Bytes of plaintext that are encrypted and handed to the kernel at once: eight records of TLS.
    package static let batchBytes = 128 * 1024
    /// Bytes taken from the kernel at once.
    package static let receiveBytes = 128 * 1024
    /// How often a readable socket is read before other events of the same connection get their turn.
    package static let readsInARow = 8
    /// Unsent bytes at and below which a connection says that it has drained: two batches keep the kernel busy.
    package static let drainedBytes = 256 * 1024
    /// Bytes after which the sending key is renewed. RFC 8446, 5.5 gives AES-GCM 2^24.5 records, about 380 GB.
    package static let keyUpdateBytes: UInt64 = 64 << 30
    /// Bytes of certificates that a peer may show: four of the largest.
    package static let certificateBytes = 32 * 1024
    /// Addresses tried for one host name.
    package static let addressesPerHost = 8
    /// Milliseconds for which sent bytes may stay unacknowledged before the kernel gives the connection up: more than the
    /// silence after which a link ends by itself, so that it is the second line.
    package static let unacknowledgedMilliseconds: Int32 = 20_000

    // Paths that lose large packets

    /// Segments in bytes that are used one after the other where larger packets are lost: what fits the smallest MTU of IPv6
    /// (1,280 bytes), then the one of IPv4 (576).
    package static let smallSegments = [1_220, 536]
    /// Repeats of one packet without an answer after which it counts as lost: the last of them is sent 3 s after the packet.
    package static let repeatsOfALostPacket = 4
    /// Unacknowledged bytes that may still be small packets, which no path loses for their size.
    package static let smallPacketBytes = 1_000
    /// A peer of which something came so lately is there although it acknowledges nothing.
    package static let peerIsThereMilliseconds = 2_500
    /// How often a connection with large messages under way is looked at.
    package static let pathLookMilliseconds = 500

    // Listening

    /// Handshakes under way in all. Each holds about 300 kB.
    package static let pendingHandshakes = 64
    /// Handshakes under way from one address, so that one host can't take all of them. Several nodes on one machine fit.
    package static let pendingHandshakesPerAddress = 16
    /// Ports tried above the wanted one.
    package static let portsTried = 64
    /// Milliseconds that a handshake has its place for when others want it; then the oldest makes room. A peer's takes about 20,
    /// and on a slow board it is safe as long as fewer than its neighbours' places are asked for meanwhile.
    package static let handshakeGraceMilliseconds = 50
    /// Descriptors that connections of others may not take, so that databases, dials and the control socket have some. Where
    /// the process has few, a quarter of them.
    package static let reservedDescriptors = 64
    /// Descriptors that the process asks for: links to all nodes of a large group and the databases fit many times over.
    package static let descriptors = 65_536
    /// Milliseconds without accepting after the process ran out of descriptors or the kernel out of memory.
    package static let acceptPauseMilliseconds = 200
    /// Connections that the kernel holds before they are accepted.
    package static let backlog: Int32 = 128

    // Groups and statements

    /// Bytes of a policy as JSON: far above real ones, and its statement fits.
    package static let policyBytes = 12 * 1024
    /// Bytes of one signed statement: a policy, a name, a certificate and a signature. More would not be taken on a link.
    package static let statementBytes = 16 * 1024
    /// Revocations that one signer may have in force: more than nodes in any group. The root has a share of its own.
    package static let revocationsPerSigner = 4_096
    /// Nodes whose role one signer may have changed: as many as it may revoke.
    package static let rolesPerSigner = 4_096
    /// Hashes of verified statements that are kept, twice as many at most: a group of thousands with all that its admins have
    /// said. They take about 2 MB.
    package static let verifiedStatements = 16_384
    /// Databases with a policy, and databases in a membership file.
    package static let policies = 4_096
    /// Nodes whose role is remembered.
    package static let rememberedRoles = 65_536
    /// Bytes of the file of what a node remembers of its group.
    package static let membershipBytes = 128 << 20
    /// Bytes of a group's or a node's name: what a DNS-SD instance name can hold.
    package static let nameBytes = 63

    // Joining

    /// Bytes of one message while joining.
    package static let joinMessageBytes = 64 * 1024
    /// How often a joiner comes back to an inviter that closed on it at once, which is what one under pressure does, and after
    /// how many milliseconds.
    package static let joinTries = 4
    package static let joinPauseMilliseconds: UInt32 = 300
    /// Milliseconds that a joiner waits for the answer: the inviter's disk may be slow.
    package static let joinMilliseconds = 10_000
    /// Milliseconds that an inviter listens to an applicant after the handshake; with that, under ten seconds in all.
    package static let joinServeMilliseconds = 4_000
    /// Applicants served at once: anyone may become one while an invite is open.
    package static let joinsAtOnce = 16
    /// Wrong proofs after which an open invite is burnt.
    package static let joinFailures = 5
    /// Invites that a node remembers, the open ones first.
    package static let invites = 64
    /// Milliseconds for which a closed invite is remembered, so that its code fails with its reason.
    package static let closedInviteMilliseconds: Int64 = 24 * 3600 * 1000
    /// Bytes of an identity file: a key or two, three certificates, names.
    package static let identityFileBytes = 64 * 1024
}
