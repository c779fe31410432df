import Glibc
import Testing

/// The first command that the README tells people to try.
@Suite(.timeLimit(.minutes(10))) struct DemonstrationTests {
    @Test(
        .enabled(if: access("/usr/share/iso-codes/json/iso_639-3.json", R_OK) == 0, "the package iso-codes is missing"))
    func everyCheckOfTheDemonstrationIsOk() async throws {
        try await Lab.open(nodes: 3) { lab in
            let demo = try ChildProgram(
                ["demo"], in: lab.folder, environment: ["TMPDIR=\(lab.folder)"])
            let result = try await demo.finish(within: 90)
            let lines = result.outputText.split(separator: "\n").map(String.init)
            #expect(result.status == 0, "\(result.outputText)\(result.errorText)")
            // Six checks of each node, and two of each against the first.
            #expect(lines.count { $0.hasPrefix("ok ") } == 22, "\(result.outputText)")
            #expect(!lines.contains { $0.hasPrefix("FAILED") })
            #expect(lines.last == "all ok")
            // Progress is for terminals; and nothing is left.
            #expect(result.errorText == "")
            #expect(Self.entries(of: lab.folder).filter { $0.hasPrefix("kith-demo") }.isEmpty)
        }
    }

    private static func entries(of path: String) -> [String] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            names.append(
                withUnsafePointer(to: &entry.pointee.d_name) {
                    $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                })
        }
        return names
    }
}
