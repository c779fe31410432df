import KithDocument
import KithSystem
import KithTestSupport
import Testing

@testable import KithStore

/// How large the write-ahead log grows.
@Suite struct LogTests {
    private let mebibyte = "{\"x\":\"\(String(repeating: "x", count: 1 << 20))\"}"

    @Test func itStaysSmallBesideReadersThatPauseBetweenPages() throws {
        let test = try TestStore()
        for number in 0..<20 { try test.put("d\(number)", mebibyte) }
        var largest = 0
        var last: DocumentID?
        for number in 0..<100 {
            try test.put("d\(number % 20)", mebibyte.replacingOccurrence(of: number))
            // Somebody who takes a page, and then the next when he can.
            if number % 10 == 0 {
                let page = try test.reader.documents(after: last, limit: 2, maximumBytes: 4 << 20)
                last = page.last?.id
                _ = try test.reader.changes(after: UInt64(number), limit: 5)
                _ = try test.reader.conflicts(after: 0, limit: 5)
            }
            largest = max(largest, test.store.sizes.log)
        }
        // 16 MiB and what one transaction writes.
        #expect(largest < 20 << 20, "the log grew to \(largest >> 20) MiB")
    }

    @Test func itIsCutBackOnceALongReadingHasEnded() throws {
        let test = try TestStore()
        try test.put("a", "{}")
        let reader = try test.store.makeReader()
        try reader.connection.run("BEGIN")
        _ = try reader.summary()
        for number in 0..<80 { try test.put("d\(number % 5)", mebibyte.replacingOccurrence(of: number)) }
        #expect(test.store.sizes.log > 64 << 20, "a reading that goes on keeps the log")
        #expect(try reader.get(DocumentID("d0")) == nil)
        try reader.connection.run("COMMIT")
        for number in 0..<10 { try test.put("d\(number % 5)", mebibyte.replacingOccurrence(of: number + 1000)) }
        #expect(test.store.sizes.log < 20 << 20, "it is \(test.store.sizes.log >> 20) MiB")
        try test.check()
    }

    @Test func itIsEmptyAfterClosing() throws {
        let test = try TestStore()
        for number in 0..<50 { try test.put("d\(number)", "{}") }
        #expect(test.store.sizes.log > 0)
        test.close()
        #expect(!test.directory.names().contains("things.sqlite3-wal"))
        try test.reopen()
        #expect(test.store.findings == OpeningFindings(isUnclean: false, lostLog: nil))
    }

    @Test func whatALogHoldsIsReadAsSQLiteReadsIt() throws {
        let test = try TestStore()
        for number in 0..<30 {
            try test.put("d\(number)", "{\"n\":\(number)}")
            guard
                case .pages(_, let count) = LogContent.read(
                    try? LocalFileSystem().open(test.store.file.logPath, .read), enough: .max)
            else {
                Issue.record("the log can't be read")
                return
            }
            #expect(count == test.store.ownReader().connection.logFrames)
        }
    }
}

extension String {
    /// The text with a number in the place of its first `x`s.
    fileprivate func replacingOccurrence(of number: Int) -> String {
        let text = String(number)
        return String(self.prefix(6)) + text + String(self.dropFirst(6 + text.utf8.count))
    }
}
