import KithDocument
import KithReplication
import KithTransport

// What an admin, or who holds the root's key, says of other nodes. On the node's queue.

extension Node {
    /// Ends a node's membership; on its way to disk and to all connected peers when this returns.
    package func revoke(_ name: String, root: GroupRoot?, isDryRun: Bool) throws(ControlError) -> ControlRevocation {
        let node = try findMember(name)
        let member = membership.member(node)
        let isAdmin = member?.isAdmin ?? false
        let called = Shown.name(self.name(of: node))
        guard node != id else {
            throw ControlError(
                .conflict,
                "\(called) is this node: kith leave makes it leave; another admin revokes it, with the root's key")
        }
        var result = ControlRevocation(id: node.description)
        result.name = knownName(of: node)
        result.role = member?.role?.description
        // The root's word is used only where an admin's may not be enough.
        result.isByRoot =
            root != nil && (isAdmin || member?.admittedBy == nil || identity.admin == nil || isRevokedHere)
        guard result.isByRoot || identity.admin != nil else {
            throw ControlError(
                .forbidden,
                "only an admin can revoke, or who holds the root's key (--root FILE); this node is a \(role)")
        }
        // Whoever was never met may be an admin, and then the root's word alone counts.
        result.countsUnlessAdmin = member?.admittedBy == nil && !result.isByRoot
        let hasRootsWord = membership.isRevokedByRoot(node)
        if hasRootsWord { result.countsUnlessAdmin = false }
        if member?.revocation != nil, hasRootsWord || !result.isByRoot || member?.admittedBy != nil {
            result.isRevokedAlready = true
            return result
        }
        guard result.isByRoot || !isRevokedHere else {
            throw ControlError(.forbidden, "this node's own membership was revoked, so it can't revoke others")
        }
        if isAdmin {
            guard root != nil else {
                throw ControlError(
                    .forbidden, "\(called) is an admin: only the root revokes admins; give its key with --root FILE")
            }
            guard knownAdmins.contains(where: { $0 != node }) else {
                throw ControlError(
                    .conflict,
                    "\(called) is the only admin known: revoking it would end the group; make another first, with kith invite --role admin"
                )
            }
            result.affected = membership.members.filter {
                $0.admittedBy == node && $0.node != node && $0.revocation == nil && $0.node != id
            }.map { ControlRevocation.Affected(id: $0.node.description, name: knownName(of: $0.node)) }
            if identity.peer.admittedBy == node {
                result.affected.append(.init(id: id.description, name: identity.nodeName))
            }
        }
        if isDryRun { return result }
        try say(.revocation(of: node), by: result.isByRoot ? root : nil)
        log(.warning, .node, "revoked \(self.name(of: node)) (\(node.short))")
        return result
    }

    /// Makes a node a reader or a writer; on disk and on its way to all connected peers when it calls back.
    package func setRole(
        _ role: Role, of name: String, then: @escaping @Sendable (Result<ControlRoleChange, ControlError>) -> Void
    ) throws(ControlError) {
        guard identity.admin != nil else {
            throw ControlError(.forbidden, "only an admin can change roles; this node is a \(self.role)")
        }
        guard !isRevokedHere else {
            throw ControlError(.forbidden, "this node's own membership was revoked, so it can't change roles")
        }
        let node = try findMember(name)
        let called = Shown.name(self.name(of: node))
        let member = membership.member(node)
        guard node != id, member?.isAdmin != true else {
            throw ControlError(
                .conflict,
                "\(called) is an admin, and stays one until the root revokes it (kith revoke); then it can join anew")
        }
        guard member?.revocation == nil else {
            throw ControlError(.conflict, "the membership of \(called) was revoked; it can only join anew")
        }
        var result = ControlRoleChange(id: node.description, role: role.description)
        result.name = knownName(of: node)
        result.isNew = member?.role != role
        guard result.isNew else { return then(.success(result)) }
        keepMembership { () throws(ControlError) in
            // A certificate that was never seen here has the number 1.
            let highest = max(1, self.membership.highestNumber(of: node) ?? 1)
            guard highest < UInt64.max else {
                throw ControlError(
                    .conflict,
                    "the role of \(called) can't be changed any more: its number is the highest; revoke it and let it join anew"
                )
            }
            return try self.signed(.role(of: node, role: role, number: highest + 1))
        } then: { [result] failure in
            if let failure { return then(.failure(failure)) }
            self.log(.info, .node, "\(self.name(of: node)) (\(node.short)) is a \(role) from now on")
            then(.success(result))
        }
    }

    /// Sets the policy of a database; on disk and on its way to all connected peers when it calls back.
    package func setPolicy(_ json: [UInt8], of database: String, then: @escaping @Sendable (ControlError?) -> Void) {
        keepMembership { () throws(ControlError) in
            let highest = self.membership.policy(of: database)?.number ?? 0
            guard highest < UInt64.max else {
                throw ControlError(
                    .conflict, "the policy of \(database) can't be changed any more: its number is the highest")
            }
            let statement = try self.signed(.policy(database: database, number: highest + 1, json: json))
            guard statement.encoded.count <= ReplicationLimits.statementBytes else {
                throw ControlError(.failed, "the policy is too long to be told to peers")
            }
            return statement
        } then: {
            then($0)
        }
    }

    /// Signs, takes in and passes on a statement that says the same however often it is said: it holds before it is on disk.
    /// - Parameter root: who signs, instead of this node as an admin.
    private func say(_ content: StatementContent, by root: GroupRoot?) throws(ControlError) {
        let changes = membership.take(try signed(content, by: root))
        guard !changes.isEmpty else { throw .saidTooMuch }
        take(changes)
    }

    private func signed(_ content: StatementContent, by root: GroupRoot? = nil) throws(ControlError) -> SignedStatement
    {
        do throws(TransportError) {
            if let root { return try SignedStatement(content, by: root) }
            guard let admin = identity.admin else { throw TransportError.identity("this node is no admin") }
            return try SignedStatement(content, by: admin, trust: identity.trust)
        } catch { throw ControlError(.failed, error.message) }
    }
}

extension ControlError {
    static let saidTooMuch = ControlError(
        .failed, "so much of this kind was said by this admin that no more is taken; another admin may say it")
}
