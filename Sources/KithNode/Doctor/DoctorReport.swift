/// What `kith doctor` says: the cause in words, then every check in order.
package struct DoctorReport: Hashable, Sendable {
    package enum Verdict: String, Sendable {
        case ok
        case warning
        case failed
        /// Not looked at, because something before it makes that useless, or it is not wanted.
        case skipped
    }

    package struct Check: Hashable, Sendable {
        /// A stable word for programs: `bus`, `avahi`, `listener` ...
        package let name: String
        package let verdict: Verdict
        /// What was found, in one sentence without a full stop.
        package let summary: String
        /// What to do; nil where nothing is.
        package let action: String?
        /// More lines: each address, each rule.
        package let details: [String]

        package init(
            _ name: String, _ verdict: Verdict, _ summary: String, action: String? = nil, details: [String] = []
        ) {
            self.name = name
            self.verdict = verdict
            self.summary = summary
            self.action = action
            self.details = details
        }
    }

    package let generatedAt: Int64
    package let checks: [Check]
    /// What is said where nothing is wrong.
    let calm: String

    package init(generatedAt: Int64, checks: [Check], calm: String) {
        self.generatedAt = generatedAt
        self.checks = checks
        self.calm = calm
    }

    /// Whether anything failed: a warning alone is no trouble.
    package var isTrouble: Bool { checks.contains { $0.verdict == .failed } }

    /// The first thing that is wrong, else the first that may be, else that nothing is; with what to do.
    package var cause: String {
        guard
            let check = checks.first(where: { $0.verdict == .failed })
                ?? checks.first(where: { $0.verdict == .warning })
        else { return calm }
        return check.summary + (check.action.map { "; \($0)" } ?? "")
    }

    /// One JSON object: `kith.doctor/1`.
    package var json: [UInt8] {
        var object = JSONObjectWriter()
        object.add("schema", "kith.doctor/1")
        object.add("generated_at", time: generatedAt)
        object.add("trouble", isTrouble)
        object.add("cause", cause)
        object.add("checks", elements: checks.map(\.json))
        return object.bytes
    }
}

extension DoctorReport.Check {
    fileprivate var json: [UInt8] {
        var object = JSONObjectWriter()
        object.add("check", name)
        object.add("verdict", verdict.rawValue)
        object.add("summary", summary)
        object.add("action", action)
        object.add("details", strings: details)
        return object.bytes
    }
}
