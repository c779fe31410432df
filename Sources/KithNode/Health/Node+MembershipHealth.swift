import KithDocument

extension Node {
    func membershipFindings() -> [HealthFinding] {
        var found: [HealthFinding] = []
        if isHeld {
            found.append(
                HealthFinding(
                    code: .machineChanged, level: .critical,
                    summary: "this node's directory was used on another machine before: nothing is replicated",
                    action:
                        "was it moved here? kith identity keep. Is it a copy? kith stop, kith identity reset, kith join"
                ))
        }
        let now = SystemClock.now
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
}
