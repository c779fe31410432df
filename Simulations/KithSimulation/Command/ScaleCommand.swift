#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// `kith-sim --scale N [--seed S]`: a mesh of N nodes, measured.
enum ScaleCommand {
    private static let wrongUsage: Int32 = 64

    /// - Parameter arguments: those after `--scale`.
    /// - Returns: its exit status: 0 when all bounds hold, 1 when one does not.
    static func run(_ arguments: [String]) -> Int32 {
        guard let nodes = arguments.first.flatMap({ Int($0) }), SimulationLimits.nodes.contains(nodes), nodes > 1 else {
            return refuse("--scale must be from 2 to \(SimulationLimits.nodes.upperBound)")
        }
        var seed: UInt64 = 1
        var rest = arguments.dropFirst()
        while let option = rest.popFirst() {
            guard option == "--seed", let number = rest.popFirst().flatMap({ UInt64($0) }) else {
                return refuse("beside --scale there is --seed N alone")
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

    private static func refuse(_ message: String) -> Int32 {
        let line = Array("kith-sim: \(message); see kith-sim --help\n".utf8)
        _ = write(STDERR_FILENO, line, line.count)
        return wrongUsage
    }
}
