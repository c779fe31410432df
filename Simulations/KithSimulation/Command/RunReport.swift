/// How a run failed.
package struct Failure: Hashable, Sendable, CustomStringConvertible {
    package enum Kind: String, Sendable, CaseIterable {
        /// Something did not hold at any moment.
        case invariant
        /// What must happen in the end did not.
        case liveness
        /// The process ended by a signal: a precondition failed, or worse.
        case trap
        /// Two runs of one plan had different traces.
        case nondeterminism
        /// It took more time than it may.
        case budget

        /// Of the process that finds it; 0 is for none.
        package var exitStatus: Int32 {
            switch self {
            case .invariant: 1
            case .liveness: 2
            case .trap: 3
            case .nondeterminism: 4
            case .budget: 5
            }
        }
    }

    package let kind: Kind
    /// Two failures with one name are one: that of the invariant, or the kind's. One word.
    package let name: String
    /// When it was seen, in milliseconds of virtual time; nil where that is not known.
    package let time: Int?
    /// One line.
    package let message: String

    package init(_ kind: Kind, name: String? = nil, time: Int? = nil, _ message: String) {
        self.kind = kind
        self.name = name ?? kind.rawValue
        self.time = time
        self.message = message.split(separator: "\n", omittingEmptySubsequences: true).joined(separator: " / ")
    }

    package init(_ violation: Violation, time: Int) {
        let name = violation.invariant.rawValue
        let isLiveness = name.hasPrefix("L") || name.hasPrefix("N")
        self.init(isLiveness ? .liveness : .invariant, name: name, time: time, "\(violation)")
    }

    package var description: String {
        let seen = time.map { " (at \($0) ms)" } ?? ""
        return message.hasPrefix(name) ? "\(message)\(seen)" : "\(name): \(message)\(seen)"
    }
}

/// What came of a run, as one process tells another: lines that begin with a word.
package struct RunReport: Hashable, Sendable {
    package var failure: Failure?
    package var traceHash: UInt64 = 0
    package var events = 0
    /// Of the processor, in milliseconds.
    package var cpuMilliseconds = 0
    package var virtualMilliseconds = 0
    package var links = 0
    package var writes = 0
    package var pulled = 0
    package var carriedOut = Tally()
    package var marks = Tally()
    /// The last lines of the trace of a run that failed.
    package var recent: [String] = []

    package init(failure: Failure? = nil) { self.failure = failure }

    init(_ outcome: Simulation.Outcome, cpuMilliseconds: Int) {
        virtualMilliseconds = Int(outcome.virtualMilliseconds)
        failure = outcome.violation.map { Failure($0, time: Int(outcome.virtualMilliseconds)) }
        traceHash = outcome.traceHash
        events = outcome.events
        self.cpuMilliseconds = cpuMilliseconds
        links = outcome.links
        writes = outcome.acknowledgedWrites
        pulled = outcome.revisionsPulled
        carriedOut = outcome.carriedOut
        marks = outcome.marks
        if failure != nil { recent = outcome.recent }
    }

    /// One line for people, after the plan's.
    package var summary: String {
        let rate = cpuMilliseconds > 0 ? events * 1_000 / cpuMilliseconds : events
        return "events \(events) virtual \(virtualMilliseconds / 1_000) s links \(links) writes \(writes) "
            + "pulled \(pulled) trace \(Self.hex(traceHash)) events/s \(rate)"
    }

    package var text: String {
        var lines = [
            "run \(traceHash) \(events) \(cpuMilliseconds) \(virtualMilliseconds) \(links) \(writes) \(pulled)"
        ]
        lines.append(contentsOf: carriedOut.sorted.map { "did \($0.name) \($0.count)" })
        lines.append(contentsOf: marks.sorted.map { "met \($0.count) \($0.name)" })
        lines.append(contentsOf: recent.map { "trace \($0)" })
        if let failure {
            lines.append(
                "failure \(failure.kind.rawValue) \(failure.name) \(failure.time.map(String.init) ?? "-") \(failure.message)"
            )
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Nil where the text has no whole report; other lines in it are passed over.
    package init?(text: String) {
        var isThere = false
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 4)
            switch words.first {
            case "run":
                let numbers = line.split(separator: " ").dropFirst().map { UInt64($0) ?? 0 }
                guard numbers.count == 7 else { return nil }
                traceHash = numbers[0]
                (events, cpuMilliseconds) = (Int(numbers[1]), Int(numbers[2]))
                (virtualMilliseconds, links) = (Int(numbers[3]), Int(numbers[4]))
                (writes, pulled) = (Int(numbers[5]), Int(numbers[6]))
                isThere = true
            case "did" where words.count == 3: carriedOut.add(String(words[1]), Int(words[2]) ?? 0)
            case "met": Self.readMark(line, into: &marks)
            case "trace": recent.append(String(line.dropFirst(6)))
            case "failure" where words.count == 5:
                guard let kind = Failure.Kind(rawValue: String(words[1])) else { return nil }
                failure = Failure(kind, name: String(words[2]), time: Int(words[3]), String(words[4]))
            default: break
            }
        }
        if !isThere { return nil }
    }

    /// `met COUNT WHAT IT IS CALLED`
    private static func readMark(_ line: Substring, into marks: inout Tally) {
        let words = line.split(separator: " ", maxSplits: 2)
        guard words.count == 3, let count = Int(words[1]) else { return }
        marks.add(String(words[2]), count)
    }

    package static func hex(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
