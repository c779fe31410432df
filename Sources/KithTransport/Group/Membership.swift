import KithCrypto
import KithDocument
import Synchronization

/// What a node knows of its group besides the root: the roles it saw, revocations, policies, and roles that were changed. It
/// decides who is let in.
///
/// Any thread may call it; nothing is called out to while its lock is held.
package final class Membership: Sendable {
    fileprivate struct State {
        var roles = RoleRegistry()
        var revocations = RevocationList()
        var policies = PolicyBook()
        var changedRoles = RoleStatements()
        var verified = VerifiedStatements()
        var changes: UInt64 = 0
        /// The one node that is let in; nil for all members.
        var awaited: NodeID?
    }

    /// What statements changed.
    package struct Changes: Hashable, Sendable {
        /// A revocation is new: open links should be judged again with `standing(of:)`.
        package var revocations = false
        /// The role of a node may be another: open links should be judged again with `standing(of:)`.
        package var roles = false
        /// Databases whose policy may be another now, in byte order.
        package var policies: [String] = []
        /// How many statements were turned down as malformed, forged or over a bound.
        package var refused = 0

        package var isEmpty: Bool { !revocations && !roles && policies.isEmpty }
    }

    package let trust: GroupTrust
    private let state = Mutex(State())

    package init(trust: GroupTrust) { self.trust = trust }

    /// Who shows these certificates, after revocations and with the role that counts.
    package func admit(_ shown: [Certificate]) -> Result<PeerIdentity, Refusal> {
        let peer: PeerIdentity
        do throws(Refusal) { peer = try trust.verify(shown) } catch { return .failure(error) }
        return state.withLock { state in
            guard !state.revocations.revokes(peer) else { return .failure(.revoked(peer.nodeID)) }
            guard state.awaited == nil || state.awaited == peer.nodeID else { return .failure(.notHeardYet) }
            let isNew = state.roles.see(
                peer.nodeID, role: peer.role, number: peer.number, admittedBy: peer.admittedBy
            ).changed
            if isNew { state.changes += 1 }
            return .success(state.standing(of: peer))
        }
    }

    /// The one node that is let in until its word on the group has come, where that of this node was lost; nil for all
    /// members.
    package var awaited: NodeID? {
        get { state.withLock { $0.awaited } }
        set { state.withLock { $0.awaited = newValue } }
    }

    /// Whether a peer that was let in still may be: nil when it is revoked now.
    package func standing(of peer: PeerIdentity) -> PeerIdentity? {
        state.withLock { state in state.revocations.revokes(peer) ? nil : state.standing(of: peer) }
    }

    /// Statements that were verified here, for `take`, and how many were turned down.
    package struct News: Sendable {
        fileprivate var statements: [SignedStatement] = []
        fileprivate var refused = 0

        /// How many were new.
        package var count: Int { statements.count }
    }

    /// Verifies statements as they came from a peer. Those that were verified lately are left out: what they say is known.
    /// - Complexity: a hash for each, and two checks of a signature for each that is new; so not on a queue that others wait for.
    package func verify(_ statements: [[UInt8]]) -> News {
        var news = News()
        for bytes in statements {
            let hash = SHA256.hash(bytes)
            guard !state.withLock({ $0.verified.contains(hash) }) else { continue }
            guard let statement = try? SignedStatement(encoded: bytes, trust: trust) else {
                news.refused += 1
                continue
            }
            news.statements.append(statement)
        }
        return news
    }

    /// Takes in what was verified.
    package func take(_ news: News) -> Changes {
        var changes = Changes()
        changes.refused = news.refused
        for statement in news.statements { take(statement, into: &changes) }
        changes.policies.sort { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) }
        return changes
    }

    /// Takes in statements as they came from a peer or from the disk. What is malformed or forged is counted and ignored.
    package func take(_ statements: [[UInt8]]) -> Changes {
        take(verify(statements))
    }

    /// Takes in a statement made here.
    package func take(_ statement: SignedStatement) -> Changes {
        var changes = Changes()
        take(statement, into: &changes)
        return changes
    }

    private func take(_ statement: SignedStatement, into changes: inout Changes) {
        let hash = SHA256.hash(statement.encoded)
        state.withLock { state in
            // Also where it changes nothing: it never will, since what it lost against only grows.
            state.verified.insert(hash)
            guard state.insert(statement) else { return }
            state.changes += 1
            switch statement.content {
            case .revocation(let node):
                changes.revocations = true
                // The policies of an admin whom the root revokes count no more, nor the roles it gave.
                if statement.signer == .root, state.revocations.revokes(admin: node) {
                    changes.policies = state.policies.databases
                    changes.roles = true
                }
            case .policy(let database, _, _):
                if !changes.policies.contains(where: { $0.utf8.elementsEqual(database.utf8) }) {
                    changes.policies.append(database)
                }
            case .role: changes.roles = true
            }
        }
    }

    /// The revocations for `Hello`.
    package var revocations: [[UInt8]] { state.withLock { $0.revocations.encoded } }

    /// The policies for `Hello`.
    package var policies: [[UInt8]] { state.withLock { $0.policies.encoded } }

    /// The changed roles for `Hello`.
    package var changedRoles: [[UInt8]] { state.withLock { $0.changedRoles.encoded } }

    /// What counts for a database; nil where no admin said anything.
    package func policy(of database: String) -> PolicyBook.Policy? {
        state.withLock { $0.policies.policy(of: database, revocations: $0.revocations) }
    }

    /// Whether any admin said one for a database, also one that has been revoked since.
    package func hasPolicies(of database: String) -> Bool {
        state.withLock { $0.policies.hasStatements(of: database) }
    }

    /// Grows with every change: when it did, `encoded` should be written again.
    package var changeCount: UInt64 { state.withLock { $0.changes } }

    /// The highest number in a certificate of this node or a statement on its role that was seen, for the next to outrank
    /// it.
    package func highestNumber(of node: NodeID) -> UInt64? {
        state.withLock { state in
            let stated = state.changedRoles.entry(of: node, revocations: state.revocations)?.number
            return [state.roles[node]?.number, stated].compactMap(\.self).max()
        }
    }

    /// A node of which a certificate was seen said what it calls itself.
    package func note(name: String, of node: NodeID) {
        state.withLock { state in if state.roles.call(node, name) { state.changes += 1 } }
    }

    /// Whether the membership of a node has ended, as far as it is known who let it in.
    package func isRevoked(_ node: NodeID) -> Bool {
        state.withLock { state in
            guard !state.revocations.isEmpty else { return false }
            return state.revocations.revokes(state.peer(node))
        }
    }

    /// The roles and all statements as they are kept.
    var snapshot: (roles: RoleRegistry, statements: [[UInt8]]) { state.withLock { $0.snapshot } }

    /// The same with one more statement; nil where that changes nothing.
    func snapshot(adding statement: SignedStatement) -> (roles: RoleRegistry, statements: [[UInt8]])? {
        var state = state.withLock { $0 }
        return state.insert(statement) ? state.snapshot : nil
    }

    /// Takes over roles that were kept.
    func restore(_ roles: RoleRegistry) { state.withLock { $0.roles = roles } }

    /// Whether the root has revoked this node itself: that counts whatever the node is.
    package func isRevokedByRoot(_ node: NodeID) -> Bool { state.withLock { $0.revocations.revokes(admin: node) } }

    /// What is known of one node; nil where nothing is.
    package func member(_ node: NodeID) -> Member? { state.withLock { $0.member(node) } }

    /// All nodes of which a certificate was seen or that a statement names, ascending by id.
    package var members: [Member] {
        state.withLock { state in
            let nodes = Set(state.roles.nodes).union(state.revocations.named).union(state.changedRoles.nodes)
            return nodes.sorted().compactMap { state.member($0) }
        }
    }
}

extension Membership.State {
    fileprivate var snapshot: (roles: RoleRegistry, statements: [[UInt8]]) {
        (roles, revocations.encoded + policies.encoded + changedRoles.encoded)
    }

    /// - Returns: whether the statement is new and changes something.
    fileprivate mutating func insert(_ statement: SignedStatement) -> Bool {
        switch statement.content {
        case .revocation: revocations.insert(statement)
        case .policy: policies.insert(statement)
        case .role: changedRoles.insert(statement)
        }
    }

    /// The peer with the role that counts: of the highest number, in its certificates or stated by the root or by an admin.
    /// An admin's role is the root's to give, and no statement changes it.
    fileprivate func standing(of peer: PeerIdentity) -> PeerIdentity {
        var standing = peer
        if let seen = roles[peer.nodeID] {
            standing.role = seen.role
            standing.number = seen.number
        }
        guard !peer.isAdmin, let stated = changedRoles.entry(of: peer.nodeID, revocations: revocations),
            stated.number > standing.number || (stated.number == standing.number && stated.role < standing.role)
        else { return standing }
        standing.role = stated.role
        standing.number = stated.number
        return standing
    }

    /// A node as its certificate showed it, if one was seen. Who signed it is not known of what an earlier version kept,
    /// but the role of an admin shows it.
    fileprivate func peer(_ node: NodeID) -> PeerIdentity {
        let seen = roles[node]
        let admittedBy = seen?.admittedBy ?? (seen?.role == .admin ? node : NodeID.none)
        return PeerIdentity(
            nodeID: node, role: seen?.role ?? .reader, number: seen?.number ?? 0, admittedBy: admittedBy)
    }

    fileprivate func member(_ node: NodeID) -> Member? {
        let peer = peer(node)
        let seen = roles[node]
        let stated = changedRoles.entry(of: node, revocations: revocations)
        let signers = revocations.signers(of: node)
        guard seen != nil || stated != nil || !signers.isEmpty else { return nil }
        var member = Member(node: node)
        member.name = seen?.name ?? ""
        member.admittedBy = peer.admittedBy == .none ? nil : peer.admittedBy
        member.role = seen == nil ? stated?.role : standing(of: peer).role
        member.isAdmin = peer.isAdmin
        guard revocations.revokes(peer) else { return member }
        let counts = signers.first { $0 == .root || !peer.isAdmin }
        member.revocation = counts.map { .itself(by: $0) } ?? .throughAdmin(peer.admittedBy)
        return member
    }
}

extension NodeID {
    /// Nobody's id: no key has this hash.
    fileprivate static let none: NodeID = {
        guard let node = NodeID(bytes: [UInt8](repeating: 0, count: 32)) else { preconditionFailure("32 bytes") }
        return node
    }()
}
