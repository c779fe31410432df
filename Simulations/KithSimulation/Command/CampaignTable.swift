/// What the runs of many seeds did, all together.
struct CampaignTable {
    private var held = 0
    private var failures = 0
    /// By name.
    private var failed = Tally()
    private var virtualMilliseconds = 0
    private var events = 0
    /// The least that a run did that came to its end.
    private var least = Volume(events: .max, seconds: .max, kinds: .max)
    /// How many runs came to their end and did less than a long one must.
    private(set) var smallRuns = 0
    private var cpuMilliseconds = 0
    private var carriedOut = Tally()
    private var marks = Tally()
    private var audit = PlanAudit()

    mutating func add(_ plan: Plan, _ report: RunReport) {
        if let failure = report.failure {
            failed.add(failure.name)
            failures += 1
        } else {
            held += 1
            add(Volume(report))
        }
        virtualMilliseconds += report.virtualMilliseconds
        events += report.events
        cpuMilliseconds += report.cpuMilliseconds
        carriedOut.add(report.carriedOut)
        marks.add(report.marks)
        audit.add(plan)
    }

    private mutating func add(_ volume: Volume) {
        least.events = min(least.events, volume.events)
        least.seconds = min(least.seconds, volume.seconds)
        least.kinds = min(least.kinds, volume.kinds)
        if volume.isSmall { smallRuns += 1 }
    }

    /// The verbs that no run carried out.
    var neverTried: [String] {
        (Operation.Kind.allCases.map(\.rawValue) + Fault.Kind.allCases.map(\.rawValue)).filter { carriedOut[$0] == 0 }
    }

    /// The states that no run met.
    var neverMet: [String] { Mark.allCases.map(\.rawValue).filter { marks[$0] == 0 } }

    /// - Parameter title: what ran.
    func text(_ title: String) -> String {
        let rate = cpuMilliseconds > 0 ? events * 1_000 / cpuMilliseconds : 0
        let tenths = virtualMilliseconds / 360_000
        var lines = [
            "",
            "runs            \(title): \(held) held, \(failures) failed",
            "virtual hours   \(tenths / 10).\(tenths % 10)",
            "events          \(events)",
            "events/s        \(rate) of one processor",
        ]
        if held > 0 {
            lines.append(Self.padded("at least") + "\(least) in a run that held; \(smallRuns) below \(Volume.ofLong)")
        }
        lines.append(Self.padded("operations") + counts(Operation.Kind.allCases.map(\.rawValue)))
        for area in Area.allCases {
            let kinds = Fault.Kind.allCases.filter { $0.area == area }.map(\.rawValue)
            lines.append(Self.padded(area.rawValue) + counts(kinds))
        }
        if failures > 0 {
            let names = failed.sorted.map { "\($0.name) \($0.count)" }.joined(separator: ", ")
            lines.append(Self.padded("failed") + names)
        }
        if !neverTried.isEmpty { lines.append(Self.padded("never tried") + neverTried.joined(separator: ", ")) }
        lines.append(
            Self.padded("marks") + "\(Mark.allCases.count - neverMet.count) of \(Mark.allCases.count) met, how often:")
        for mark in Mark.allCases {
            let count = String(marks[mark.rawValue])
            lines.append(String(repeating: " ", count: max(0, 15 - count.utf8.count)) + count + " " + mark.rawValue)
        }
        if !neverMet.isEmpty { lines.append(Self.padded("never met") + neverMet.joined(separator: "; ")) }
        let empty = audit.empty
        let examples = empty.prefix(8).joined(separator: ", ") + (empty.count > 8 ? ", ..." : "")
        lines.append(
            Self.padded("cells at zero")
                + "\(empty.count) of \(PlanAudit.cellCount) of operation, area of faults, state of the node\(empty.isEmpty ? "" : ": ")\(examples)"
        )
        return lines.joined(separator: "\n")
    }

    private func counts(_ verbs: [String]) -> String {
        verbs.map { "\($0) \(carriedOut[$0])" }.joined(separator: ", ")
    }

    private static func padded(_ name: String) -> String {
        name + String(repeating: " ", count: max(1, 16 - name.utf8.count))
    }
}

/// How much a run did.
struct Volume: CustomStringConvertible {
    var events: Int
    var seconds: Int
    /// Kinds of fault that were carried out.
    var kinds: Int

    /// What a long run has at least.
    static let ofLong = Volume(events: 20_000, seconds: 600, kinds: 3)

    init(events: Int, seconds: Int, kinds: Int) {
        self.events = events
        self.seconds = seconds
        self.kinds = kinds
    }

    init(_ report: RunReport) {
        events = report.events
        seconds = report.virtualMilliseconds / 1_000
        kinds = Fault.Kind.allCases.count { $0 != .pace && report.carriedOut[$0.rawValue] > 0 }
    }

    var isSmall: Bool {
        events < Self.ofLong.events || seconds < Self.ofLong.seconds || kinds < Self.ofLong.kinds
    }

    var description: String {
        "\(events) events, \(seconds / 60).\(seconds % 60 / 6) minutes, \(kinds) kinds of fault"
    }
}
