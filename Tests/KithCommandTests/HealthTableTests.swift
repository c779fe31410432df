import Glibc
import KithNode
import KithTestSupport
import Testing

@testable import kith

/// The table of health checks: each can be read about, and each is reached by a test.
@Suite struct HealthTableTests {
    private static let tests = String(#filePath[..<#filePath.lastIndex(of: "/")!]) + "/.."

    @Test func everyPageSaysWhatItIsWhatToDoAndWhenItEnds() {
        for code in HealthCode.allCases {
            let page = code.page
            #expect(!page.meaning.isEmpty && !page.actions.isEmpty, "\(code.rawValue)")
            #expect(page.ends.hasSuffix("."), "\(code.rawValue) does not say when it goes away")
            for sentence in page.meaning + page.shows + page.actions + [page.ends] {
                #expect(!sentence.isEmpty && !sentence.contains("\n"), "\(code.rawValue)")
                #expect(sentence.count { $0 == "`" }.isMultiple(of: 2), "\(code.rawValue): \(sentence)")
            }
        }
    }

    @Test func aPageIsFoundByTheCodeInEveryWriting() {
        for code in HealthCode.allCases {
            for name in [code.rawValue, code.topic, code.rawValue.lowercased(), code.topic.uppercased()] {
                // A command may have the same name; its page comes first then.
                let title = "\(code.topic): health check \(code.rawValue)"
                #expect(HelpText.page(name)?.contains(title) == true, "\(name)")
                #expect(HealthCode(named: name) == code)
            }
        }
        #expect(HealthCode(named: "nothing") == nil)
    }

    @Test func theCommandsThatPagesNameAreThere() {
        let known = Set(CommandTable.commands.map(\.name))
        for code in HealthCode.allCases {
            for command in Self.commands(of: code.page) where command.hasPrefix("kith ") {
                let words = command.split(separator: " ").dropFirst().map(String.init)
                // `kith --version` is no command of the table.
                if words.first?.hasPrefix("-") == true { continue }
                if words.first == "help" {
                    #expect(words.count == 1 || HelpText.page(words[1]) != nil, "\(code.rawValue): \(command)")
                } else {
                    let isKnown = known.contains(words[0]) || known.contains(words.prefix(2).joined(separator: " "))
                    #expect(isKnown, "\(code.rawValue): \(command)")
                }
            }
        }
    }

    private static func commands(of page: HealthPage) -> [String] {
        (page.meaning + page.shows + page.actions + [page.ends]).flatMap { text in
            text.split(separator: "`", omittingEmptySubsequences: false).enumerated()
                .filter { !$0.offset.isMultiple(of: 2) }.map { String($0.element) }
        }
    }

    @Test func theTroubleshootingPageIsMadeOfTheTable() throws {
        try Golden.expect(TroubleshootingPage.lines(), atPath: Self.tests + "/../docs/troubleshooting.md")
    }

    /// A test reaches a check when it asks a running node for it by its code: end to end, or on the LAN.
    @Test func everyCheckIsReachedByATestThroughARunningNode() throws {
        var missing = Set(HealthCode.allCases.map(\.rawValue))
        for folder in ["KithEndToEndTests", "KithLANTests"] {
            for file in try Self.swiftFiles(below: "\(Self.tests)/\(folder)") {
                let text = try Golden.text(ofFile: file)
                for code in missing where text.contains("\"\(code)\"") { missing.remove(code) }
            }
        }
        #expect(missing.isEmpty, "no test reaches \(missing.sorted())")
    }

    private static func swiftFiles(below folder: String) throws -> [String] {
        var files: [String] = []
        for name in TemporaryDirectory.names(in: folder) {
            let path = "\(folder)/\(name)"
            var status = stat()
            guard stat(path, &status) == 0 else { continue }
            if status.st_mode & S_IFMT == S_IFDIR { files += try swiftFiles(below: path) }
            if name.hasSuffix(".swift") { files.append(path) }
        }
        return files
    }
}
