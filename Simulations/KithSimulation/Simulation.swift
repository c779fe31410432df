import Glibc

/// Runs plans.
package enum Simulation {
    package struct Options {
        /// Prints each line of the trace.
        package var trace: ((String) -> Void)?
        /// A bug put in on purpose.
        package var sabotage: Sabotage?
        /// Where the databases lie; nil for a folder below the system's, which goes at the end.
        package var directory: String?

        package init(trace: ((String) -> Void)? = nil, sabotage: Sabotage? = nil, directory: String? = nil) {
            self.trace = trace
            self.sabotage = sabotage
            self.directory = directory
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
        /// The last lines of the trace.
        package let recent: [String]
    }

    /// Runs a plan to its end or to the first thing that does not hold.
    package static func run(_ plan: Plan, _ options: Options = Options()) -> Outcome {
        let directory = options.directory ?? temporaryDirectory()
        for node in 0..<plan.nodes {
            mkdir("\(directory)/node-\(node)", 0o700)
        }
        defer { if options.directory == nil { remove(directory, nodes: plan.nodes) } }
        let run = SimulationRun(
            plan: plan, directory: directory, sabotage: options.sabotage, printing: options.trace)
        var violation: Violation?
        do {
            try run.run()
        } catch let error as Violation {
            violation = error
        } catch {
            violation = Violation(.noErrorFromInside, "\(error)")
        }
        let outcome = Outcome(
            violation: violation, traceHash: run.trace.hash, events: run.events, virtualMilliseconds: run.now / 1_000,
            acknowledgedWrites: run.counts.acknowledged, revisionsPulled: run.counts.revisionsPulled,
            links: run.counts.links, recent: run.trace.recent)
        for node in run.nodes { node.end() }
        return outcome
    }

    private static func temporaryDirectory() -> String {
        let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(base)/kith-sim-XXXXXX".utf8CString)
        guard let path = mkdtemp(&template) else {
            preconditionFailure("can't make a folder in \(base): \(String(cString: strerror(errno)))")
        }
        return String(cString: path)
    }

    private static func remove(_ directory: String, nodes: Int) {
        for node in 0..<nodes {
            let folder = "\(directory)/node-\(node)"
            guard let handle = opendir(folder) else { continue }
            while let entry = readdir(handle) {
                let name = withUnsafePointer(to: &entry.pointee.d_name) {
                    $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                }
                if name != "." && name != ".." { unlink("\(folder)/\(name)") }
            }
            closedir(handle)
            rmdir(folder)
        }
        rmdir(directory)
    }
}
