import KithDiscovery
import KithDocument
import KithNetwork
import KithSystem

extension Node {
    func serviceFindings() -> [HealthFinding] {
        var found: [HealthFinding] = []
        if let problem = configured.problem {
            let file = configured.namedFile.map { " --config \(Shown.quoted($0))" } ?? ""
            found.append(
                HealthFinding(
                    code: .configurationInvalid, level: .warning,
                    summary: "the configuration is wrong and was not taken over: \(problem)",
                    action: "mend it (kith config\(file) --check names what is wrong), then: kith reload"))
        }
        let failed = failedStatics
        if let first = failed.first {
            let others = failed.count > 1 ? " (and \(failed.count - 1) more such addresses)" : ""
            found.append(
                HealthFinding(
                    code: .staticPeerFailed, level: .warning,
                    summary:
                        "no node of this group was ever reached at \(first.address): \(first.lastError ?? "")\(others)",
                    action:
                        "see that a node of this group runs there, or mend the address; kith config shows where it stands"
                ))
        }
        return found
    }

    /// Addresses of the configuration that failed a few times and at which nobody has answered, now or before.
    private var failedStatics: [Candidate] {
        let failed = book.candidates(for: nil, now: clock.monotonicMilliseconds).filter { candidate in
            candidate.source == .static && candidate.lastError != nil
                && schedule.failures(of: .address(candidate.address.description))
                    >= NodeLimits.failuresUntilUnreachable
        }
        // What all nodes have is asked for only where something failed: in a large mesh that is a great deal.
        guard !failed.isEmpty else { return [] }
        let known = Set(book.nodes.flatMap { book.candidates(for: $0, now: 0) }.map(\.address))
        return failed.filter { !known.contains($0.address) }
    }
}
