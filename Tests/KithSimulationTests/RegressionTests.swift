import Foundation
import KithTestSupport
import Testing

/// Plans that once showed a fault of the product: each must hold for ever, and go the same way twice. `.ci/regressions` shows
/// that each sees its fault.
@Suite struct RegressionTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../Regressions").standardizedFileURL

    static let names: [String] = {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return all.filter { $0.hasSuffix(".plan") }.sorted()
    }()

    @Test func thereAreSuchPlans() { #expect(!Self.names.isEmpty) }

    @Test(arguments: names) func whatWasMendedHolds(name: String) async throws {
        let plan = Self.folder.appendingPathComponent(name).path
        let run = try await SimulatorProgram.run(["--plan", plan, "--double", "--quiet", "--no-shrink"])
        #expect(run.status == 0, "\(name): \(run.text.suffix(4_000))")
    }
}
