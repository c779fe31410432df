import Foundation
import KithTestSupport
import Testing

/// Two of the program, each on a terminal of its own, against each other.
@Suite(.timeLimit(.minutes(5))) struct TwoMachinesTests {
    private let directory = TemporaryDirectory()

    /// The program on a terminal.
    private struct Machine {
        let terminal: PseudoTerminal

        init(_ arguments: [String], in folder: String) throws {
            terminal = try PseudoTerminal(
                program: Program.built("example-notes"),
                ["--data", folder, "--no-discovery", "--listen", "127.0.0.1:0"] + arguments, columns: 160, rows: 30,
                environment: ["TERM=xterm", "PATH=/usr/bin:/bin", "HOME=/nonexistent"])
        }

        /// What is on the screen: the last frame that is whole, without its colours.
        var screen: String {
            let frames = terminal.text.components(separatedBy: "\u{1B}[H").dropFirst()
            let whole = frames.last { $0.contains("\u{1B}[J") } ?? ""
            return whole.replacing(/\u{1B}\[[0-9;?]*[a-zA-Z]/, with: "")
        }

        /// What stands right of the list: the note.
        var page: [String] {
            screen.split(separator: "\n", omittingEmptySubsequences: false).compactMap { line in
                line.firstIndex(of: "│").map { line[$0...].dropFirst().trimmingCharacters(in: .whitespaces) }
            }
        }

        /// Types, and waits until the screen shows what follows from it.
        func type(
            _ keys: String, shows text: String, within seconds: Double = 30,
            sourceLocation: SourceLocation = #_sourceLocation
        ) async throws {
            terminal.type(keys)
            try await shows(text, within: seconds, sourceLocation: sourceLocation)
        }

        func shows(
            _ text: String, within seconds: Double = 30, sourceLocation: SourceLocation = #_sourceLocation
        ) async throws {
            let isThere = await eventually(within: seconds) { screen.contains(text) }
            try #require(isThere, "\(text) is not on the screen:\n\(screen)", sourceLocation: sourceLocation)
        }
    }

    private func two() async throws -> (den: Machine, attic: Machine) {
        let den = try Machine(["--group", "home", "--name", "den"], in: directory.path + "/den")
        try await den.shows("nobody there")
        try await den.type("i", shows: "listens at")
        let told = den.screen.replacing("\n", with: "")
        let invitation = try #require(
            told.firstMatch(of: /--join\s(\S+)\s.*listens at (127\.0\.0\.1:[0-9]+)/), "\(told)")
        let (code, address) = (String(invitation.1), String(invitation.2))
        let attic = try Machine(
            ["--join", code, "--name", "attic", "--peer", address], in: directory.path + "/attic")
        for machine in [den, attic] { try await machine.shows("in sync with 1") }
        return (den, attic)
    }

    @Test func `what is typed on one is on the other's screen, and edits made apart meet`() async throws {
        let (den, attic) = try await two()
        den.terminal.type("nShopping 今天\r")
        try await attic.shows("Shopping 今天", within: 2)
        try await den.type("emilk\u{1B}", shows: "│milk")
        try await attic.shows("milk", within: 2)

        // Apart, both edit the text; one changes the title, the other adds a tag.
        try await den.type("o", shows: "o online")
        try await den.type("e, eggs\u{1B}", shows: "milk, eggs")
        try await den.type("r!\r", shows: "Shopping 今天!")
        try await attic.type("e, 鸡蛋\u{1B}", shows: "milk, 鸡蛋")
        try await attic.type("tshop\r", shows: "#shop")
        #expect(!attic.screen.contains("milk, eggs") && !den.screen.contains("鸡蛋") && !attic.screen.contains("天!"))

        try await den.type("o", shows: "in sync with 1")
        for machine in [den, attic] {
            for text in ["Shopping 今天!", "#shop", "edited apart", "milk, eggs", "milk, 鸡蛋"] {
                try await machine.shows(text)
            }
        }
        #expect(await eventually { den.page == attic.page })

        try await attic.type("1", shows: "in sync with 1")
        for machine in [den, attic] { #expect(await eventually { !machine.screen.contains("edited apart") }) }
        #expect(await eventually { den.page == attic.page })
        #expect(den.page.filter { $0.hasPrefix("milk, ") }.count == 1, "\(den.page)")

        // A search on one finds what was written on the other.
        try await den.type("n牛奶\r", shows: "牛奶")
        try await attic.type("/牛", shows: "/牛")
        #expect(await eventually { attic.page.first == "牛奶" && !attic.screen.contains("Shopping") }, "\(attic.screen)")

        for machine in [den, attic] { machine.terminal.type("\u{1B}") }
        for machine in [den, attic] {
            machine.terminal.type("q")
            #expect(await machine.terminal.end() == 0)
        }
    }

    @Test func `notes from before a machine came into a group come along`() async throws {
        let alone = try Machine([], in: directory.path + "/attic")
        try await alone.shows("this machine alone")
        try await alone.type("i", shows: "these notes are in no group")
        try await alone.type("nBefore\r", shows: "Before")
        alone.terminal.type("q")
        #expect(await alone.terminal.end() == 0)
        let (den, attic) = try await two()
        for machine in [den, attic] { try await machine.shows("Before") }
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP, SIGABRT])
    func `the terminal is put back however the program ends, and what was typed is saved`(signal: Int32) async throws {
        let folder = directory.path + "/den"
        var den = try Machine([], in: folder)
        try await den.shows("this machine alone")
        #expect(!den.terminal.echoes)
        try await den.type("nMilk\r", shows: "Milk")
        try await den.type("e", shows: "escape saves")
        try await den.type("two litres", shows: "two litres")
        den.terminal.signal(signal)
        #expect(await den.terminal.end() == (signal == SIGABRT ? 128 + SIGABRT : 0))
        #expect(den.terminal.echoes)
        #expect(await eventually { den.terminal.text.hasSuffix("\u{1B}[?25h\u{1B}[?1049l") })
        den = try Machine([], in: folder)
        try await den.shows(signal == SIGABRT ? "Milk" : "two litres")
    }

    @Test func `a size that changes is kept to at once`() async throws {
        let den = try Machine([], in: directory.path + "/den")
        try await den.shows("q quit")
        den.terminal.resize(columns: 40, rows: 10)
        #expect(await eventually { den.screen.split(separator: "\n").allSatisfy { $0.count <= 40 } })
    }

    @Test(
        arguments: [
            ([], 64), (["--data"], 64), (["--data", "x", "--colour", "red"], 64), (["--data", "/proc/x"], 1),
        ] as [([String], Int32)])
    func `a command line that is wrong says so`(arguments: [String], status: Int32) async throws {
        let result = try await Program.run([Program.built("example-notes")] + arguments)
        #expect(result.status == status && result.errors.hasPrefix("example-notes: "), "\(result)")
        #expect(result.errors.contains("usage:") == (status == 64))
    }
}
