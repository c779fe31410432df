import KithDocument

/// The policies that a node knows, by database. The highest number counts; of equal ones the statement with the greater
/// bytes, so that all nodes agree whatever came first.
package struct PolicyBook: Hashable, Sendable {
    /// What counts for one database.
    package struct Policy: Hashable, Sendable {
        package var number: UInt64
        /// The policy as it was signed.
        package var json: [UInt8]
    }

    /// By the bytes of the name: names are compared as bytes.
    private var statements: [[UInt8]: [StatementSigner: SignedStatement]] = [:]

    package init() {}

    /// Takes in a policy. One statement is kept for each database and signer, so that the next best counts when an admin is
    /// revoked.
    /// - Returns: whether it is new; false also for other statements and beyond the bound on databases.
    package mutating func insert(_ statement: SignedStatement) -> Bool {
        guard case .policy(let database, _, _) = statement.content else { return false }
        let name = Array(database.utf8)
        guard statements[name] != nil || statements.count < TransportLimits.policies else { return false }
        if let known = statements[name]?[statement.signer], !Self.counts(statement, before: known) { return false }
        statements[name, default: [:]][statement.signer] = statement
        return true
    }

    /// What counts for the database: statements of admins whom the root has revoked do not.
    package func policy(of database: String, revocations: RevocationList) -> Policy? {
        guard let candidates = statements[Array(database.utf8)] else { return nil }
        var best: SignedStatement?
        for (signer, statement) in candidates {
            if case .admin(let node) = signer, revocations.revokes(admin: node) { continue }
            if best.map({ Self.counts(statement, before: $0) }) ?? true { best = statement }
        }
        guard case .policy(_, let number, let json)? = best?.content else { return nil }
        return Policy(number: number, json: json)
    }

    /// Whether anybody said one for the database.
    package func hasStatements(of database: String) -> Bool { statements[Array(database.utf8)] != nil }

    /// The names of all databases with a policy, in byte order.
    package var databases: [String] {
        statements.keys.sorted { $0.lexicographicallyPrecedes($1) }.map { String(decoding: $0, as: UTF8.self) }
    }

    /// All statements, in an order that depends on them alone.
    package var encoded: [[UInt8]] {
        statements.sorted { $0.key.lexicographicallyPrecedes($1.key) }.flatMap { _, bySigner in
            bySigner.sorted { $0.key < $1.key }.map(\.value.encoded)
        }
    }

    /// A total order on statements about one database.
    private static func counts(_ one: SignedStatement, before other: SignedStatement) -> Bool {
        guard case .policy(_, let number, _) = one.content, case .policy(_, let otherNumber, _) = other.content else {
            return false
        }
        if number != otherNumber { return number > otherNumber }
        return other.encoded.lexicographicallyPrecedes(one.encoded)
    }
}
