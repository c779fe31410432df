extension Node {
    func documentFindings(_ status: ControlStatus) -> [HealthFinding] {
        var found: [HealthFinding] = []
        let conflicts = status.databases.filter { ($0.conflicts ?? 0) > 0 }
        if let first = conflicts.first {
            let count = conflicts.reduce(0) { $0 + ($1.conflicts ?? 0) }
            found.append(
                HealthFinding(
                    code: .conflicts, level: .warning,
                    summary: count == 1
                        ? "one document has more than one version" : "\(count) documents have more than one version",
                    action: "list them with: kith conflicts \(first.name)"))
        }
        if let peer = status.peers.first(where: { peer in peer.databases.contains { ($0.refused ?? 0) > 0 } }) {
            found.append(
                HealthFinding(
                    code: .documentsRefused, level: .warning,
                    summary: "documents of \(peer.name ?? peer.id) were refused here",
                    action: "the log says which and why; kith status \(peer.name ?? peer.id) counts them"))
        }
        return found
    }
}
