import KithStore
import KithSystem
import KithTransport

extension Node {
    func storageFindings() -> [HealthFinding] {
        let troubles = databaseTroubles()
        let isToldFull = troubles.contains { $0.code == .storageFull }
        return troubles + [isToldFull ? nil : space(), lostLog(), rollback(), damagedFile()].compactMap(\.self)
    }

    /// A small file of the node's directory that was damaged, as long as it is kept aside, or its loss is not made good.
    private func damagedFile() -> HealthFinding? {
        let directory = configuration.directory.path
        if let awaited = membership.awaited {
            return HealthFinding(
                code: .fileDamaged, level: .critical,
                summary:
                    "what this node knew of its group was damaged: it speaks to nobody until it has heard from \(name(of: awaited))",
                action: "see that \(name(of: awaited)) runs and is reached; see kith help file-damaged")
        }
        if let rootProblem {
            return HealthFinding(
                code: .fileDamaged, level: .warning,
                summary:
                    "the group's root key here can't be used, so admins can be neither made nor revoked with it: \(rootProblem)",
                action: "put a copy of it back, or move it away where there is one elsewhere; then start the node anew")
        }
        guard let first = setAside.first else { return nil }
        let more = setAside.count > 1 ? " (and \(setAside.count - 1) more)" : ""
        return HealthFinding(
            code: .fileDamaged, level: .warning,
            summary: "the file \(first.name) of \(directory) was damaged: \(first.loss)\(more)",
            action: "look at the disk, then remove what is kept of it: rm \(Shown.quoted(first.aside))")
    }

    /// The files that were damaged when the node started, or before, and are kept aside.
    func findSetAside() {
        rootProblem = identities.rootProblem(of: identity)
        let directory = configuration.directory.path
        setAside = SpareFile.allCases.map { ($0.rawValue, $0.aside(in: directory), $0.loss) }
        let membership = IdentityStore.membershipName
        setAside.append(
            (
                membership, "\(directory)/\(membership)\(IdentityStore.asideEnding)",
                "who was revoked and what else was lost of it has come back from a peer, or comes with the next"
            ))
        setAside.removeAll { !configuration.machine.files.exists($0.aside) }
        for file in setAside {
            log(.warning, .node, "the file \(file.name) was damaged: \(file.loss)", ["kept": file.aside])
        }
    }

    /// What is wrong with databases, a finding for each kind.
    private func databaseTroubles() -> [HealthFinding] {
        var troubles: [(name: String, error: StoreError)] = catalog.unusable.map { ($0.file.name.string, $0.error) }
        let closed = Set(troubles.map(\.name))
        for database in catalog.databases {
            // Damage does not hide what the disk does, nor the other way round.
            troubles += [database.damage, database.diskFailure].compactMap(\.self).map { (database.name.string, $0) }
        }
        var found: [HealthFinding] = []
        for (name, error) in troubles {
            let code = HealthCode(error)
            guard !found.contains(where: { $0.code == code }) else { continue }
            let others = Set(troubles.filter { HealthCode($0.error) == code && $0.name != name }.map(\.name)).count
            let more = others == 0 ? "" : " (and \(others) more)"
            found.append(
                HealthFinding(
                    code: code, level: .critical, summary: "database \(name)\(more): \(error.message)",
                    action: code.storageAction(
                        configuration.directory.path, name,
                        canBeRepaired: !closed.contains(name) || error.isOfDamagedFile)))
        }
        return found.contains { $0.code == .databaseDamaged } ? found : found + damageFindings()
    }

    /// What checks of the databases have found.
    private func damageFindings() -> [HealthFinding] {
        guard let (name, entry) = damage.all.first else { return [] }
        let more = entry.findings > 1 ? ", and \(entry.findings - 1) more" : ""
        return [
            HealthFinding(
                code: .databaseDamaged, level: .critical,
                summary: "database \(name) is damaged: \(entry.message)\(more)",
                action: HealthCode.repairAction(name.string))
        ]
    }

    /// The room on the disk, as it was last looked at: a full one is told before a write fails.
    private func space() -> HealthFinding? {
        let directory = configuration.directory.path
        guard let space = disk.space else { return nil }
        if disk.isFull {
            return HealthFinding(
                code: .storageFull, level: .critical,
                summary: "the disk of \(directory) is full: \(space.free >> 10) KiB are free, so writes fail",
                action: HealthCode.roomAction(directory))
        }
        guard disk.isLow else { return nil }
        return HealthFinding(
            code: .storageLow, level: .warning,
            summary: "\(space.free >> 20) MiB are free on the disk of \(directory)",
            action: "make room before it is full: writes fail then, and nothing is taken from peers")
    }

    private func lostLog() -> HealthFinding? {
        guard let database = catalog.databases.first(where: { $0.findings.lostLog != nil }),
            let how = database.findings.lostLog
        else { return nil }
        return HealthFinding(
            code: .logLost, level: .warning,
            summary:
                "the log of database \(database.name) \(how) when it was opened: its latest writes may be missing here",
            action: "what peers have of them comes back by itself; see kith help log-lost")
    }

    private func rollback() -> HealthFinding? {
        guard let name = rollbacks.keys.sorted().last(where: { catalog[$0] != nil }), let rollback = rollbacks[name]
        else {
            return nil
        }
        return HealthFinding(
            code: .rollbackDetected, level: .warning,
            summary: "database \(name) was put back to an earlier state, as was found at "
                + "\(Timestamp.text(ofMilliseconds: rollback.at)): \(rollback.evidence)",
            action:
                "what is missing here comes back from peers; see that no copy of this node's directory runs elsewhere")
    }
}

extension HealthCode {
    /// The check that a failure of a database belongs to.
    init(_ error: StoreError) {
        self =
            switch error.code {
            case .storageFull: .storageFull
            case .damaged: .databaseDamaged
            case .newerFile: .databaseNewer
            case .moved: .databaseMoved
            case .missing: .databaseMissing
            case .inputOutput, .readOnly, .cannotOpen: .storageFailed
            default: .databaseUnusable
            }
    }

    fileprivate static func roomAction(_ directory: String) -> String {
        "make room on the disk of \(directory); it goes on by itself within a quarter of a minute then"
    }

    /// What to do about a database, as it is typed.
    fileprivate func storageAction(_ directory: String, _ name: String, canBeRepaired: Bool) -> String {
        switch self {
        case .storageFull: Self.roomAction(directory)
        case .databaseDamaged where canBeRepaired: Self.repairAction(name)
        case .databaseDamaged, .databaseMissing:
            "put the file back, or a copy: kith restore \(name) FILE; else kith db delete \(name), and kith db create \(name) "
                + "takes it from the peers"
        case .databaseNewer: "upgrade this node; the other databases go on"
        case .databaseMoved: "see kith help database-moved before you stop the node"
        case .databaseUnusable: "see kith help database-unusable"
        default: "look at the disk of \(directory); it goes on by itself when that is mended"
        }
    }

    fileprivate static func repairAction(_ name: String) -> String {
        "kith repair \(name) makes a new file of what is sound and fetches the rest from peers"
    }
}
