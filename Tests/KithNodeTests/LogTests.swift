import Glibc
import KithDocument
import KithTestSupport
import Synchronization
import Testing

@testable import KithNode

/// The log on a clock of the test's own.
@Suite struct LogTests {
    /// A log, what it wrote, and the clock it reads.
    private final class Desk: Sendable {
        private struct State {
            var monotonic: UInt64 = 1_000
            var lines: [String] = []
            var bytes = 0
        }

        private let state: KithTestSupport.Shared<State>
        let log: Log

        init(_ level: Log.Level = .info, _ format: LogFormat = .text) {
            let state = KithTestSupport.Shared(State())
            self.state = state
            log = Log(
                level: level, format: format,
                clock: { (1_796_049_296_000 + Int64(state.value.monotonic), state.value.monotonic) },
                sink: { bytes in
                    state.change { state in
                        state.lines.append(String(decoding: bytes.dropLast(), as: UTF8.self))
                        state.bytes += bytes.count
                    }
                    return true
                })
        }

        var lines: [String] { state.value.lines }
        var bytes: Int { state.value.bytes }
        func wait(milliseconds: UInt64) { state.change { $0.monotonic += milliseconds } }
        func forget() { state.change { $0.lines = [] } }
    }

    // MARK: Lines

    @Test func aLineIsASentenceAndWhatItIsAbout() {
        let desk = Desk()
        desk.log(.info, .mesh, "connected", ["peer": "9a411111", "reason": "a \"b\"=\\c", "empty": ""])
        #expect(
            desk.lines == [
                #"2026-11-30T14:34:57.000Z info mesh: connected peer=9a411111 reason="a \"b\"=\\c" empty="""#
            ], "\(desk.lines)")
    }

    @Test func theJournalGetsThePriorityAndNoTime() {
        let desk = Desk(.trace, .journal)
        for level in Log.Level.allCases { desk.log(level, .node, "it is \(level.rawValue)") }
        #expect(
            desk.lines == [
                "<3>node: it is error", "<4>node: it is warning", "<6>node: it is info", "<7>node: it is debug",
                "<7>node: it is trace",
            ])
    }

    @Test func asJSONALineIsAnObject() throws {
        let desk = Desk(.info, .json)
        desk.log(.warning, .store, "refused a document", ["database": "a\"\n\u{1b}", "reason": "日本"])
        let value = try JSONValue(parsing: Array(desk.lines[0].utf8))
        #expect(value["time"]?.string == "2026-11-30T14:34:57.000Z" && value["level"]?.string == "warning")
        #expect(value["area"]?.string == "store" && value["message"]?.string == "refused a document")
        #expect(value["database"]?.string == "a\"  " && value["reason"]?.string == "日本")
    }

    @Test(arguments: [LogFormat.text, .journal, .json]) func whatOthersSayCantEndALineOrSteerATerminal(
        format: LogFormat
    ) {
        let desk = Desk(.info, format)
        let text = "a\r\nb\u{1b}[2Jc\u{7f}\u{9b}d\u{0}" + String(repeating: "x", count: 100_000)
        desk.log(.info, .link, text, ["reason": text])
        #expect(desk.lines.count == 1 && desk.lines[0].utf8.count < 4_000)
        for scalar in desk.lines[0].unicodeScalars {
            #expect(scalar.value >= 32 && !(0x7f...0x9f).contains(scalar.value))
        }
    }

    @Test func theJournalIsKnownByItsDeviceAndInode() throws {
        let directory = TemporaryDirectory()
        let file = open(directory.path + "/log", O_CREAT | O_RDWR, 0o600)
        defer { close(file) }
        var status = stat()
        fstat(file, &status)
        let (device, inode) = (status.st_dev, status.st_ino)
        func format(_ stream: String?) -> LogFormat {
            LogFormat.ofStandardError(environment: { $0 == "JOURNAL_STREAM" ? stream : nil }, descriptor: file)
        }
        #expect(format("\(device):\(inode)") == .journal)
        // A variable that was inherited from a parent under the journal proves nothing.
        for other in [nil, "", "\(device)", "\(device):\(inode + 1)", "\(device + 1):\(inode)", "x:y", "1:2:3"] {
            #expect(format(other) == .text, "\(other ?? "-")")
        }
    }

    @Test func areasHaveLevelsOfTheirOwn() {
        let desk = Desk()
        #expect(desk.log.configure("mesh=debug") && desk.log.configure("warning"))
        #expect(!desk.log.configure("mess=debug") && !desk.log.configure("mesh=loud") && !desk.log.configure(""))
        desk.log(.debug, .mesh, "a")
        desk.log(.info, .node, "b")
        desk.log(.warning, .node, "c")
        #expect(desk.lines.map { $0.suffix(1) } == ["a", "c"])
        #expect(desk.log.writes(.debug, .mesh) && !desk.log.writes(.info, .link))
    }

    @Test func aReaderThatHasStoppedReadingHoldsNobodyUp() throws {
        var pipe: [Int32] = [0, 0]
        try #require(Glibc.pipe(&pipe) == 0)
        defer { for end in pipe { close(end) } }
        let output = pipe[1]
        let log = Log(level: .debug, format: .text, sink: { Log.write($0, to: output) })
        for number in 0..<5_000 { log(.debug, .node, "line \(number)", ["x": String(repeating: "n", count: 400)]) }
        // What was there is whole lines, and what comes once there is room begins with how many were left out.
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let first = read(pipe[0], &bytes, bytes.count)
        #expect(first > 10_000 && bytes[first - 1] == UInt8(ascii: "\n"))
        log(.debug, .node, "later")
        let second = read(pipe[0], &bytes, bytes.count)
        let text = String(decoding: bytes[..<max(0, second)], as: UTF8.self)
        #expect(text.contains("lines were left out") && text.hasSuffix("later\n"), "\(text)")
    }

    // MARK: Folding

    @Test func repeatsAreCountedAndToldAfterAWhile() {
        let desk = Desk()
        for number in 1...10 {
            desk.log(.info, .mesh, "a link ended", ["peer": "aa", "reason": "reason \(number)"])
            desk.wait(milliseconds: 1_000)
        }
        #expect(desk.lines.count == 3)
        desk.log(.info, .mesh, "a link ended", ["peer": "bb"])
        #expect(desk.lines.count == 4, "another peer's event is another")
        desk.wait(milliseconds: 60_000)
        desk.log.flush()
        #expect(desk.lines.count == 5)
        let last = desk.lines.last ?? ""
        #expect(last.contains("peer=aa") && last.contains("\"reason 10\"") && last.contains("repeated=7"), "\(last)")
    }

    @Test func whatWasQuietForAWhileIsToldAtOnce() {
        let desk = Desk()
        for _ in 1...5 { desk.log(.info, .mesh, "x", ["peer": "aa"]) }
        desk.wait(milliseconds: 61_000)
        desk.log.flush()
        desk.wait(milliseconds: 121_000)
        desk.log.flush()
        desk.forget()
        desk.log(.info, .mesh, "x", ["peer": "aa"])
        #expect(desk.lines.count == 1 && !desk.lines[0].contains("repeated"))
    }

    @Test func attemptsAreTheSameOnlyWhenAllOfThemIsEqual() {
        let desk = Desk(.debug)
        for number in 1...5 { desk.log(.debug, .mesh, "a dial failed", ["peer": "aa", "reason": "\(number)"]) }
        #expect(desk.lines.count == 5)
    }

    @Test func nothingThatWasCountedIsLostAtTheEnd() {
        let desk = Desk()
        for _ in 1...9 { desk.log(.info, .mesh, "x") }
        desk.log.flush(all: true)
        #expect(desk.lines.last?.contains("repeated=6") == true)
        desk.log.flush(all: true)
        #expect(desk.lines.count == 4)
    }

    @Test func whatIsAskedForIsNeverFolded() {
        let desk = Desk()
        for _ in 1...20 { desk.log(.info, .node, "status", isFolded: false) }
        #expect(desk.lines.count == 20)
    }

    @Test func memoryIsBoundedHoweverManyKindsThereAre() {
        var fold = LogFold()
        for number in 0..<(LogLimits.foldedKinds * 4) {
            let event = LogEvent(level: .info, area: .mesh, sentence: "x", fields: [("peer", "\(number)")])
            for _ in 0..<4 { _ = fold.take(event, now: 1_000, isFolded: true) }
        }
        #expect(fold.kinds == LogLimits.foldedKinds)
    }

    // MARK: The rate

    /// All that can go wrong goes wrong, each second for an hour, with twenty peers.
    @Test func anHourOfAllFaultsStaysUnderAMegabyte() {
        let desk = Desk()
        var random = SeededGenerator(seed: 11)
        let sentences: [(Log.Level, Log.Area, String)] = [
            (.info, .mesh, "connected"), (.info, .mesh, "a link ended"), (.info, .link, "a peer has told of itself"),
            (.warning, .store, "refused a document"), (.error, .store, "can't set a policy"),
            (.info, .discovery, "discovery is searching"), (.info, .discovery, "discovery is unavailable"),
            (.error, .node, "a health check began"), (.info, .node, "a health check is over"),
            (.debug, .mesh, "a dial failed"), (.warning, .node, "refused a join"),
        ]
        for second in 0..<3_600 {
            for (level, area, sentence) in sentences {
                for _ in 0..<3 {
                    desk.log(
                        level, area, sentence,
                        [
                            "peer": "peer\(random.below(20))",
                            "reason": String(repeating: "r", count: 200),
                        ])
                }
            }
            // Lines of which no two are alike can't be folded.
            desk.log(.warning, .control, "a sentence that is never the same: \(second) \(random.below(1_000_000))")
            desk.wait(milliseconds: 1_000)
            if second.isMultiple(of: 5) { desk.log.flush() }
        }
        desk.log.flush(all: true)
        #expect(desk.bytes < 1_000_000, "\(desk.bytes)")
        #expect(desk.lines.contains { $0.contains("lines were left out") })
        #expect(desk.lines.contains { $0.contains("repeated=") })
    }

    @Test func errorsHaveRoomWhenAllElseHasUsedUpIts() {
        let desk = Desk()
        for number in 0..<5_000 { desk.log(.info, .mesh, "noise \(number)", ["x": String(repeating: "n", count: 200)]) }
        desk.log(.error, .store, "the disk has failed")
        #expect(desk.lines.last?.contains("the disk has failed") == true)
        #expect(desk.bytes < 200_000)
        desk.wait(milliseconds: 60_000)
        desk.log(.info, .mesh, "later")
        #expect(desk.lines.contains { $0.contains("lines were left out") && $0.contains("lines=") })
    }

    @Test func whatWasAskedForByALevelIsNotBounded() {
        let desk = Desk(.debug)
        for number in 0..<5_000 {
            desk.log(.debug, .mesh, "noise \(number)", ["x": String(repeating: "n", count: 200)])
        }
        #expect(desk.lines.count == 5_000)
    }
}
