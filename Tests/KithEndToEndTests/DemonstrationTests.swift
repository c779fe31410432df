import Glibc
import KithTestSupport
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
            if Self.canRunAvahi { #expect(!(lines.first ?? "").hasPrefix("no Avahi here"), "\(lines.first ?? "")") }
            // Progress is for terminals; and nothing is left.
            #expect(result.errorText == "")
            #expect(TemporaryDirectory.names(in: lab.folder).filter { $0.hasPrefix("kith-demo") }.isEmpty)
        }
    }

    /// Where the bus can't be reached, the nodes are given each other's addresses, and all else is the same.
    @Test(
        .enabled(if: access("/usr/share/iso-codes/json/iso_639-3.json", R_OK) == 0, "the package iso-codes is missing"))
    func withoutAvahiTheDemonstrationSaysSoAndGoesOn() async throws {
        try await Lab.open(nodes: 3) { lab in
            // A folder whose name a bus's configuration can't hold, so that no bus can be started in it.
            let folder = lab.folder + "/a+b"
            try #require(mkdir(folder, 0o700) == 0)
            let demo = try ChildProgram(
                ["demo"], in: lab.folder,
                environment: ["TMPDIR=\(folder)", "DBUS_SYSTEM_BUS_ADDRESS=unix:path=\(folder)/none"])
            let result = try await demo.finish(within: 90)
            let lines = result.outputText.split(separator: "\n").map(String.init)
            #expect((lines.first ?? "").hasPrefix("no Avahi here"), "\(result.outputText)")
            #expect(lines.count { $0.hasPrefix("ok ") } == 22, "\(result.outputText)\(result.errorText)")
            #expect(result.status == 0)
        }
    }

    /// Whether this machine lets the demonstration start a bus and Avahi, or has them.
    private static var canRunAvahi: Bool {
        geteuid() == 0 && access("/usr/sbin/avahi-daemon", X_OK) == 0 && access("/usr/bin/dbus-daemon", X_OK) == 0
    }
}
