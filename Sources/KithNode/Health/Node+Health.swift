extension Node {
    /// What is wrong now, the worst first; on the queue only. Computed without a status, from what the node holds in
    /// memory and a few questions to the kernel (descriptors, interfaces); the disk is not asked (`DiskLook`). What began or ended since the last
    /// time is logged once.
    func health(now: Int64) -> [ControlStatus.Check] {
        let found =
            discoveryFindings() + storageFindings() + serviceFindings() + membershipFindings() + documentFindings()
            + peerFindings(now: now)
            + linkFindings(now: now)
        let (checks, changes) = healthLedger.take(found, now: now)
        for change in changes { log(change) }
        return mutes.apply(to: checks, now: now)
    }

    private func log(_ change: HealthLedger.Change) {
        switch change {
        case .appeared(let finding):
            let levels: [ControlStatus.Level: Log.Level] = [.ok: .info, .warning: .warning, .critical: .error]
            log(
                levels[finding.level] ?? .error, .node, "a health check began",
                ["code": finding.code.rawValue, "summary": finding.summary, "action": finding.action])
        case .gone(let code, let time):
            log(.info, .node, "a health check is over", ["code": code.rawValue, "after_s": "\(time / 1_000)"])
        }
    }
}
