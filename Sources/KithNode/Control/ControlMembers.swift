/// The nodes of the group that are known, and those that were: `kith.members/1`.
package struct ControlMembers: Hashable, Sendable {
    package struct Member: Hashable, Sendable {
        package var id: String
        package var name: String?
        /// `admin`, `writer` or `reader`; nil where the node asked has not met it.
        package var role: String?
        /// The id of the admin who let it in.
        package var admittedBy: String?
        package var isSelf = false
        package var isConnected = false
        package var isRevoked = false
        /// `root`, or the id of the admin who revoked it.
        package var revokedBy: String?

        package init(id: String) { self.id = id }

        fileprivate var json: [UInt8] {
            var object = JSONObjectWriter()
            object.add("id", id)
            object.add("name", name)
            object.add("role", role)
            object.add("admitted_by", admittedBy)
            object.add("self", isSelf)
            object.add("connected", isConnected)
            object.add("revoked", isRevoked)
            object.add("revoked_by", revokedBy)
            return object.bytes
        }
    }

    package var generatedAt: Int64
    /// Ascending by id.
    package var members: [Member]

    package init(generatedAt: Int64, members: [Member]) {
        self.generatedAt = generatedAt
        self.members = members
    }

    package var json: [UInt8] {
        var object = JSONObjectWriter()
        object.add("schema", "kith.members/1")
        object.add("generated_at", time: generatedAt)
        object.add("members", elements: members.map(\.json))
        return object.bytes
    }
}

/// `kith revoke`: what happened, or would.
package struct ControlRevocation: Hashable, Sendable {
    /// A node that an admin let in and that is a member no more with it.
    package struct Affected: Hashable, Sendable {
        package var id: String
        package var name: String?

        package init(id: String, name: String?) {
            self.id = id
            self.name = name
        }
    }

    package var id: String
    package var name: String?
    package var role: String?
    /// Whether the root's key signs, and not this node as an admin.
    package var isByRoot = false
    package var isRevokedAlready = false
    /// An admin's word counts for nothing against an admin, and the node asked has not met this one: then it may be one.
    package var countsUnlessAdmin = false
    /// As far as the node asked knows.
    package var affected: [Affected] = []

    package init(id: String) { self.id = id }

    package var json: [UInt8] {
        var object = JSONObjectWriter()
        object.add("id", id)
        object.add("name", name)
        object.add("role", role)
        object.add("by", isByRoot ? "root" : "admin")
        object.add("already", isRevokedAlready)
        object.add("unless_admin", countsUnlessAdmin)
        let nodes = affected.map { affected in
            var node = JSONObjectWriter()
            node.add("id", affected.id)
            node.add("name", affected.name)
            return node.bytes
        }
        object.add("affected", elements: nodes)
        return object.bytes
    }
}

/// `kith role`: the role that a node has now.
package struct ControlRoleChange: Hashable, Sendable {
    package var id: String
    package var name: String?
    package var role: String
    /// False where it had the role already.
    package var isNew = false

    package init(id: String, role: String) {
        self.id = id
        self.role = role
    }

    package var json: [UInt8] {
        var object = JSONObjectWriter()
        object.add("id", id)
        object.add("name", name)
        object.add("role", role)
        object.add("changed", isNew)
        return object.bytes
    }
}
