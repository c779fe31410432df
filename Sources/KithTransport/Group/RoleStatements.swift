import KithDocument

/// The statements that change the roles of nodes: the highest number counts, of equal numbers the lower role, whatever came
/// first. One is kept for each node and signer, so that the next best counts when an admin is revoked.
package struct RoleStatements: Hashable, Sendable {
    private var statements: [NodeID: [StatementSigner: SignedStatement]] = [:]
    private var counts: [StatementSigner: Int] = [:]

    package init() {}

    /// Takes in a statement on a role.
    /// - Returns: whether it is new and above what its signer said before; false also for other statements, and where its
    ///   signer has changed too many roles.
    package mutating func insert(_ statement: SignedStatement) -> Bool {
        guard case .role(let node, _, _) = statement.content else { return false }
        if let known = statements[node]?[statement.signer] {
            guard Self.counts(statement, before: known) else { return false }
        } else {
            guard counts[statement.signer, default: 0] < TransportLimits.rolesPerSigner else { return false }
            counts[statement.signer, default: 0] += 1
        }
        statements[node, default: [:]][statement.signer] = statement
        return true
    }

    /// What counts of the statements on a node: those of admins whom the root has revoked do not.
    package func entry(of node: NodeID, revocations: RevocationList) -> (role: Role, number: UInt64)? {
        var best: (role: Role, number: UInt64)?
        for (signer, statement) in statements[node] ?? [:] {
            if case .admin(let admin) = signer, revocations.revokes(admin: admin) { continue }
            guard case .role(_, let role, let number) = statement.content else { continue }
            if let known = best, known.number > number || (known.number == number && known.role <= role) { continue }
            best = (role, number)
        }
        return best
    }

    /// The nodes that statements name, ascending.
    package var nodes: [NodeID] { statements.keys.sorted() }

    /// All statements, in an order that depends on them alone.
    package var encoded: [[UInt8]] {
        statements.sorted { $0.key < $1.key }.flatMap { _, bySigner in
            bySigner.sorted { $0.key < $1.key }.map(\.value.encoded)
        }
    }

    /// Whether of two statements on one node the first counts.
    private static func counts(_ one: SignedStatement, before other: SignedStatement) -> Bool {
        guard case .role(_, let role, let number) = one.content,
            case .role(_, let otherRole, let otherNumber) = other.content
        else { return false }
        return number > otherNumber || (number == otherNumber && role < otherRole)
    }
}
