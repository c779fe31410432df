import KithTestSupport

/// The `kith-sim` command that was built beside these tests.
enum SimulatorProgram {
    /// Runs it to its end, on a thread of its own.
    static func run(_ arguments: [String]) async throws -> ProgramResult {
        try await Program.run([Program.built("kith-sim")] + arguments)
    }
}

extension ProgramResult {
    func lines(with prefix: String) -> [String] {
        text.split(separator: "\n").map(String.init).filter { $0.hasPrefix(prefix) }
    }
}
