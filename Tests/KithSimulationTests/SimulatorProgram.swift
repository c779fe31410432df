import Foundation
import KithTestSupport

/// The `kith-sim` command that was built beside these tests.
enum SimulatorProgram {
    struct Result {
        let status: Int32
        /// Both outputs together.
        let text: String

        func lines(with prefix: String) -> [String] {
            text.split(separator: "\n").map(String.init).filter { $0.hasPrefix(prefix) }
        }
    }

    /// Where the package manager has put the test bundle and the commands beside it.
    static var path: String {
        let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }
        let folder = bundle?.bundleURL ?? URL(fileURLWithPath: CommandLine.arguments[0])
        return folder.deletingLastPathComponent().appendingPathComponent("kith-sim").path
    }

    /// Runs it to its end, on a thread of its own.
    static func run(_ arguments: [String]) async throws -> Result {
        try await onThread {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: path)
            process.arguments = arguments
            let output = Pipe()
            process.standardOutput = output
            process.standardError = output
            process.standardInput = FileHandle.nullDevice
            try process.run()
            let data = output.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            return Result(status: process.terminationStatus, text: String(decoding: data, as: UTF8.self))
        }
    }
}
