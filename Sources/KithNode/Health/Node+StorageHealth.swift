import KithStore

extension Node {
    func storageFindings() -> [HealthFinding] {
        var found: [HealthFinding] = []
        let directory = configuration.directory.path
        if let (name, failure) = catalog.databases.lazy.compactMap({ database in
            database.diskFailure.map { (database.name, $0) }
        }).first {
            let isFull = failure.code == .storageFull
            found.append(
                HealthFinding(
                    code: isFull ? .storageFull : .storageFailed, level: .critical,
                    summary: "database \(name): \(failure.message)",
                    action: isFull
                        ? "make room on the disk of \(directory); writing goes on by itself then"
                        : "look at the disk of \(directory); reading goes on as far as it can"))
        }
        if let name = rollbacks.keys.sorted().last(where: { catalog[$0] != nil }), let rollback = rollbacks[name] {
            found.append(
                HealthFinding(
                    code: .rollbackDetected, level: .warning,
                    summary: "database \(name) was put back to an earlier state, as was found at "
                        + "\(Timestamp.text(ofMilliseconds: rollback.at)): \(rollback.evidence)",
                    action:
                        "what is missing here comes back from peers; see that no copy of this node's directory runs elsewhere"
                ))
        }
        return found + damageFindings()
    }

    /// What checks of the databases have found.
    private func damageFindings() -> [HealthFinding] {
        guard let (name, entry) = damage.all.first else { return [] }
        let more = entry.findings > 1 ? ", and \(entry.findings - 1) more" : ""
        return [
            HealthFinding(
                code: .databaseDamaged, level: .critical,
                summary: "database \(name) is damaged: \(entry.message)\(more)",
                action: "kith repair \(name) makes a new file of what is sound and fetches the rest from peers")
        ]
    }
}
