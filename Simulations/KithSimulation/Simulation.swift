/// Runs plans.
package enum Simulation {
    package struct Options {
        /// Prints each line of the trace.
        package var trace: ((String) -> Void)?
        /// A bug put in on purpose.
        package var sabotage: Sabotage?
        /// Ends when healing would begin.
        package var endsUnhealed: Bool

        package init(
            trace: ((String) -> Void)? = nil, sabotage: Sabotage? = nil, endsUnhealed: Bool = false
        ) {
            self.trace = trace
            self.sabotage = sabotage
            self.endsUnhealed = endsUnhealed
        }
    }

    /// What came of a run.
    package struct Outcome: Sendable {
        /// Nil when all held.
        package let violation: Violation?
        /// The rolling hash of the trace: the same for one plan everywhere.
        package let traceHash: UInt64
        package let events: Int
        /// Milliseconds of virtual time.
        package let virtualMilliseconds: UInt64
        package let acknowledgedWrites: Int
        package let revisionsPulled: Int
        package let links: Int
        /// How often each operation and fault was carried out, by its verb.
        package let carriedOut: Tally
        /// How often each `Mark` was met.
        package let marks: Tally
        /// The last lines of the trace.
        package let recent: [String]
    }

    /// Runs a plan to its end or to the first thing that does not hold.
    package static func run(_ plan: Plan, _ options: Options = Options()) -> Outcome {
        var violation: Violation?
        let run: SimulationRun
        do { run = try SimulationRun(plan: plan, sabotage: options.sabotage, printing: options.trace) } catch {
            preconditionFailure("the keys of a run can't be made: \(error)")
        }
        do { try run.run(endsUnhealed: options.endsUnhealed) } catch let error as Violation { violation = error } catch
        {
            violation = Violation(.noErrorFromInside, "\(error)")
        }
        defer { run.discard() }
        return Outcome(
            violation: violation, traceHash: run.trace.hash ^ run.world.hash, events: Int(run.world.handled),
            virtualMilliseconds: run.now / 1_000, acknowledgedWrites: run.counts.acknowledged,
            revisionsPulled: run.counts.revisionsPulled, links: run.network.made, carriedOut: run.carriedOut,
            marks: run.marks, recent: run.trace.recent)
    }
}
