import KithDiscovery
import KithDocument
import KithNetwork
import KithReplication
import KithSystem
import KithTransport

extension Node {
    func discoveryFindings() -> [HealthFinding] {
        guard let state = discovery?.state else { return [] }
        switch state.phase {
        case .unavailable:
            let missing = state.missing
            return [
                HealthFinding(
                    code: .discoveryDown, level: .warning,
                    summary:
                        "other nodes can't be found: \(missing?.piece ?? state.lastError ?? "Avahi does not answer")",
                    action:
                        "\(missing?.action ?? "start avahi-daemon"); known peers and those given with --peer still replicate"
                )
            ]
        case .searching:
            guard let error = state.lastError else { return [] }
            return [
                HealthFinding(
                    code: .notAnnounced, level: .warning, summary: "this node is not announced: \(error)",
                    action: "look into avahi-daemon's log, and restart it")
            ]
        case .advertised: return multicastFindings()
        case .off: return []
        }
    }

    private func multicastFindings() -> [HealthFinding] {
        let now = clock.now
        let unheard = unheardSince.filter { now.milliseconds(since: $1) >= NodeLimits.silentMulticastMilliseconds }.keys
        guard let first = unheard.min() else { return [] }
        let name = peers[first]?.shownName ?? first.short
        return [
            HealthFinding(
                code: .multicastLost, level: .warning,
                summary: unheard.count == 1
                    ? "\(name) is linked and announced, and its announcement is not heard: multicast is lost"
                    : "\(unheard.count) peers, \(name) first, are linked and announced, and not heard: multicast is lost",
                action: "let UDP 5353 through the firewalls, and look at IGMP snooping and client isolation")
        ]
    }

    /// Notes which neighbours in a shared subnet say that they are announced and are not heard. Where this node is not
    /// announced itself, something else is wrong.
    func noteUnheard(now: Instant) {
        guard discovery?.state.phase == .advertised else { return unheardSince = [:] }
        let announced = Set(book.announcedNodes)
        let unheard = openPeers.filter { peer in
            presence.record(of: peer.id)?.isAnnounced == true && !announced.contains(peer.id)
        }
        guard !unheard.isEmpty else { return unheardSince = [:] }
        let local = configuration.network.interfaces().filter { !$0.isLoopback && interfaces.allows($0.name) }
        var since: [NodeID: Instant] = [:]
        for peer in unheard where isNear(peer, local) { since[peer.id] = unheardSince[peer.id] ?? now }
        unheardSince = since
    }

    /// Whether a peer's link goes to another machine of a subnet that this one is in.
    private func isNear(_ peer: PeerState, _ local: [Interface]) -> Bool {
        guard let remote = linkInUse(to: peer)?.connection.remote, let endpoint = try? Endpoint(remote),
            case .numeric(let address) = endpoint
        else { return false }
        return !local.contains { $0.ip == address.ip }
            && (address.scope != 0 || local.contains { $0.sharesSubnet(with: address.ip) })
    }
}
