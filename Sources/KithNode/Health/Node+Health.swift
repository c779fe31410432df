extension Node {
    /// What is wrong now, the worst first.
    func health(_ status: ControlStatus, now: Int64) -> [ControlStatus.Check] {
        let found =
            discoveryFindings(status) + storageFindings(status) + serviceFindings() + membershipFindings()
            + documentFindings(status) + peerFindings(status, now: now) + linkFindings(status, now: now)
        let codes = Set(found.map(\.code))
        healthSince = healthSince.filter { codes.contains($0.key) }
        let checks = found.map { finding in
            let since = healthSince[finding.code] ?? now
            healthSince[finding.code] = since
            return ControlStatus.Check(
                code: finding.code.rawValue, level: finding.level, summary: finding.summary, action: finding.action,
                since: since)
        }
        return checks.filter { $0.level == .critical } + checks.filter { $0.level == .warning }
            + checks.filter { $0.level == .ok }
    }
}
