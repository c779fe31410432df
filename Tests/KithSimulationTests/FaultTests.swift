import KithSimulation
import Testing

/// That faults do something.
@Suite struct FaultTests {
    /// One fault of a kind at a time, and what must be about for it to change something.
    private struct Case {
        let fault: String
        let besides: [String]

        init(_ fault: String, _ besides: String...) {
            self.fault = fault
            self.besides = besides
        }
    }

    private static func example(of kind: Fault.Kind) -> Case {
        let name = kind.rawValue
        return switch kind {
        case .pace: Case("pace node=0 other=1 low=5000 high=9000 size=100")
        case .rate: Case("rate node=0 other=1 size=2000")
        case .isolate, .star: Case("\(name) node=1 ms=1000")
        case .halves, .split: Case("\(name) nodes=0-1 ms=2000")
        case .bridge: Case("bridge node=0 nodes=1 ms=1000")
        case .majorities, .swizzle: Case("\(name) ms=1000")
        case .oneway, .clog: Case("\(name) node=1 other=0 ms=1000")
        case .flap: Case("flap node=0 other=1 ms=1000 size=100")
        case .reset, .truncate, .halfopen, .corrupt, .dial, .takeover, .impostor: Case("\(name) node=1 other=0")
        case .hang: Case("hang node=1 ms=3000", "5100 reset node=1 other=0")
        case .flood: Case("flood count=5")
        case .role: Case("role node=1 text=reader")
        case .version: Case("version node=1 text=older")
        case .hostile: Case("hostile node=1 text=\(HostileKind.allCases[0].rawValue)")
        case .crash: Case("crash node=1 count=3 ms=500")
        case .failread: Case("failread node=1 ms=2000", "6000 kill node=1 ms=100")
        case .failwrite, .failsync, .misdirect: Case("\(name) node=1 count=1")
        case .slow: Case("slow node=1 low=10000 high=20000 ms=2000")
        case .pretend: Case("pretend node=1 ms=3000", "6000 power node=1 ms=100")
        case .rot: Case("rot node=1 count=500", "6000 kill node=1 ms=100")
        case .stalepage:
            // It has to have a page that has been written again since half of the time.
            Case("stalepage node=1 count=20", "4000 stop node=1 ms=100", "6000 kill node=1 ms=100")
        case .backup: Case("backup node=1", "6000 restore node=1 ms=100")
        case .restore: Case("restore node=1 ms=100", "3000 backup node=1")
        case .clone: Case("clone node=1 other=4")
        case .keep: Case("keep node=1", "3000 move node=1")
        case .skew: Case("skew node=1 ms=60000")
        case .drift: Case("drift node=1 size=1000")
        case .join: Case("join node=3")
        default: Case("\(name) node=1" + (kind.parameters.contains(.ms) ? " ms=1000" : ""))
        }
    }

    /// What nodes do and what happens to them: each event that is a node's.
    private static func run(_ lines: [String]) throws -> (events: [String], outcome: Simulation.Outcome) {
        let plan = try Plan(
            text: """
                kith-sim plan 2
                seed=5 nodes=4 databases=1 end=9000
                200 put node=1 doc=d$n- count=3 every=400 until=8500 fields=/a=$n
                300 put node=0 doc=e$n- count=1 every=900 until=8500 fields=/a=$n
                \(lines.joined(separator: "\n"))
                """)
        var events: [String] = []
        let outcome = Simulation.run(
            plan,
            .init(
                trace: { line in
                    let node = line.split(separator: " ", maxSplits: 2).dropFirst().first
                    if node != "-" { events.append(line) }
                }, endsUnhealed: true))
        return (events, outcome)
    }

    @Test func theSamePlanInTheSameProcessIsTheSameRun() throws {
        let (one, other) = (try Self.undisturbed.get(), try Self.run([]))
        #expect(one.events == other.events)
        #expect(one.outcome.traceHash == other.outcome.traceHash)
    }

    /// The run without any fault, which most are compared with.
    private static let undisturbed = Result { try run([]) }

    /// The run with it is another one than the run without it, and it is counted.
    @Test(arguments: Fault.Kind.allCases) func everyKindOfFaultChangesSomething(kind: Fault.Kind) throws {
        let example = Self.example(of: kind)
        let with = try Self.run(example.besides + ["5003 \(example.fault)"])
        let without = try example.besides.isEmpty ? Self.undisturbed.get() : Self.run(example.besides)
        #expect(with.outcome.violation == nil)
        #expect(with.outcome.carriedOut[kind.rawValue] == 1)
        #expect(with.events != without.events)
    }
}
