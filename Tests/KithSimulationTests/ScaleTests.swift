import KithTestSupport
import Testing

/// Meshes of many nodes that start at once. `kith-sim --scale 1000` is the long form.
@Suite struct ScaleTests {
    /// The bounds are the command's. In a process of its own, since runs within one process wait for each other.
    @Test func sixtyNodesThatStartAtOnceSettleAndEveryBodyTravelsOnce() async throws {
        let result = try await SimulatorProgram.run(["--scale", "60", "--seed", "1"])
        #expect(result.status == 0, "\(result.text)")
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
