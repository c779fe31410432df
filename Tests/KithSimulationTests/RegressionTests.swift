import Foundation
import KithSimulation
import Testing

/// Plans that once showed a fault of the product: each must hold for ever. `.ci/regressions` shows that each failed before
/// its fault was mended.
@Suite struct RegressionTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../Regressions").standardizedFileURL

    static let names: [String] = {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return all.filter { $0.hasSuffix(".plan") }.sorted()
    }()

    @Test func thereAreSuchPlans() { #expect(!Self.names.isEmpty) }

    @Test(arguments: names) func whatWasMendedHolds(name: String) throws {
        let text = try String(contentsOf: Self.folder.appendingPathComponent(name), encoding: .utf8)
        let violation = Simulation.run(try Plan(text: text)).violation
        #expect(violation == nil, "\(name): \(violation.map { "\($0)" } ?? "")")
    }
}
