import KithDocument
import KithNode

// How the edits of several nodes become one document: docs/merge.md, "Policies".

extension LocalNode {
    /// The policy by which the documents of a database merge, as this node knows it: what an admin of the group has said last,
    /// `{"default":"latest"}` where none has.
    /// - Parameter database: one of this node's.
    /// - Throws: `KithError` `notFound` where there is no such database here.
    public func policy(of database: String) async throws(KithError) -> JSONValue {
        try await control(database) { service throws(ControlError) in
            JSONValue(KithDocument.JSONValue(canonical: try await service.policy(of: database)))
        }
    }

    /// Sets the policy by which the documents of a database merge, on all nodes of the group.
    ///
    ///     try await node.setPolicy(["default": "latest", "together": [["/status", "/completedAt"]]], of: "todo")
    ///
    /// On disk, and on its way to the peers that are connected, when this returns; documents in conflict are merged by it. A program
    /// may call it at each start: where the policy is this one already nothing is said, and anybody may.
    /// - Parameters:
    ///   - policy: as docs/merge.md has it; with code, `["default": "resolver", "resolver": "invoices", "version": 1]`.
    ///   - database: one of this node's.
    /// - Throws: `KithError`: `invalid` with what is not understood, and with its path; `forbidden` on a node that is no admin;
    ///   `notFound` where there is no such database here; `closed` for a node that was stopped.
    public func setPolicy(_ policy: JSONValue, of database: String) async throws(KithError) {
        guard try await self.policy(of: database) != policy else { return }
        let json = policy.tree.canonicalBytes
        try await control(database) { service throws(ControlError) in
            _ = try await service.setPolicy(json, of: database)
        }
    }
}
