import Glibc
import KithNode
import KithTestSupport
import Testing

@testable import kith

/// What is installed beside the command, and the manual pages.
@Suite(.timeLimit(.minutes(3))) struct InstallTests {
    private static let service: String = {
        let file = #filePath
        let tests = file[..<file.lastIndex(of: "/")!]
        return tests[..<tests.lastIndex(of: "/")!] + "/../Sources/kith-cli/Service"
    }()

    private func install(_ arguments: [String], into folder: String, prefix: String = "/usr/local") async throws
        -> ProgramResult
    {
        try await Program.run(
            ["\(Self.service)/install"] + arguments,
            environment: [
                "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/nonexistent", "PREFIX=\(prefix)", "DESTDIR=\(folder)",
            ])
    }

    private func files(below folder: String) async throws -> [String] {
        let found = try await Program.run(["find", folder, "-type", "f", "-printf", "/%P %m\\n"])
        return found.text.split(separator: "\n").map(String.init).sorted()
    }

    @Test func theFilesGoToTheirPlacesAndAwayAgain() async throws {
        let folder = TemporaryDirectory()
        let installed = try await install([Command.path], into: folder.path)
        #expect(installed.status == 0, "\(installed.text)")
        #expect(
            try await files(below: folder.path) == [
                "/etc/firewalld/services/kith.xml 644", "/etc/kith/kith.conf 644", "/etc/ufw/applications.d/kith 644",
                "/usr/local/bin/kith 755", "/usr/local/lib/systemd/system/kith.service 644",
                "/usr/local/lib/systemd/user/kith.service 644", "/usr/local/lib/sysusers.d/kith.conf 644",
                "/usr/local/lib/tmpfiles.d/kith.conf 644", "/usr/local/share/bash-completion/completions/kith 644",
                "/usr/local/share/fish/vendor_completions.d/kith.fish 644", "/usr/local/share/man/man1/kith.1 644",
                "/usr/local/share/man/man5/kith.conf.5 644", "/usr/local/share/zsh/site-functions/_kith 644",
            ])
        let unit = try Golden.text(ofFile: folder.path + "/usr/local/lib/systemd/system/kith.service")
        #expect(unit.contains("\nExecStart=/usr/local/bin/kith start\n") && !unit.contains("@BINDIR@"))
        // What an administrator wrote stays, also when it is installed anew and removed.
        try Command.write("data = /srv/kith\n", to: folder.path + "/etc/kith/kith.conf")
        #expect(try await install([Command.path], into: folder.path).status == 0)
        #expect(try await install(["--remove"], into: folder.path).status == 0)
        #expect(try await files(below: folder.path) == ["/etc/kith/kith.conf 644"])
        #expect(try Golden.text(ofFile: folder.path + "/etc/kith/kith.conf") == "data = /srv/kith\n")
    }

    @Test func theConfigurationThatIsInstalledIsRight() async throws {
        let path = Self.service + "/kith.conf"
        let result = try await Command.run(["config", "--check", path], data: "/nothing")
        #expect(result.status == 0 && result.output == "\(path): ok\n" && result.errors == "")
        // So is what it has as comments.
        let text = try Golden.text(ofFile: path)
        let lines = text.split(separator: "\n").map { $0.hasPrefix("#") && !$0.hasPrefix("# ") ? $0.dropFirst() : $0 }
        let file = ConfigurationFile.parse(Array(lines.joined(separator: "\n").utf8), name: "kith.conf")
        #expect(file.problems == [])
        #expect(Set(file.entries.map(\.key)) == Set(ConfigurationKey.allCases), "a key is not shown in kith.conf")
    }

    /// The unit as it is installed.
    private func staged(_ name: String, in folder: TemporaryDirectory) throws -> String {
        let unit = try Golden.text(ofFile: "\(Self.service)/\(name)").replacing("@BINDIR@/kith", with: "/bin/true")
        // The manual pages are not installed here.
        let lines = unit.split(separator: "\n", omittingEmptySubsequences: false).filter {
            !$0.hasPrefix("Documentation=")
        }
        let path = folder.path + "/kith.service"
        try Command.write(lines.joined(separator: "\n"), to: path)
        return path
    }

    @Test(
        .enabled(if: Program.isThere("systemd-analyze"), "systemd-analyze is not installed"),
        arguments: ["kith.service", "kith-user.service"])
    func theUnitsHaveNoMistakes(unit: String) async throws {
        let folder = TemporaryDirectory()
        let path = try staged(unit, in: folder)
        let mode = unit == "kith.service" ? "--system" : "--user"
        let result = try await Program.run(
            ["systemd-analyze", mode, "--man=no", "verify", path],
            environment: ["PATH=/usr/bin:/bin", "XDG_RUNTIME_DIR=\(folder.path)", "HOME=\(folder.path)"])
        #expect(result.status == 0 && !result.text.contains("kith.service"), "\(result.text)")
        // Nothing else takes the node down with it.
        let text = try Golden.text(ofFile: path)
        for word in ["Requires=", "Requisite=", "BindsTo=", "PartOf="] { #expect(!text.contains(word)) }
    }

    @Test(.enabled(if: Program.isThere("systemd-analyze"), "systemd-analyze is not installed")) func theUnitIsHardened()
        async throws
    {
        let folder = TemporaryDirectory()
        let path = try staged("kith.service", in: folder)
        let result = try await Program.run(["systemd-analyze", "security", "--offline=true", "--no-pager", path])
        let line = try #require(result.text.split(separator: "\n").first { $0.contains("Overall exposure level") })
        let words = line.split(separator: " ")
        let place = try #require(words.firstIndex { $0.hasSuffix("kith.service:") }, "\(line)")
        let exposure = try #require(words.dropFirst(place + 1).first.flatMap { Double($0) }, "\(line)")
        // A service with all of the network and nothing else has 1.2 or so; one without any care 9.6.
        #expect(exposure <= 2.0, "\(result.text)")
    }

    @Test(.enabled(if: Program.isThere("groff"), "groff is not installed"))
    func theManualPagesAreWellFormedAndHaveEverything() async throws {
        let folder = TemporaryDirectory()
        for (name, words) in [
            ("kith", CommandTable.commands.map { "kith \($0.name)" } + HealthCode.allCases.map(\.rawValue)),
            ("kith.conf", ConfigurationKey.allCases.flatMap { ["\($0.name) = ", $0.variable] }),
        ] {
            let page = try await Command.run(["man", name], data: "/nothing")
            #expect(page.status == 0 && page.errors == "")
            let path = "\(folder.path)/\(name)"
            try Command.write(page.output, to: path)
            let warnings = try await Program.run(["groff", "-man", "-Tutf8", "-Kutf8", "-ww", "-z", path])
            #expect(warnings.status == 0 && warnings.text == "", "\(warnings.text)")
            let shown = try await Program.run([
                "groff", "-man", "-Tascii", "-Kutf8", "-rLL=200n", "-P-c", "-P-b", "-P-u", path,
            ])
            // Words may be parted by a line end, and hyphens are the same in all of them.
            let text = shown.text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            for word in words { #expect(text.contains(word), "\(name) does not have \(word)") }
        }
    }
}
