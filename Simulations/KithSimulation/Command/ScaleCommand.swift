#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// `kith-sim --scale N [--seed S]`: a mesh of N nodes, measured.
enum ScaleCommand {
    /// - Parameter arguments: those after `--scale`.
    /// - Returns: its exit status: 0 when all bounds hold, 1 when one does not.
    static func run(_ arguments: [String]) -> Int32 {
        guard let nodes = arguments.first.flatMap({ Int($0) }), SimulationLimits.nodes.contains(nodes), nodes > 1 else {
            return SimulatorCommand.refuse("--scale must be from 2 to \(SimulationLimits.nodes.upperBound)")
        }
        var seed: UInt64 = 1
        var rest = arguments.dropFirst()
        while let option = rest.popFirst() {
            guard option == "--seed", let number = rest.popFirst().flatMap({ UInt64($0) }) else {
                return SimulatorCommand.refuse("beside --scale there is --seed N alone")
            }
            seed = number
        }
        let figures = ScaleRun(nodes: nodes, seed: seed) { what in
            print("  \(what)")
            fflush(nil)
        }.measure()
        print(figures.text)
        for failure in figures.failures { print("FAILED \(failure)") }
        return figures.failures.isEmpty ? 0 : 1
    }
}
