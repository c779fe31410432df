extension Node {
    func membershipFindings() -> [HealthFinding] {
        guard isDoubled || presence.isDoubled else { return [] }
        return [
            HealthFinding(
                code: .identityDuplicate, level: .critical,
                summary: "another machine announces the id of this node: one is a copy of the other",
                action: "on the copy, stop the node and make it a new one: kith leave, then kith join")
        ]
    }
}
