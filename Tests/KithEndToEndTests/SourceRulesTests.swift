import Foundation
import Testing

/// Rules that hold for the sources themselves.
@Suite struct SourceRulesTests {
    /// What the sans-I/O targets take as arguments and must never ask for.
    private let ambient = [
        "Date()", "UUID()", ".random(in", "Bool.random(", ".randomElement(", ".shuffled()", "Task.sleep",
        "DispatchQueue", "hashValue",
        "ContinuousClock", "SuspendingClock", "ProcessInfo", "getenv", "clock_gettime", "import Foundation",
        "SystemRandomNumberGenerator", "ObjectIdentifier", "@unchecked Sendable",
    ]

    /// Where the values of Foundation that applications have (`Date`, `Data`, `URL`) become JSON; what is ambient in it stays forbidden.
    private let takesFoundationsValues = ["Sources/KithCoding", "Sources/KithQueryBuilder"]

    private var root: URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../..")
    }

    private func sources(below folder: String) throws -> [(name: String, text: String)] {
        let base = root.appendingPathComponent(folder).standardizedFileURL
        let files = FileManager.default.enumerator(at: base, includingPropertiesForKeys: nil)
        let all = files?.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" } ?? []
        try #require(!all.isEmpty, "no sources below \(base.path)")
        return try all.map { ($0.lastPathComponent, try String(contentsOf: $0, encoding: .utf8)) }
    }

    @Test(arguments: [
        "Sources/KithDocument", "Sources/KithMerge", "Sources/KithQuery", "Sources/KithStore",
        "Sources/KithReplication",
        "Sources/KithNode/Mesh", "Sources/KithNode/Presence", "Sources/KithCoding", "Sources/KithQueryBuilder",
    ]) func theCoreAsksForNoAmbientTimeOrRandomness(folder: String) throws {
        for (name, text) in try sources(below: folder) {
            for line in text.split(separator: "\n") where !line.trimmingCharacters(in: .whitespaces).hasPrefix("//") {
                for word in ambient where Self.uses(word, in: String(line)) {
                    if word == "import Foundation", takesFoundationsValues.contains(folder) { continue }
                    Issue.record("\(folder)/\(name) uses \(word): \(line)")
                }
            }
        }
    }

    /// Whether a line has a word that is not the end of a longer one: `bringUpToDate()` asks for no date.
    private static func uses(_ word: String, in line: String) -> Bool {
        guard word.first?.isLetter == true else { return line.contains(word) }
        let pattern = "(?<![A-Za-z])" + NSRegularExpression.escapedPattern(for: word)
        return line.range(of: pattern, options: .regularExpression) != nil
    }

    /// A simulation puts a node's whole directory on a disk of its own.
    @Test func aNodesFilesGoThroughTheFileSystem() throws {
        // What is not in a node's directory: configuration, the socket's folder, descriptors, the kernel's files.
        let others = [
            "ConfigurationReader.swift", "NodeDirectory.swift", "LogFormat.swift", "DescriptorLimit.swift",
            "Doctor.swift", "NeighbourReading.swift",
        ]
        let calls =
            "(?<![A-Za-z.])(unlink|opendir|mkdir|chmod|fsync|flock|ftruncate|statvfs|fopen|stat|lstat|fstat|access|rename)\\("
            + "|O_(CREAT|RDONLY|RDWR|WRONLY)"
        for folder in ["Sources/KithTransport", "Sources/KithNode"] {
            for (name, text) in try sources(below: folder) where !others.contains(name) {
                for line in text.split(separator: "\n") {
                    let isCall = line.range(of: calls, options: .regularExpression) != nil
                    #expect(!isCall, "\(folder)/\(name) calls the system: \(line)")
                }
            }
        }
    }

    /// As Swift imports it, `d_name` has 256 bytes, which are not all there: a program that copied them read beyond the end.
    @Test func directoriesAreListedInOnePlace() throws {
        for folder in ["Sources", "Simulations", "Tests"] {
            for (name, text) in try sources(below: folder)
            where !["LocalFileSystem.swift", "DirectoryTests.swift"].contains(name) {
                #expect(!text.contains(".d_" + "name"), "\(name) reads the names in a directory by itself")
            }
        }
    }

    /// By `Program`, `ChildProgram` and `LineProcess`: Foundation's own watches children with threads and sockets of its own.
    @Test func testsStartNoProgramByFoundation() throws {
        for (name, text) in try sources(below: "Tests") {
            #expect(!text.contains(" = Process" + "()"), "\(name) starts a program by Foundation")
        }
    }

    @Test func everyUncheckedSendableSaysWhatProtectsIt() throws {
        for (name, text) in try sources(below: "Sources") {
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            for (index, line) in lines.enumerated() where line.contains("@unchecked Sendable") {
                let near = lines[max(0, index - 12)...min(lines.count - 1, index + 4)]
                let isCommented = near.contains { $0.trimmingCharacters(in: .whitespaces).hasPrefix("//") }
                #expect(isCommented, "\(name):\(index + 1) has no sentence on what protects it")
            }
        }
    }

    @Test func cLibrariesAreImportedOnlyByTheirWrapper() throws {
        let wrappers = [
            "CSQLite": ["KithStore", "kith-bench"], "CDNSSD": ["KithDiscovery"],
            "COpenSSL": ["KithCrypto", "KithTransport"],
            "CMicroHTTPD": ["KithHTTPCore"], "CCurl": ["KithHTTPCore"],
            "CLibrary": ["KithSystem", "kith-bench", "kith-cli"],
        ]
        let base = root.appendingPathComponent("Sources").standardizedFileURL
        for target in try FileManager.default.contentsOfDirectory(atPath: base.path) where target != "System" {
            for (name, text) in try sources(below: "Sources/\(target)") {
                for (library, owners) in wrappers where !owners.contains(target) {
                    #expect(!text.contains("import \(library)"), "\(target)/\(name) imports \(library)")
                }
            }
        }
    }
}
