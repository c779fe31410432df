import KithTestSupport
import Testing

/// README's way from nothing to a replicated document, as it is typed on two machines.
@Suite(.serialized, .enabled(if: Lab.skipReason == nil, "there can be no LAN here"), .timeLimit(.minutes(20)))
struct WalkthroughTests {
    init() { LANReport.count() }

    @Test func whatReadmeSaysOfTwoMachinesWorksWordByWord() throws {
        let blocks = try Self.blocks(of: "## Two machines, step by step")
        try #require(blocks.count == 4, "README's section has changed its shape")
        let lab = try Lab(nodes: 2)
        let shells = try [1, 2].map { try Shell(on: $0, of: lab) }
        defer { for shell in shells { shell.end() } }
        var code = ""
        var last: [String] = []
        for (index, block) in blocks.enumerated() {
            for line in block {
                last = try shells[index % 2].type(line.replacing("CODE", with: code))
                if line.hasPrefix("kith invite") { code = last.last ?? "" }
            }
        }
        #expect(blocks.joined().contains { $0.contains("kith put notes hello '{\"text\":\"from den\"}'") })
        #expect(last == ["{\"text\":\"from den\"}"])
        for shell in shells { #expect(try shell.type("kith stop") == []) }
    }

    /// The blocks of shell commands in a section of README, without the lines that build or install.
    private static func blocks(of heading: String) throws -> [[String]] {
        let root = #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 }
        let readme = try #require(TestFile.text(of: root + "/README.md"), "there is no README")
        let lines = readme.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let section = try #require(lines.firstIndex(of: heading), "README has no such section")
        var blocks: [[String]] = []
        var isInBlock = false
        for line in lines[(section + 1)...].prefix(while: { !$0.hasPrefix("## ") }) {
            if line.hasPrefix("```") {
                isInBlock = line == "```sh"
                if isInBlock { blocks.append([]) }
            } else if isInBlock, !line.isEmpty {
                blocks[blocks.count - 1].append(line)
            }
        }
        return blocks
    }
}

/// A shell on one machine, with a home of its own and `kith` in its path.
private final class Shell {
    private let process: LineProcess

    init(on machine: Int, of lab: Lab) throws {
        let home = "\(lab.folder)/home\(machine)"
        let program = Program.built("kith").split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 }
        process = try LineProcess(
            try lab.inside(machine) + [
                "env", "-i", "HOME=\(home)", "PATH=\(program):/usr/sbin:/usr/bin:/sbin:/bin", "bash", "-c",
                "mkdir -p \(home); exec bash",
            ])
    }

    /// Types a line, and waits until the shell has done it. What runs in the background may print any time; its `ready`
    /// is left out.
    /// - Returns: what it printed.
    func type(_ line: String) throws -> [String] {
        let before = process.lines.count
        process.forget()
        process.send(line)
        process.send("echo \"= $?\"")
        let answer = try process.wait(seconds: 60, for: "end of \(line)") { $0.hasPrefix("= ") }
        let printed = process.lines[before...].dropLast().filter { !$0.hasPrefix("ready ") }
        guard answer == "= 0" else { throw Failure("\(line): \(answer) \(printed)") }
        // What was begun must be ready before the next line is typed, as it is for a person.
        if line.hasPrefix("kith start"), !process.lines[before...].contains(where: { $0.hasPrefix("ready ") }) {
            process.forget()
            _ = try process.wait(seconds: 30, for: "ready node") { $0.hasPrefix("ready ") }
        }
        return Array(printed)
    }

    /// Ends the shell and what it has begun.
    func end() {
        process.send("kill $(jobs -p) 2>/dev/null; wait")
        process.end(seconds: 20)
    }
}
