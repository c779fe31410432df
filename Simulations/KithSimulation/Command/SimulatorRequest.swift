/// What the `kith-sim` command is asked.
struct SimulatorRequest {
    enum Subject {
        case seeds(ClosedRange<UInt64>)
        case plan(file: String)
        case scenario(String)
        case plans(directory: String)
        case list
    }

    struct UsageError: Error { let message: String }

    var subject: Subject
    var options = PlanGenerator.Options()
    var sabotage: Sabotage?
    var prints = false
    var printsPlan = false
    var shrinks = true
    var isDouble = false
    /// Runs in this process and not in a child.
    var isHere = false
    var isQuiet = false
    /// What was never tried is a failure.
    var isComplete = false
    /// Plans that take minutes or hours, too.
    var includesLong = false
    var directory = "."
    var shrinkSeconds = Shrinker.Budget().seconds

    /// The options that draw this plan and run it this way again.
    var repetition: [String] {
        var words: [String] = []
        if case .seeds = subject {
            if let nodes = options.nodes { words += ["--nodes", "\(nodes)"] }
            if options.length != .medium { words.append(options.length == .short ? "--short" : "--long") }
            if let seconds = options.seconds { words += ["--minutes", "\(seconds / 60)"] }
        }
        return words + runOptions
    }

    /// Those that a plan does not have in it.
    var runOptions: [String] { sabotage.map { ["--sabotage", $0.rawValue] } ?? [] }

    init(_ arguments: [String]) throws(UsageError) {
        var rest = arguments[...]
        func value(of option: String) throws(UsageError) -> String {
            guard let value = rest.popFirst() else { throw UsageError(message: "\(option) needs a value") }
            return value
        }
        func number<Number: FixedWidthInteger>(
            of option: String, in range: ClosedRange<Number>
        ) throws(UsageError) -> Number {
            guard let number = Number(try value(of: option)), range.contains(number) else {
                throw UsageError(message: "\(option) must be from \(range.lowerBound) to \(range.upperBound)")
            }
            return number
        }
        var subject: Subject?
        func choose(_ chosen: Subject) throws(UsageError) {
            guard subject == nil else {
                throw UsageError(message: "give one of --seed, --seeds, --plan, --plans, --scenario and --list")
            }
            subject = chosen
        }
        self.subject = .list
        while let option = rest.popFirst() {
            switch option {
            case "--seed":
                let seed: UInt64 = try number(of: option, in: 0...UInt64.max)
                try choose(.seeds(seed...seed))
            case "--seeds": try choose(.seeds(try Self.seeds(try value(of: option))))
            case "--plan": try choose(.plan(file: try value(of: option)))
            case "--plans": try choose(.plans(directory: try value(of: option)))
            case "--all": includesLong = true
            case "--scenario": try choose(.scenario(try value(of: option)))
            case "--list": try choose(.list)
            case "--nodes": options.nodes = try number(of: option, in: SimulationLimits.nodes)
            case "--minutes": options.seconds = 60 * (try number(of: option, in: 1...600_000))
            case "--hours": options.seconds = 3_600 * (try number(of: option, in: 1...10_000))
            case "--short": options.length = .short
            case "--long": options.length = .long
            case "--trace": prints = true
            case "--print-plan": printsPlan = true
            case "--no-shrink": shrinks = false
            case "--shrink-seconds": shrinkSeconds = try number(of: option, in: 1...86_400)
            case "--double": isDouble = true
            case "--here": isHere = true
            case "--quiet": isQuiet = true
            case "--complete": isComplete = true
            case "--out": directory = try value(of: option)
            case "--sabotage":
                guard let sabotage = Sabotage(rawValue: try value(of: option)) else {
                    throw UsageError(message: "--sabotage must be one of \(Self.sabotages)")
                }
                self.sabotage = sabotage
            default: throw UsageError(message: "unknown option \(option)")
            }
        }
        guard let subject else {
            throw UsageError(message: "give --seed, --seeds, --plan, --plans, --scenario or --list")
        }
        self.subject = subject
        // A trace is of interest up to the trap that ends its process, too.
        if prints { isHere = true }
    }

    static var sabotages: String { Sabotage.allCases.map(\.rawValue).joined(separator: ", ") }

    private static func seeds(_ text: String) throws(UsageError) -> ClosedRange<UInt64> {
        let parts = text.split(separator: ".", omittingEmptySubsequences: true)
        guard parts.count == 2, let first = UInt64(parts[0]), let last = UInt64(parts[1]), first <= last else {
            throw UsageError(message: "--seeds must be A..B with A not above B")
        }
        return first...last
    }
}
