import KithCrypto
import KithDocument
import Synchronization

/// What a node knows of its group besides the root: the roles it saw, revocations and policies. It decides who is let in.
///
/// Any thread may call it; nothing is called out to while its lock is held.
package final class Membership: Sendable {
    private struct State {
        var roles = RoleRegistry()
        var revocations = RevocationList()
        var policies = PolicyBook()
        /// Hashes of the statements taken in, so that those of the next `Hello` are not verified over and over.
        var known: Set<SHA256Digest> = []
        var changes: UInt64 = 0
    }

    /// What statements changed.
    package struct Changes: Hashable, Sendable {
        /// A revocation is new: open links should be judged again with `standing(of:)`.
        package var revocations = false
        /// Databases whose policy may be another now, in byte order.
        package var policies: [String] = []
        /// How many statements were turned down as malformed, forged or over a bound.
        package var refused = 0

        package var isEmpty: Bool { !revocations && policies.isEmpty }
    }

    package let trust: GroupTrust
    private let state = Mutex(State())

    package init(trust: GroupTrust) { self.trust = trust }

    /// Who shows these certificates, after revocations and with the role that counts.
    package func admit(_ shown: [Certificate]) -> Result<PeerIdentity, Refusal> {
        var peer: PeerIdentity
        do throws(Refusal) { peer = try trust.verify(shown) } catch { return .failure(error) }
        return state.withLock { state in
            guard !state.revocations.revokes(peer) else { return .failure(.revoked) }
            let (entry, isNew) = state.roles.see(peer.nodeID, role: peer.role, number: peer.number)
            if isNew { state.changes += 1 }
            peer.role = entry.role
            peer.number = entry.number
            return .success(peer)
        }
    }

    /// Whether a peer that was let in still may be: nil when it is revoked now.
    package func standing(of peer: PeerIdentity) -> PeerIdentity? {
        state.withLock { state in
            guard !state.revocations.revokes(peer) else { return nil }
            guard let entry = state.roles[peer.nodeID] else { return peer }
            var standing = peer
            standing.role = entry.role
            standing.number = entry.number
            return standing
        }
    }

    /// Takes in statements as they came from a peer or from the disk. What is malformed or forged is counted and ignored.
    package func take(_ statements: [[UInt8]]) -> Changes {
        var changes = Changes()
        for bytes in statements {
            let hash = SHA256.hash(bytes)
            guard !state.withLock({ $0.known.contains(hash) }) else { continue }
            guard let statement = try? SignedStatement(encoded: bytes, trust: trust) else {
                changes.refused += 1
                continue
            }
            take(statement, into: &changes)
        }
        changes.policies.sort { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) }
        return changes
    }

    /// Takes in a statement made here.
    package func take(_ statement: SignedStatement) -> Changes {
        var changes = Changes()
        take(statement, into: &changes)
        return changes
    }

    private func take(_ statement: SignedStatement, into changes: inout Changes) {
        state.withLock { state in
            switch statement.content {
            case .revocation(let node):
                guard state.revocations.insert(statement) else { return }
                state.changes += 1
                state.known.insert(SHA256.hash(statement.encoded))
                changes.revocations = true
                // The policies of an admin whom the root revokes count no more.
                if statement.signer == .root, state.revocations.revokes(admin: node) {
                    changes.policies = state.policies.databases
                }
            case .policy(let database, _, _):
                guard state.policies.insert(statement) else { return }
                state.changes += 1
                state.known.insert(SHA256.hash(statement.encoded))
                if !changes.policies.contains(where: { $0.utf8.elementsEqual(database.utf8) }) {
                    changes.policies.append(database)
                }
            }
        }
    }

    /// The revocations for `Hello`.
    package var revocations: [[UInt8]] { state.withLock { $0.revocations.encoded } }

    /// The policies for `Hello`.
    package var policies: [[UInt8]] { state.withLock { $0.policies.encoded } }

    /// What counts for a database; nil where no admin said anything.
    package func policy(of database: String) -> PolicyBook.Policy? {
        state.withLock { $0.policies.policy(of: database, revocations: $0.revocations) }
    }

    /// Grows with every change: when it did, `encoded` should be written again.
    package var changeCount: UInt64 { state.withLock { $0.changes } }

    /// The highest number in a certificate of this node that was seen, for the next certificate to outrank it.
    package func highestNumber(of node: NodeID) -> UInt64? { state.withLock { $0.roles[node]?.number } }
}

extension Membership {
    private static let magic: [UInt8] = Array("KM".utf8) + [1]

    /// All of it, for the disk. Roles are not signed, so the file is trusted as the directory is.
    package var encoded: [UInt8] {
        let (roles, statements) = state.withLock { ($0.roles, $0.revocations.encoded + $0.policies.encoded) }
        var writer = FieldWriter()
        writer.write(fixed: Self.magic)
        roles.write(to: &writer)
        writer.write(count: statements.count)
        for statement in statements { writer.write(string: statement) }
        return writer.bytes
    }

    /// Reads what `encoded` gave. Statements are verified again.
    package convenience init(trust: GroupTrust, encoded: [UInt8]) throws(TransportError) {
        self.init(trust: trust)
        var reader = FieldReader(encoded, "the file of the group's members")
        guard try reader.readFixed(3) == Self.magic else {
            throw .malformed("the file of the group's members is of another version")
        }
        let roles = try RoleRegistry(from: &reader)
        state.withLock { $0.roles = roles }
        for _ in 0..<(try reader.readCount(atMost: Int(Int32.max))) {
            _ = take([try reader.readString(atMost: TransportLimits.statementBytes)])
        }
        try reader.expectEnd()
    }
}
