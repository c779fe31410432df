import KithDocument
import KithTransport

// What an admin, or who holds the root's key, says of other nodes. On the node's queue.

extension Node {
    /// Ends a node's membership; on its way to disk and to all connected peers when this returns.
    func revoke(_ name: String, root: GroupRoot?, isDryRun: Bool) throws(ControlError) -> ControlRevocation {
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

    /// Makes a node a reader or a writer; on its way to disk and to all connected peers when this returns.
    func setRole(_ role: Role, of name: String) throws(ControlError) -> ControlRoleChange {
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
        guard result.isNew else { return result }
        // A certificate that was never seen here has the number 1.
        let highest = max(1, membership.highestNumber(of: node) ?? 1)
        guard highest < UInt64.max else {
            throw ControlError(
                .conflict,
                "the role of \(called) can't be changed any more: its number is the highest; revoke it and let it join anew"
            )
        }
        try say(.role(of: node, role: role, number: highest + 1), by: nil)
        log(.info, .node, "\(self.name(of: node)) (\(node.short)) is a \(role) from now on")
        return result
    }

    /// Signs, takes in and passes on a statement.
    /// - Parameter root: who signs, instead of this node as an admin.
    private func say(_ content: StatementContent, by root: GroupRoot?) throws(ControlError) {
        let statement: SignedStatement
        do throws(TransportError) {
            if let root {
                statement = try SignedStatement(content, by: root)
            } else if let admin = identity.admin {
                statement = try SignedStatement(content, by: admin, trust: identity.trust)
            } else {
                throw TransportError.identity("this node is no admin")
            }
        } catch { throw ControlError(.failed, error.message) }
        let changes = membership.take(statement)
        guard !changes.isEmpty else {
            throw ControlError(
                .failed, "this admin has said so much of other nodes that no more is taken; another admin can say it")
        }
        take(changes)
    }
}
