import Foundation
import Testing

/// One seed in two processes, whose dictionaries and sets have other orders: what leaks such an order shows as another
/// trace.
@Suite struct DeterminismTests {
    @Test(arguments: [3, 8, 17]) func aSeedLeavesTheSameTraceInEveryProcess(seed: Int) throws {
        let first = try trace(seed)
        #expect(first.contains(" trace "), "\(first)")
        #expect(try trace(seed) == first)
    }

    @Test func anUnknownOptionIsWrongUsage() throws {
        #expect(try run(["--fly"]).status == 64)
        #expect(try run(["--seed"]).status == 64)
        #expect(try run(["--help"]).status == 0)
    }

    private func trace(_ seed: Int) throws -> String {
        let (status, output) = try run(["--seed", String(seed), "--short"])
        #expect(status == 0, "\(output)")
        return output
    }

    private func run(_ arguments: [String]) throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = Self.products.appendingPathComponent("kith-sim")
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = Pipe()
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: data, as: UTF8.self))
    }

    /// Where the package manager has put the test bundle and the commands beside it.
    private static var products: URL {
        let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }
        if let bundle { return bundle.bundleURL.deletingLastPathComponent() }
        return URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    }
}
