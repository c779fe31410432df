import KithDocument

/// What a member of a group may do, the lower before the higher.
package enum Role: UInt8, Comparable, Hashable, Sendable, CaseIterable, CustomStringConvertible {
    /// Takes documents and gives none.
    case reader = 1
    /// Takes and gives documents.
    case writer = 2
    /// Also admits and revokes nodes, and sets policies.
    case admin = 3

    /// Reads the word that a person typed.
    package init?(_ word: String) {
        guard let role = Self.allCases.first(where: { $0.description == word }) else { return nil }
        self = role
    }

    package var description: String {
        switch self {
        case .reader: "reader"
        case .writer: "writer"
        case .admin: "admin"
        }
    }

    package static func < (one: Role, other: Role) -> Bool { one.rawValue < other.rawValue }
}

/// Who a peer is, as its certificates prove it.
package struct PeerIdentity: Hashable, Sendable {
    /// The hash of its key.
    package var nodeID: NodeID
    /// What it may do, after what is remembered of it.
    package var role: Role
    /// The number of its certificate: of two the higher counts.
    package var number: UInt64
    /// The admin who signed its certificate; for an admin, itself.
    package var admittedBy: NodeID

    package init(nodeID: NodeID, role: Role, number: UInt64, admittedBy: NodeID) {
        self.nodeID = nodeID
        self.role = role
        self.number = number
        self.admittedBy = admittedBy
    }

    /// Whether the root made it an admin, whatever role it shows.
    package var isAdmin: Bool { admittedBy == nodeID }
}
