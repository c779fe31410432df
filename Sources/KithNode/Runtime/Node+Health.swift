import KithDocument
import KithReplication
import KithStore

extension Node {
    /// What is wrong now, the worst first; each with a stable code and what to do.
    func health(_ status: ControlStatus, now: Int64) -> [ControlStatus.Check] {
        var found: [(code: String, level: ControlStatus.Level, summary: String, action: String)] = []
        if status.discovery.state == .unavailable {
            found.append(
                (
                    "DISCOVERY_DOWN", .warning,
                    "other nodes can't be found: \(status.discovery.lastError ?? "Avahi does not answer")",
                    "start avahi-daemon; known peers and those given with --peer still replicate"
                ))
        }
        for database in catalog.databases {
            guard let failure = database.diskFailure else { continue }
            let isFull = failure.code == .storageFull
            found.append(
                (
                    isFull ? "STORAGE_FULL" : "STORAGE_FAILED", .critical,
                    "database \(database.name): \(failure.message)",
                    isFull
                        ? "make room on the disk of \(configuration.directory.path); writing goes on by itself then"
                        : "look at the disk of \(configuration.directory.path); reading goes on as far as it can"
                ))
            break
        }
        if isDoubled || presence.isDoubled {
            found.append(
                (
                    "IDENTITY_DUPLICATE", .critical,
                    "another machine announces the id of this node: one is a copy of the other",
                    "on the copy, stop the node and make it a new one: kith leave, then kith join"
                ))
        }
        if let database = catalog.databases.first(where: \.isRollbackDetected) {
            found.append(
                (
                    "ROLLBACK_DETECTED", .warning,
                    "database \(database.name) was put back to an earlier state while it ran, or a copy of it runs elsewhere",
                    "nothing is lost: what is missing here comes back from peers; see that the directory is used once"
                ))
        }
        let conflicts = status.databases.filter { ($0.conflicts ?? 0) > 0 }
        if let first = conflicts.first {
            let count = conflicts.reduce(0) { $0 + ($1.conflicts ?? 0) }
            found.append(
                (
                    "CONFLICTS", .warning,
                    count == 1
                        ? "one document has more than one version" : "\(count) documents have more than one version",
                    "list them with: kith conflicts \(first.name)"
                ))
        }
        for peer in status.peers {
            guard peer.connected, let offset = peer.clockOffsetMilliseconds,
                offset.magnitude > NodeLimits.clockSkewMilliseconds
            else {
                continue
            }
            found.append(
                (
                    "CLOCK_SKEW", .warning,
                    "the clock of \(peer.name ?? peer.id) is \(offset.magnitude / 1_000) s \(offset > 0 ? "ahead of" : "behind") this one",
                    "set both clocks by a time service; until then the clock that is ahead wins edits of one field"
                ))
            break
        }
        if let peer = status.peers.first(where: { $0.state == .blocked }) {
            found.append(
                (
                    "PEER_BLOCKED", .critical,
                    "replication with \(peer.name ?? peer.id) is blocked: \(peer.reason ?? "")",
                    "see: kith status \(peer.name ?? peer.id)"
                ))
        }
        if let peer = status.peers.first(where: { peer in peer.databases.contains { ($0.refused ?? 0) > 0 } }) {
            found.append(
                (
                    "DOCUMENTS_REFUSED", .warning, "documents of \(peer.name ?? peer.id) were refused here",
                    "the log says which and why; kith status \(peer.name ?? peer.id) counts them"
                ))
        }
        if let pause = pauses.pauses.first(where: { $0.holds(at: now) }) {
            let whom = pause.node.map { peers[$0]?.name ?? $0.short } ?? "all peers"
            found.append(("PAUSED", .warning, "replication with \(whom) is paused", "end it with: kith resume"))
        }
        let codes = Set(found.map(\.code))
        healthSince = healthSince.filter { codes.contains($0.key) }
        let checks = found.map { check in
            let since = healthSince[check.code] ?? now
            healthSince[check.code] = since
            return ControlStatus.Check(
                code: check.code, level: check.level, summary: check.summary, action: check.action, since: since)
        }
        return checks.filter { $0.level == .critical } + checks.filter { $0.level != .critical }
    }
}
