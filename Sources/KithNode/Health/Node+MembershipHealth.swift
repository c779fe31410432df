import KithDocument
import KithSystem
import KithTransport

extension Node {
    func membershipFindings() -> [HealthFinding] {
        duplicateFindings() + revocationFindings() + adminFindings()
    }

    private func duplicateFindings() -> [HealthFinding] {
        var found: [HealthFinding] = []
        if isHeld {
            found.append(
                HealthFinding(
                    code: .machineChanged, level: .critical,
                    summary:
                        "this node's directory was used on another machine before, or its record of that is damaged: nothing is replicated",
                    action:
                        "was it moved here? kith identity keep. Is it a copy? kith stop, kith identity reset, kith join"
                ))
        }
        let now = clock.now
        if hasTwin(now: now) {
            found.append(
                HealthFinding(
                    code: .identityDuplicate, level: .critical,
                    summary: "another node runs with the identity of this one: one is a copy of the other",
                    action: "on the copy: kith stop, then kith identity reset, then kith join"))
        } else if let twin = twins.all(now: now).first(where: { $0 != id }) {
            let name = peers[twin]?.shownName ?? presence.record(of: twin)?.name ?? twin.short
            found.append(
                HealthFinding(
                    code: .identityDuplicate, level: .warning,
                    summary: "two nodes run as \(name) (\(twin.short)): one is a copy of the other",
                    action: "on the copy: kith stop, then kith identity reset, then kith join"))
        }
        return found
    }

    private func revocationFindings() -> [HealthFinding] {
        let action =
            "if this machine is to come back: kith stop, kith leave, then kith join with a new code of an admin"
        let summary: String
        if let revocation = ownRevocation {
            summary =
                switch revocation {
                case .itself:
                    "the group has ended the membership of this node; no node of it exchanges anything with this one"
                case .throughAdmin(let admin):
                    "the group has revoked \(name(of: admin)), the admin who let this node in, and this node with it"
                }
        } else if let peer = peers.values.filter(\.saysRevoked).min(by: { $0.id < $1.id }),
            !peers.values.contains(where: \.isOpen)
        {
            summary = "\(name(of: peer.id)) says that the membership of this node was revoked, and no peer is connected"
        } else {
            return []
        }
        return [HealthFinding(code: .revoked, level: .critical, summary: summary, action: action)]
    }

    /// Advice, not trouble: a group of two with one admin is well.
    private func adminFindings() -> [HealthFinding] {
        guard !isRevokedHere else { return [] }
        let admins = knownAdmins
        let others = membership.members.count { $0.revocation == nil && $0.node != id }
        // Beyond that a node does not meet all others, and so may not have met the second admin.
        guard let admin = admins.first, admins.count == 1, others > 0,
            identity.admin != nil || others < NodeLimits.fullMeshNodes
        else { return [] }
        return [
            HealthFinding(
                code: .singleAdmin, level: .ok,
                summary:
                    "\(admin == id ? "this node" : name(of: admin)) is the only admin known (1 of \(others + 1) members): without it nobody can be let in or revoked",
                action: "make a second one there with: kith invite --role admin")
        ]
    }
}
