import KithDocument

/// What a node knows of another of its group, for people: as certificates and statements have told.
package struct Member: Hashable, Sendable {
    /// Why a membership has ended.
    package enum Revocation: Hashable, Sendable {
        /// The node itself was revoked.
        case itself(by: StatementSigner)
        /// The root revoked the admin who had let it in.
        case throughAdmin(NodeID)
    }

    package let node: NodeID
    /// What it calls itself; empty where that is not known.
    package var name = ""
    /// The role that counts; nil where no certificate was seen and no statement gives one.
    package var role: Role?
    /// The admin who let it in, itself for an admin; nil where no certificate was seen.
    package var admittedBy: NodeID?
    /// Whether the root made it an admin.
    package var isAdmin = false
    /// Why it is a member no more; nil while it is one.
    package var revocation: Revocation?

    package init(node: NodeID) { self.node = node }
}
