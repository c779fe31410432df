import KithDiscovery
import KithDocument
import KithReplication
import KithSystem
import KithTransport

// Who is a member, as what.

extension Node {
    /// What this node may do now: its certificate, or what an admin has changed since. From any thread.
    var role: Role { membership.standing(of: identity.peer)?.role ?? identity.role }

    /// Asked before a client's write.
    /// - Throws: `ControlError` `forbidden` on a reader.
    package func requireWriter() throws(ControlError) {
        #if KITH_MUTANTS
        if Mutant.isActive(.letsReadersWrite) { return }
        #endif
        guard role != .reader else {
            throw ControlError(.forbidden, "this node is a reader of its group: documents are written on other nodes")
        }
    }

    /// Whether a statement that this node has verified ends its own membership. From any thread.
    var isRevokedHere: Bool { membership.standing(of: identity.peer) == nil }

    /// Whether the membership of another node has ended.
    func isRevoked(_ node: NodeID) -> Bool { membership.isRevoked(node) }

    /// Whether a link is still what it was made for: its peer is a member with the same role, and so is this node.
    func holds(_ driver: LinkDriver) -> Bool {
        membership.standing(of: driver.peer)?.role == driver.peer.role && driver.isSource == (role != .reader)
    }

    /// Statements have changed who is a member or as what: links to those who are none end for good, links that were made
    /// for another role end and begin anew.
    func judgeLinks() {
        let isReader = role == .reader
        if selection.isReader != isReader {
            selection = MeshSelection(node: id, isReader: isReader)
            log(.info, .node, "this node is a \(role) of its group from now on")
        }
        for member in membership.members where member.revocation != nil && member.node != id {
            book.forget(member.node)
            presence.forget(member.node)
            peerNames.forget(member.node)
        }
        #if KITH_MUTANTS
        if Mutant.isActive(.keepsRevokedLinks) { return changed() }
        #endif
        for number in drivers.keys.sorted() {
            guard let driver = drivers[number] else { continue }
            if membership.standing(of: driver.peer) == nil {
                driver.post(.stop(Goodbye(code: .notTrusted, text: "this node was revoked")))
            } else if !holds(driver) {
                driver.post(.stop(Goodbye(code: .closing, text: "a role has changed, so the link begins anew")))
            }
        }
        changed()
    }

    /// What a node calls itself; nil where that is not known.
    func knownName(of node: NodeID) -> String? {
        if node == id { return identity.nodeName }
        if let name = peers[node]?.name ?? presence.record(of: node)?.name { return name }
        return membership.member(node).flatMap { $0.name.isEmpty ? nil : $0.name }
    }

    /// A node's name, or the beginning of its id.
    func name(of node: NodeID) -> String { knownName(of: node) ?? node.short }

    /// The admins that are known, this node among them if it is one.
    var knownAdmins: [NodeID] {
        let others = membership.members.filter { $0.isAdmin && $0.revocation == nil && $0.node != id }.map(\.node)
        return (identity.admin != nil && !isRevokedHere ? others + [id] : others).sorted()
    }

    /// All members that are known, by what they showed, by what statements say, and by what other members tell of them.
    func memberList() -> ControlMembers {
        var known: [NodeID: Member] = [:]
        for member in membership.members { known[member.node] = member }
        for node in peers.keys.filter({ presence.record(of: $0) != nil }) + [id] where known[node] == nil {
            known[node] = Member(node: node)
        }
        let members = known.keys.sorted().compactMap { known[$0] }.map { member in
            var shown = ControlMembers.Member(id: member.node.description)
            shown.name = knownName(of: member.node)
            shown.role = member.role?.description
            shown.admittedBy = member.admittedBy?.description
            shown.isConnected = peers[member.node]?.isOpen ?? false
            if member.node == id {
                shown.isSelf = true
                shown.role = role.description
                shown.admittedBy = identity.peer.admittedBy.description
            }
            let revocation = member.node == id ? ownRevocation : member.revocation
            shown.isRevoked = revocation != nil
            shown.revokedBy = revocation.map(Self.words)
            return shown
        }
        return ControlMembers(generatedAt: clock.wallMilliseconds, members: members)
    }

    /// Why this node's own membership has ended.
    var ownRevocation: Member.Revocation? {
        guard isRevokedHere else { return nil }
        if let direct = membership.member(id)?.revocation, case .itself = direct { return direct }
        return .throughAdmin(identity.peer.admittedBy)
    }

    /// `root`, or the id of the admin: who signed, or for whose sake the root signed.
    private static func words(_ revocation: Member.Revocation) -> String {
        switch revocation {
        case .itself(by: .root), .throughAdmin: "root"
        case .itself(by: .admin(let node)): node.description
        }
    }

    // MARK: Finding

    /// A member by its name, the beginning of its id, or a whole id that need not be known here.
    func findMember(_ name: String) throws(ControlError) -> NodeID {
        if let node = NodeID(name.lowercased()) { return node }
        let known = Set(memberList().members.compactMap { NodeID($0.id) }).union(peers.keys).sorted()
        let named = known.filter { knownName(of: $0) == name }
        let matching = named.isEmpty ? known.filter { $0.description.hasPrefix(name.lowercased()) } : named
        guard let first = matching.first, !name.isEmpty else {
            throw ControlError(
                .notFound,
                "no node \(Shown.name(name)) is known; kith members lists those that are, and a whole id will do")
        }
        // Of several with one name the one that is still a member is meant.
        let living = matching.filter { !isRevoked($0) }
        guard matching.count == 1 || living.count == 1 else {
            throw ControlError(
                .usage, "\(matching.count) nodes are named \(Shown.name(name)); give the beginning of an id")
        }
        return living.first ?? first
    }
}
