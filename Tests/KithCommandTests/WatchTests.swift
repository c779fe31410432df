import Glibc
import KithDocument
import KithHTTPCore
import KithNode
import KithTestSupport
import Testing

@testable import kith

/// `kith status --watch`, on a terminal and into a pipe.
@Suite(.timeLimit(.minutes(2))) struct WatchTests {
    /// A node that tells of statuses as the test says, until it is closed.
    private final class Teller: Sendable {
        let node: FakeNode
        private let lines: Shared<[String]>

        init(_ first: [String]) throws {
            let lines = Shared(first)
            self.lines = lines
            node = try FakeNode { _ in
                HTTPResponse(
                    status: 200,
                    body: .stream { writer in
                        while true {
                            let next = Shared<String?>(nil)
                            lines.change { queue in
                                let line = queue.isEmpty ? nil : queue.removeFirst()
                                next.change { $0 = line }
                            }
                            if next.value == "end" { return }
                            if let line = next.value { try await writer.write(Array((line + "\n").utf8)) }
                            try await Task.sleep(for: .milliseconds(10))
                        }
                    })
            }
        }

        func tell(_ line: String) { lines.change { $0.append(line) } }
    }

    private static func status(_ change: (inout ControlStatus) -> Void = { _ in }) throws -> String {
        try RenderingTests.status(change).description
    }

    @Test func aFrameIsWrittenOverTheOneBefore() async throws {
        let teller = try Teller([try Self.status()])
        defer { teller.node.close() }
        let terminal = try PseudoTerminal(
            ["status", "--watch"], data: teller.node.directory, columns: 81, rows: 40,
            environment: ["TERM=xterm", "NO_COLOR=1"])
        let began = await eventually { terminal.text.hasSuffix("\u{1B}[J") }
        #expect(began, "\(terminal.text)")
        let first = terminal.text
        #expect(first.hasPrefix("\u{1B}[?25l\u{1B}[2J\u{1B}[Hhealth     critical  2 problems\u{1B}[K\n"), "\(first)")
        // Nothing else than the first frame: the next comes with the second, of the ages.
        let expected = StatusRenderer(
            try JSONValue(parsing: try Self.status()), width: 80, colour: false
        ).lines()
        #expect(first.contains(expected.map { $0 + "\u{1B}[K" }.joined(separator: "\n") + "\u{1B}[J"), "\(first)")
        terminal.forget()
        teller.tell(try Self.status { $0.checks = [] })
        let redrawn = await eventually { terminal.text.contains("health     ok\u{1B}[K\n") }
        #expect(redrawn, "\(terminal.text)")
        // Neither the whole screen nor its other page: what is there is written over.
        #expect(!terminal.text.contains("\u{1B}[2J") && !terminal.text.contains("\u{1B}[?1049"))
        #expect(terminal.text.hasPrefix("\u{1B}[?25l\u{1B}[H"), "\(terminal.text.prefix(40))")
    }

    @Test(arguments: [(SIGINT, 130), (SIGTERM, 143), (SIGHUP, 129)] as [(Int32, Int32)])
    func theCursorComesBackHoweverItEnds(signal: Int32, status: Int32) async throws {
        let teller = try Teller([try Self.status()])
        defer { teller.node.close() }
        let terminal = try PseudoTerminal(["status", "--watch"], data: teller.node.directory, columns: 80, rows: 24)
        #expect(await eventually { terminal.text.contains("\u{1B}[J") })
        terminal.signal(signal)
        #expect(await terminal.end() == status)
        #expect(await eventually { terminal.text.hasSuffix("\u{1B}[?25h\n") }, "\(terminal.text.suffix(40))")
    }

    @Test func anotherSizeOfTheTerminalIsKeptToAtOnce() async throws {
        let teller = try Teller([try Self.status()])
        defer { teller.node.close() }
        let terminal = try PseudoTerminal(
            ["status", "--watch", "--color", "never"], data: teller.node.directory, columns: 200, rows: 60)
        #expect(await eventually { terminal.text.contains("\u{1B}[J") })
        #expect(terminal.text.contains("VERSION"))
        terminal.resize(columns: 61, rows: 10)
        let narrow = await eventually { terminal.text.contains("… and ") && terminal.text.hasSuffix("\u{1B}[J") }
        #expect(narrow, "\(terminal.text)")
        let last = terminal.text.split(separator: "\u{1B}[H").last ?? ""
        let lines = last.split(separator: "\n").map {
            $0.replacing("\u{1B}[K", with: "").replacing("\u{1B}[J", with: "")
        }
        #expect(lines.count <= 9 && lines.allSatisfy { Display.cells(String($0)) <= 60 }, "\(lines)")
    }

    @Test func whenTheNodeEndsTheWatchSaysSo() async throws {
        let teller = try Teller([try Self.status()])
        defer { teller.node.close() }
        let terminal = try PseudoTerminal(["status", "--watch"], data: teller.node.directory, columns: 80, rows: 24)
        #expect(await eventually { terminal.text.contains("\u{1B}[J") })
        teller.tell("end")
        #expect(await terminal.end() == 69)
        #expect(
            await eventually {
                terminal.text.hasSuffix("kith status: the node has ended; start it again with: kith start\n")
            }, "\(terminal.text.suffix(200))")
        #expect(terminal.text.contains("\u{1B}[?25h"))
    }

    @Test func onATerminalThatCantMoveItsCursorTextFollowsText() async throws {
        let teller = try Teller([try Self.status(), try Self.status { $0.checks = [] }, "end"])
        defer { teller.node.close() }
        let terminal = try PseudoTerminal(
            ["status", "--watch"], data: teller.node.directory, columns: 80, rows: 24, environment: ["TERM=dumb"])
        #expect(await terminal.end() == 69)
        #expect(await eventually { terminal.text.contains("health     ok\n") }, "\(terminal.text)")
        #expect(!terminal.text.contains("\u{1B}"))
    }

    /// A status with texts in which numbers move, and somebody who was refused.
    private static func trouble(heard: Int, free: Int) -> (inout ControlStatus) -> Void {
        { status in
            status.peers[0].reason = "it does not answer: nothing was heard for \(heard) s"
            status.checks[0].summary = "\(free) of 256 descriptors are free"
            var refused = ControlStatus.Refused()
            refused.reason = "not of this group"
            status.refusals = [refused]
        }
    }

    @Test func intoAPipeEachChangeIsALine() async throws {
        let (first, moved) = (
            try Self.status(Self.trouble(heard: 4, free: 31)),
            try Self.status { status in
                Self.trouble(heard: 12, free: 9)(&status)
                status.generatedAt += 5_000
                status.peers[1].lastExchangeAt? += 5_000
                status.peers[1].receivedBytes? += 100
                status.peers[1].roundTripMilliseconds = 12.5
                status.peers[1].clockOffsetMilliseconds = 7
                status.peers[1].clockErrorMilliseconds = 4
                status.storage.freeBytes = 123_456
                status.node.strangers += 3
                for index in status.databases.indices {
                    status.databases[index].bytes? += 4_096
                    status.databases[index].walBytes? += 4_096
                    status.databases[index].oldestReaderMilliseconds = 77
                }
                for index in status.refusals.indices {
                    status.refusals[index].count += 1
                    status.refusals[index].lastAt += 5_000
                }
            }
        )
        let other = try Self.status { status in
            Self.trouble(heard: 4, free: 31)(&status)
            status.peers[1].state = .catchingUp
        }
        let teller = try Teller([first, moved, other, other, "end"])
        defer { teller.node.close() }
        let result = try await Command.run(["status", "--watch"], data: teller.node.directory)
        #expect(result.output == "\(first)\n\(other)\n")
        #expect(result.status == 69 && result.errors.hasPrefix("kith status: the node has ended"))
    }

    @Test func onePeerIsFollowedAlone() async throws {
        let first = try Self.status()
        let other = try Self.status { $0.checks = [] }
        let third = try Self.status { $0.peers[1].state = .catchingUp }
        let teller = try Teller([first, other, third, "end"])
        defer { teller.node.close() }
        let result = try await Command.run(["status", "den", "--watch"], data: teller.node.directory)
        let lines = result.output.split(separator: "\n").map(String.init)
        #expect(lines.count == 2 && lines.allSatisfy { $0.contains("\"name\":\"den\"") }, "\(result.output)")
        let unknown = try Teller([first])
        defer { unknown.node.close() }
        #expect(try await Command.run(["status", "nobody", "--watch"], data: unknown.node.directory).status == 2)
    }

    @Test func whatHasNoRoomIsCounted() {
        let lines = (1...30).map { "line \($0)" }
        let frame = WatchScreen.frame(lines, rows: 11)
        #expect(frame.split(separator: "\n").count == 10)
        #expect(frame.hasSuffix("… and 21 more lines\u{1B}[K\u{1B}[J"), "\(frame)")
        #expect(WatchScreen.frame(lines, rows: 31).contains("line 30"))
        #expect(!WatchScreen.frame(lines, rows: 31).contains("more"))
    }

    // MARK: Colour

    struct Case: Sendable {
        let arguments: [String]
        let environment: [String]
        let isColoured: Bool
    }

    @Test(arguments: [
        Case(arguments: [], environment: ["TERM=xterm"], isColoured: true),
        Case(arguments: [], environment: ["TERM=xterm", "NO_COLOR=1"], isColoured: false),
        Case(arguments: [], environment: ["TERM=xterm", "NO_COLOR="], isColoured: true),
        Case(arguments: [], environment: ["TERM=dumb"], isColoured: false),
        Case(arguments: ["--color", "never"], environment: ["TERM=xterm"], isColoured: false),
        Case(arguments: ["--color=always"], environment: ["TERM=dumb", "NO_COLOR=1"], isColoured: true),
    ]) func colourIsThereWhereItIsWanted(case one: Case) async throws {
        let status = try Self.status()
        let node = try FakeNode { _ in .json(status) }
        defer { node.close() }
        let terminal = try PseudoTerminal(
            ["status"] + one.arguments, data: node.directory, columns: 80, rows: 24, environment: one.environment)
        #expect(await terminal.end() == 0)
        #expect(await eventually { terminal.text.contains("peers connected\n") })
        #expect(terminal.text.contains("\u{1B}[3") == one.isColoured)
        let piped = try await Command.run(
            ["status"] + one.arguments, data: node.directory, environment: one.environment)
        #expect(piped.output.contains("\u{1B}") == one.arguments.contains("--color=always"))
    }
}
