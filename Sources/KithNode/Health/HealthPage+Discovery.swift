extension HealthPage {
    static let discoveryDown = HealthPage(
        meaning: ["avahi-daemon does not answer, so new nodes are not found. Peers known before still replicate."],
        actions: [
            "Look at it with: systemctl status avahi-daemon.",
            "Without Avahi, name the peers: kith start --peer HOST:PORT.",
        ])
}
