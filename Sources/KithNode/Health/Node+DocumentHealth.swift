import KithDocument
import KithMerge
import KithReplication
import KithStore

extension Node {
    func documentFindings() -> [HealthFinding] {
        conflictFindings() + refusedFindings()
    }

    private func conflictFindings() -> [HealthFinding] {
        let conflicts = catalog.databases.map { (name: $0.name.string, count: $0.summary.conflicts) }
            .filter { $0.count > 0 }
        guard let first = conflicts.first else { return [] }
        let count = conflicts.reduce(0) { $0 + $1.count }
        let names = conflicts.map(\.name)
        let failures = catalog.databases.filter { names.contains($0.name.string) }.compactMap(\.resolverReports.last)
        let why = failures.first.map { "; of the resolver \($0.resolver) nothing was taken: \($0.reason)" } ?? ""
        return [
            HealthFinding(
                code: .conflicts, level: .warning,
                summary: (count == 1
                    ? "one document has more than one version" : "\(count) documents have more than one version") + why,
                action: "list them with: kith conflicts \(first.name)")
        ]
    }

    /// What was refused is recorded in the database, so that a restart does not hide it.
    private func refusedFindings() -> [HealthFinding] {
        let refused = catalog.databases.map { (name: $0.name.string, count: $0.summary.refused) }
            .filter { $0.count > 0 }
        guard let first = refused.first else { return [] }
        let count = refused.reduce(0) { $0 + $1.count }
        let sender = peers.values.filter { ($0.sessions[first.name]?.refused ?? 0) > 0 }.min { $0.id < $1.id }
        let whose = sender.map { " of \($0.shownName)" } ?? ""
        return [
            HealthFinding(
                code: .documentsRefused, level: .warning,
                summary: count == 1
                    ? "a document\(whose) was refused in database \(first.name)"
                    : "\(count) documents\(whose) were refused, the first in database \(first.name)",
                action: "list them with: kith refused \(first.name); mend them where they were written")
        ]
    }
}
