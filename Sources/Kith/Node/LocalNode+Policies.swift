import KithDocument
import KithNode

// How databases merge: docs/merge.md.

extension LocalNode {
    /// How a database merges on all nodes of the group.
    /// - Returns: the policy as `setMergePolicy` takes it.
    /// - Throws: `KithError` `notFound` where there is no such database here.
    public func mergePolicy(of database: String) async throws(KithError) -> JSONValue {
        try await control(database) { service throws(ControlError) in
            JSONValue(KithDocument.JSONValue(canonical: try await service.policy(of: database)))
        }
    }

    /// Decides how a database merges, for the whole group: a statement of this node, which has to be an admin. The documents in
    /// conflict are merged by it. A node that does not know all of it, or has not got the code that it names, leaves conflicts to the
    /// others. On disk when it returns; other nodes hear of it as they are connected.
    /// - Parameters:
    ///   - policy: `["default": "latest"]`, or as docs/merge.md has it; with code:
    ///     `["default": "resolver", "resolver": "invoices", "version": 1]`.
    ///   - database: its name.
    /// - Throws: `KithError`: `notFound`; `invalid` with what is not understood; `forbidden` where this node is no admin.
    public func setMergePolicy(_ policy: JSONValue, of database: String) async throws(KithError) {
        let bytes = policy.tree.canonicalBytes
        try await control(database) { service throws(ControlError) in
            _ = try await service.setPolicy(bytes, of: database)
        }
    }
}
