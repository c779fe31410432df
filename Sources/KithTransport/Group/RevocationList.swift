import KithDocument

/// The revocations that a node knows: a set that only grows, so that all nodes that exchanged theirs hold the same.
///
/// A revocation stays in force when the admin who signed it is revoked: it is never undone, and no order in which
/// statements arrive may change who is a member.
package struct RevocationList: Hashable, Sendable {
    private struct Key: Hashable, Comparable {
        let node: NodeID
        let signer: StatementSigner

        static func < (one: Key, other: Key) -> Bool { (one.node, one.signer) < (other.node, other.signer) }
    }

    private var statements: [Key: SignedStatement] = [:]
    private var counts: [StatementSigner: Int] = [:]
    private var byRoot: Set<NodeID> = []
    private var byAdmins: Set<NodeID> = []

    package init() {}

    /// Takes in a revocation.
    /// - Returns: whether it is new; false also for other statements, and where its signer has too many in force.
    package mutating func insert(_ statement: SignedStatement) -> Bool {
        guard case .revocation(let node) = statement.content else { return false }
        let key = Key(node: node, signer: statement.signer)
        guard statements[key] == nil, counts[key.signer, default: 0] < TransportLimits.revocationsPerSigner else {
            return false
        }
        statements[key] = statement
        counts[key.signer, default: 0] += 1
        switch statement.signer {
        case .root: byRoot.insert(node)
        case .admin: byAdmins.insert(node)
        }
        return true
    }

    /// Whether the membership of this peer has ended: by the root for itself or for the admin who admitted it, or by an
    /// admin while it is no admin itself.
    package func revokes(_ peer: PeerIdentity) -> Bool {
        byRoot.contains(peer.nodeID) || byRoot.contains(peer.admittedBy)
            || (byAdmins.contains(peer.nodeID) && !peer.isAdmin)
    }

    /// Whether the root has ended this admin's membership.
    package func revokes(admin node: NodeID) -> Bool { byRoot.contains(node) }

    /// Who has revoked this node itself, the root first.
    package func signers(of node: NodeID) -> [StatementSigner] {
        statements.keys.filter { $0.node == node }.map(\.signer).sorted()
    }

    /// The nodes that statements name, ascending; an admin's statement against an admin is among them and counts for
    /// nothing.
    package var named: [NodeID] { byRoot.union(byAdmins).sorted() }

    /// All statements, in an order that depends on them alone, for `Hello` and for the disk.
    package var encoded: [[UInt8]] { statements.sorted { $0.key < $1.key }.map(\.value.encoded) }

    package var isEmpty: Bool { statements.isEmpty }
}
