import Foundation
import KithTestSupport
import Testing

/// What must not compile does not, for the reason that stands above it in the files of `Mistakes`.
@Suite struct MistakeTests {
    private static let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()

    /// The compiler of the toolchain that is in the path.
    private static var compiler: String? {
        let folders = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":") ?? []
        return folders.map { "\($0)/swiftc" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    private struct Place: Hashable {
        let file: String
        let line: Int
    }

    /// The errors of the compiler by their line, for all the files at once.
    private static func errors(in files: [URL]) async throws -> [Place: [String]] {
        let moduleMap = tests.appendingPathComponent("../../Sources/System/COpenSSL/module.modulemap")
        let run = try await Program.run(
            [
                try #require(compiler),
                "-typecheck", "-whole-module-optimization", "-swift-version", "6", "-module-name", "Mistakes",
                "-I", Program.built("Modules"),
                "-Xcc", "-fmodule-map-file=\(moduleMap.standardizedFileURL.path)",
            ] + files.map(\.path))
        var errors: [Place: [String]] = [:]
        for line in run.text.split(separator: "\n") {
            // path:line:column: error: message
            let parts = line.split(separator: ":", maxSplits: 4)
            guard parts.count == 5, parts[3] == " error", let number = Int(parts[1]) else { continue }
            let file = URL(fileURLWithPath: String(parts[0])).lastPathComponent
            errors[Place(file: file, line: number), default: []].append(String(parts[4]))
        }
        return errors
    }

    @Test(.enabled(if: compiler != nil, "there is no swiftc in the path"), .timeLimit(.minutes(10)))
    func `Mistakes do not compile, and the compiler says why`() async throws {
        let folder = Self.tests.appendingPathComponent("Mistakes")
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "swift" }
        let models = Self.tests.appendingPathComponent("Models.swift")
        let errors = try await Self.errors(in: files + [models])
        var expected: Set<Place> = []
        for file in files {
            let lines = try String(contentsOf: file, encoding: .utf8).split(
                separator: "\n", omittingEmptySubsequences: false)
            for (index, line) in lines.enumerated() {
                guard let mark = line.range(of: "// error: ") else { continue }
                // Counted from 1, and the mistake stands below.
                let place = Place(file: file.lastPathComponent, line: index + 2)
                expected.insert(place)
                let found = errors[place] ?? []
                for text in line[mark.upperBound...].components(separatedBy: " | ") {
                    #expect(found.contains { $0.contains(text) }, "\(place.file):\(place.line): \(text): \(found)")
                }
            }
        }
        #expect(expected.count >= 18)
        for (place, messages) in errors where !expected.contains(place) {
            Issue.record("\(place.file):\(place.line) is no known mistake: \(messages)")
        }
    }
}
