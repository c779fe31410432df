import KithDocument
import KithTransport

// What a node reads beside its identity when it starts: whom it lets in, and whom it has invited.

extension IdentityStore {
    /// What is known of the group.
    /// - Throws: `NodeError` where it is damaged: among what is lost may be who was revoked.
    func membership(of identity: Identity) throws(NodeError) -> Membership {
        let path = "\(directory)/\(Self.membershipName)"
        let membership: Membership
        do throws(TransportError) {
            let bytes = try read(Self.membershipName, atMost: TransportLimits.membershipBytes)
            membership =
                try bytes.map { bytes throws(TransportError) in
                    try Membership(trust: identity.trust, encoded: bytes)
                } ?? Membership(trust: identity.trust)
        } catch {
            let damage = try SpareFile.damage(error, path)
            throw NodeError(
                code: "membership",
                message:
                    "\(path) is damaged (\(damage)), and it says who was revoked: kith identity recover mends it; see "
                    + "kith help file-damaged")
        }
        let awaited = try SmallFile.lines(of: "\(directory)/\(Self.awaitedName)")
        if !awaited.isEmpty {
            guard awaited.count == 1, let node = NodeID(awaited[0]) else {
                throw NodeError(
                    code: "membership",
                    message: "\(directory)/\(Self.awaitedName) names no node: kith identity recover NODE writes it anew"
                )
            }
            membership.awaited = node
        }
        return membership
    }

    /// Whom this node has invited. What is damaged is set aside: then all open codes are void.
    func desk(of identity: Identity, _ membership: Membership) throws(NodeError) -> JoinDesk {
        let book: InviteBook
        do throws(TransportError) { book = try invites() } catch {
            _ = try SpareFile.damage(error, SpareFile.invites.path(in: directory))
            SpareFile.invites.setAside(in: directory)
            book = InviteBook()
        }
        let clock = SteadyClock()
        return JoinDesk(identity: identity, membership: membership, book: book, now: clock.read) {
            bytes throws(TransportError) in
            try write(bytes, to: Self.invitesName)
        }
    }

    /// Why the root's key in the directory can't be used; nil where it can, or is not there.
    func rootProblem(of identity: Identity) -> String? {
        do throws(TransportError) {
            _ = try loadRoot(of: identity.trust)
            return nil
        } catch { return error.message }
    }

    /// The book of invites as it is on disk.
    func invites() throws(TransportError) -> InviteBook {
        let bytes = try read(Self.invitesName, atMost: NodeLimits.invitesFileBytes)
        return try bytes.map { bytes throws(TransportError) in try InviteBook(encoded: bytes) } ?? InviteBook()
    }
}
