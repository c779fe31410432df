import KithDocument
import KithSystem
import KithTransport

// What a node reads beside its identity when it starts: whom it lets in, and whom it has invited.

extension IdentityStore {
    /// What is known of the group.
    /// - Throws: `NodeError` where it is damaged or gone: among what is lost may be who was revoked.
    func membership(of identity: Identity) throws(NodeError) -> Membership {
        let path = "\(directory)/\(Self.membershipName)"
        let membership: Membership
        do throws(TransportError) {
            guard let bytes = try read(Self.membershipName, atMost: TransportLimits.membershipBytes) else {
                throw .malformed("it is gone")
            }
            membership = try Membership(trust: identity.trust, encoded: bytes)
        } catch {
            let damage = try SpareFile.reason(of: error, at: path)
            throw NodeError(
                code: "membership",
                message:
                    "\(path) is damaged (\(damage)), and it says who was revoked: kith identity recover mends it; see "
                    + "kith help file-damaged")
        }
        membership.awaited = try awaited()
        return membership
    }

    /// The one node that is let in; nil where there is no such file.
    /// - Throws: `NodeError` where the file is anything but one id: without it all would be let in.
    private func awaited() throws(NodeError) -> NodeID? {
        let path = "\(directory)/\(Self.awaitedName)"
        let bytes: [UInt8]?
        do throws(TransportError) { bytes = try read(Self.awaitedName, atMost: NodeLimits.smallFileBytes) } catch {
            throw NodeError(code: "membership", message: "can't read \(path): \(error.message)")
        }
        guard let bytes else { return nil }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        guard lines.count == 1, let node = NodeID(String(lines[0])) else {
            throw NodeError(
                code: "membership", message: "\(path) names no node: kith identity recover NODE writes it anew")
        }
        return node
    }

    /// Whom this node has invited. What is damaged is set aside: then all open codes are void.
    func desk(of identity: Identity, _ membership: Membership) throws(NodeError) -> JoinDesk {
        let book: InviteBook
        do throws(TransportError) { book = try invites() } catch {
            _ = try SpareFile.reason(of: error, at: SpareFile.invites.path(in: directory))
            SpareFile.invites.setAside(in: directory, on: files)
            book = InviteBook()
        }
        let clock = SteadyClock(.system)
        return JoinDesk(identity: identity, membership: membership, book: book, now: clock.read) {
            bytes throws(TransportError) in
            try write(bytes, to: SpareFile.invites.rawValue)
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
        let bytes = try read(SpareFile.invites.rawValue, atMost: NodeLimits.invitesFileBytes)
        return try bytes.map { bytes throws(TransportError) in try InviteBook(encoded: bytes) } ?? InviteBook()
    }
}
