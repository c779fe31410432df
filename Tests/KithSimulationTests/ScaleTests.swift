import KithSimulation
import KithTestSupport
import Testing

/// Meshes of many nodes that start at once. `kith-sim --scale 1000` is the long form.
@Suite struct ScaleTests {
    @Test func sixtyNodesThatStartAtOnceSettleAndEveryBodyTravelsOnce() {
        let figures = ScaleRun(nodes: 60, seed: 1).measure()
        #expect(figures.failures.isEmpty, "\(figures.text)\n\(figures.failures.joined(separator: "\n"))")
        #expect(figures.settledAfter ?? .max <= 30_000_000)
        #expect(figures.links.last ?? 0 <= 12)
    }

    /// In two processes, whose dictionaries and sets have other orders.
    @Test func aLargeMeshIsTheSameTwice() async throws {
        let results = try await [
            SimulatorProgram.run(["--scale", "24", "--seed", "7"]),
            SimulatorProgram.run(["--scale", "24", "--seed", "7"]),
        ]
        #expect(results.allSatisfy { $0.status == 0 }, "\(results[0].text)")
        let hashes = results.map { $0.lines(with: "trace ") }
        #expect(hashes[0].count == 1 && hashes[0] == hashes[1], "\(hashes)")
    }

    @Test func tooManyNodesAreWrongUsage() async throws {
        let result = try await SimulatorProgram.run(["--scale", "100000"])
        #expect(result.status == 64)
    }
}
