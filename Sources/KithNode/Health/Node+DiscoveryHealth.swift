extension Node {
    func discoveryFindings(_ status: ControlStatus) -> [HealthFinding] {
        guard status.discovery.state == .unavailable else { return [] }
        return [
            HealthFinding(
                code: .discoveryDown, level: .warning,
                summary: "other nodes can't be found: \(status.discovery.lastError ?? "Avahi does not answer")",
                action: "start avahi-daemon; known peers and those given with --peer still replicate")
        ]
    }
}
