import KithTransport

extension NodeService {
    func members() async throws(ControlError) -> ControlMembers { await onNode { $0.memberList() } }

    func revoke(_ name: String, rootKey: [UInt8]?, isDryRun: Bool) async throws(ControlError) -> ControlRevocation {
        let root: GroupRoot?
        do throws(TransportError) { root = try readRoot(rootKey) } catch {
            throw ControlError(.forbidden, error.message)
        }
        let result = await onNode { node -> Result<ControlRevocation, ControlError> in
            do throws(ControlError) {
                return .success(try node.revoke(name, root: root, isDryRun: isDryRun))
            } catch { return .failure(error) }
        }
        let revocation = try result.get()
        if !isDryRun { try await requireKeptMembership() }
        return revocation
    }

    func setRole(_ role: String, of name: String) async throws(ControlError) -> ControlRoleChange {
        guard let wanted = Role(role) else { throw ControlError(.usage, "\(Shown.name(role)) is no role") }
        guard wanted < .admin else {
            throw ControlError(
                .invalid,
                "an admin is made by an invitation: kith invite --role admin here; there kith leave, and kith join with its code"
            )
        }
        let change = try await outcome {
            (node, done: @escaping @Sendable (Result<ControlRoleChange, ControlError>) -> Void) in
            do throws(ControlError) { try node.setRole(wanted, of: name, then: done) } catch { done(.failure(error)) }
        }
        try await requireKeptMembership()
        return change
    }

    /// The root of this group: from its file's bytes, or from the directory; nil where that does not have it.
    private func readRoot(_ key: [UInt8]?) throws(TransportError) -> GroupRoot? {
        let trust = node.identity.trust
        guard let key else { return try node.identities.loadRoot(of: trust) }
        let root = try IdentityStore.readRoot(key)
        guard root.certificate == trust.root else { throw .identity("this is the root's key of another group") }
        return root
    }

    /// - Throws: `forbidden` where this node's own membership was revoked: what it signs would open no door.
    func requireMembership() throws(ControlError) {
        guard !node.isRevokedHere else {
            throw ControlError(
                .forbidden,
                "this node's membership was revoked: kith leave, then join anew with a code of another admin")
        }
    }
}
