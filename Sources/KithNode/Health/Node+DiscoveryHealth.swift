import KithDiscovery

extension Node {
    func discoveryFindings() -> [HealthFinding] {
        guard let state = discovery?.state, state.phase == .unavailable else { return [] }
        return [
            HealthFinding(
                code: .discoveryDown, level: .warning,
                summary: "other nodes can't be found: \(state.lastError ?? "Avahi does not answer")",
                action: "start avahi-daemon; known peers and those given with --peer still replicate")
        ]
    }
}
