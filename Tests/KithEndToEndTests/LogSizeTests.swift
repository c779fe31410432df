import Glibc
import KithDocument
import Testing

/// The write-ahead log stays small, whoever reads slowly.
@Suite(.timeLimit(.minutes(10))) struct LogSizeTests {
    private static let mebibytes = getenv("KITH_LONG_TESTS") == nil ? 40 : 100
    /// 16 MiB, what the largest transaction adds, and what was written while a page was read.
    private static let bound: UInt64 = 32 << 20

    @Test func besideAStoppedPeerAndAStalledExport() async throws {
        try await Lab.open(nodes: 2) { lab in
            let nodes = try await lab.group(2)
            let (ada, ben) = (nodes[0], nodes[1])
            try await nodes.makeDatabase("notes")
            try await ada.kith("import", "notes", "-", input: Self.documents(8, 0), within: 120)
            // Both in the middle of it: a peer that takes its first documents, and somebody who saves them.
            _ = kill(try #require(ben.processID), SIGSTOP)
            let export = try ada.program(["export", "notes"])
            #expect(try await eventually(within: 20) { export.output.count > 100_000 })
            export.signal(SIGSTOP)
            let changes = try ada.program(["changes", "notes", "--follow"])
            changes.signal(SIGSTOP)

            var largest: UInt64 = 0
            for part in 1...(Self.mebibytes / 8) {
                try await ada.kith("import", "notes", "-", input: Self.documents(8, part), within: 120)
                let database = try await ada.database("notes")
                largest = max(largest, database["wal_bytes"]?.natural ?? .max)
                #expect((database["oldest_reader_ms"]?.natural ?? 0) < 5_000, "\(database)")
            }
            #expect(largest > 1 << 20 && largest < Self.bound, "the log grew to \(largest >> 20) MiB")
            export.signal(SIGCONT)
            changes.signal(SIGKILL)
            #expect(try await export.finish(within: 60).status == 0)
            _ = kill(try #require(ben.processID), SIGCONT)
            try await nodes.settle("notes", within: 120)
        }
    }

    /// Lines of a mebibyte each.
    private static func documents(_ count: Int, _ part: Int) -> [UInt8] {
        let filling = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)
        var lines: [UInt8] = []
        for number in 0..<count {
            lines += Array("{\"_id\":\"d\(number)\",\"part\":\(part),\"x\":\"".utf8) + filling + Array("\"}\n".utf8)
        }
        return lines
    }
}
