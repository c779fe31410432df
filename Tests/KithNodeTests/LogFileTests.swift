import Glibc
import KithSystem
import KithTestSupport
import KithVirtualDisk
import Synchronization
import Testing

@testable import KithNode

/// Where lines of the log go besides standard error.
@Suite(.timeLimit(.minutes(2))) struct LogFileTests {
    private let folder = TemporaryDirectory()
    private var path: String { folder.path + "/app.log" }

    private func text(_ path: String) -> String { String(decoding: TestFile.bytes(of: path) ?? [], as: UTF8.self) }

    private static func line(_ number: Int) -> [UInt8] {
        Array("line \(number) \(String(repeating: "x", count: 80))\n".utf8)
    }

    @Test func aFileThatIsFullBeginsAnewAndTheOldestGoes() async throws {
        let file = try LogFile(path, most: 1, kept: 2)
        // More than is kept: four files of the least size.
        let lines = 4 * LogLimits.leastFileBytes / Self.line(1_000).count
        for number in 0..<lines {
            while !file.write(Self.line(number)) { await file.flush() }
        }
        await file.flush()
        #expect(TestFolder.names(in: folder.path).sorted() == ["app.log", "app.log.1", "app.log.2"])
        let all = text(path + ".2") + text(path + ".1") + text(path)
        let numbers = all.split(separator: "\n").compactMap { Int($0.split(separator: " ")[1]) }
        // Whole lines, none twice, none missing up to the last.
        #expect(numbers.last == lines - 1 && numbers == Array((lines - numbers.count)..<lines))
        for name in TestFolder.names(in: folder.path) {
            let stamp = LocalFileSystem().stamp(of: "\(folder.path)/\(name)")
            #expect(stamp.map { $0.size <= Int64(LogLimits.leastFileBytes) && !$0.isOpenToOthers } == true)
        }
    }

    @Test func itGoesOnWhereItEnded() async throws {
        for number in 0..<3 {
            let file = try LogFile(path, most: 1, kept: 0)
            #expect(file.write(Self.line(number)))
            await file.flush()
        }
        #expect(text(path).split(separator: "\n").count == 3)
    }

    @Test func aFolderThatIsNoneIsAnErrorAtOnce() {
        #expect(throws: NodeError.self) { try LogFile(folder.path + "/none/app.log", most: 1, kept: 1) }
    }

    @Test func whatAFullDiskDidNotTakeIsCountedWhenThereIsRoomAgain() async throws {
        let disk = VirtualDisk()
        defer { disk.discard() }
        let file = try LogFile(disk.directory + "/app.log", most: 1, kept: 0, on: disk.files)
        disk.isReadOnly = true
        for number in 0..<5 { #expect(file.write(Self.line(number))) }
        await file.flush()
        disk.isReadOnly = false
        #expect(file.write(Self.line(5)))
        await file.flush()
        let bytes = try disk.files.open(disk.directory + "/app.log", .read).read(10_000, at: 0)
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        #expect(lines.count == 2 && lines[0].contains("lines were lost") && lines[0].hasSuffix("lines=5"), "\(lines)")
        #expect(lines.last?.hasPrefix("line 5 ") == true)
    }

    @Test func aTakerThatIsSlowLosesEventsAndHoldsUpNobody() async throws {
        let gate = Mutex(false)
        let taken = Mutex<[String]>([])
        let handler = LogHandler { event, _ in
            while !gate.withLock({ $0 }) { usleep(1_000) }
            taken.withLock { $0.append(event.sentence) }
        }
        let log = Log(level: .trace, outputs: [{ event, time, _ in handler.write(event, time: time) }])
        for number in 0..<2_000 { log(.debug, .node, "event \(number)") }
        gate.withLock { $0 = true }
        await handler.flush()
        #expect(taken.withLock(\.count) <= LogLimits.waitingEvents)
        log(.debug, .node, "later")
        await handler.flush()
        let all = taken.withLock { $0 }
        #expect(all.prefix(LogLimits.waitingEvents).elementsEqual((0..<LogLimits.waitingEvents).map { "event \($0)" }))
        #expect(all.contains { $0.contains("lines were left out") } && all.last == "later", "\(all.suffix(3))")
    }

    @Test func theLastLinesAreKeptUpToABound() {
        let log = Log(level: .trace, keeping: 1_000, outputs: [{ _, _, _ in true }])
        for number in 0..<5_000 { log(.debug, .mesh, "event \(number)") }
        let lines = String(decoding: log.recent, as: UTF8.self).split(separator: "\n")
        #expect(log.recent.count <= 1_000 && lines.count > 10)
        #expect(lines.last?.hasSuffix("debug mesh: event 4999") == true, "\(lines.last ?? "")")
        #expect(Log(level: .trace, outputs: []).recent.isEmpty)
    }
}
