import KithSystem

/// The node in a few words, as a service manager shows it: `2 of 3 peers, in sync`.
package enum ServiceStatusText {
    /// - Parameters:
    ///   - connected: peers with a link now.
    ///   - known: peers met before, those connected among them.
    ///   - behind: connected peers with which something is not in sync.
    ///   - problems: the codes of the checks that are not well, the worst first.
    package static func text(connected: Int, known: Int, behind: Int, problems: [String]) -> String {
        var parts: [String] = []
        if known == 0 {
            parts.append("no peers known")
        } else {
            parts.append("\(connected) of \(known) \(known == 1 ? "peer" : "peers")")
            if connected > 0 { parts.append(behind == 0 ? "in sync" : "catching up with \(behind)") }
        }
        if let first = problems.first {
            parts.append(problems.count == 1 ? first : "\(first) and \(problems.count - 1) more")
        }
        return parts.joined(separator: ", ")
    }
}

extension Node {
    /// The text for the service manager's `STATUS=`, as things stand now; on the queue only. Costs a look at each peer.
    func serviceStatusText() -> String {
        let now = clock.wallMilliseconds
        let open = peers.values.filter(\.isOpen)
        let known = peers.values.count { $0.isOpen || lastExchange($0, now: now) != nil || $0.name != nil }
        return ServiceStatusText.text(
            connected: open.count, known: known,
            behind: open.count { exchangesDocuments(with: $0) && !isInSync($0, now: now) },
            problems: health(now: now).filter { $0.level != .ok && $0.mutedUntil == nil }.map(\.code))
    }
}
