/// What stands in a write-ahead log, read without SQLite and without changing anything. The format is
/// https://www.sqlite.org/fileformat2.html#the_write_ahead_log.
enum LogContent: Hashable {
    case absent
    case empty
    /// Its head is none: SQLite takes it for empty.
    case unreadable
    /// The salts, and the pages up to the last commit whose check sums hold; counting ends at the number asked for.
    case pages(salts: UInt64, count: Int)

    private static let headBytes = 32
    private static let pageHeadBytes = 24

    /// - Complexity: O(`enough`) pages are read.
    static func read(_ file: (any OpenFile)?, enough: Int) -> LogContent {
        guard let file else { return .absent }
        guard let head = try? file.read(headBytes, at: 0), !head.isEmpty else { return .empty }
        return head.withUnsafeBytes { bytes in
            guard head.count == headBytes, let log = LogHead(bytes) else { return .unreadable }
            return .pages(salts: log.salts, count: pages(file, log, enough))
        }
    }

    /// The salts of the log; nil where there is none.
    static func salts(of file: any OpenFile) -> UInt64? {
        guard let bytes = try? file.read(8, at: 16), bytes.count == 8 else { return nil }
        return bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    private static func pages(_ file: any OpenFile, _ log: LogHead, _ enough: Int) -> Int {
        var sum = log.sum
        var committed = 0
        var number = 0
        let size = pageHeadBytes + log.pageBytes
        while committed < enough, let page = try? file.read(size, at: headBytes + number * size), page.count == size {
            let isCommit = page.withUnsafeBytes { page -> Bool? in
                guard bigEndian(page, 8) << 32 | bigEndian(page, 12) == log.salts else { return nil }
                sum.add(page, 0..<8, log.isBigEndian)
                sum.add(page, pageHeadBytes..<size, log.isBigEndian)
                guard sum.equals(bigEndian(page, 16), bigEndian(page, 20)) else { return nil }
                return bigEndian(page, 4) != 0
            }
            guard let isCommit else { break }
            number += 1
            if isCommit { committed = number }
        }
        return committed
    }

    fileprivate static func bigEndian(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
        UInt64(UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
    }
}

private struct LogHead {
    let isBigEndian: Bool
    let pageBytes: Int
    let salts: UInt64
    let sum: LogSum

    init?(_ head: UnsafeRawBufferPointer) {
        let magic = LogContent.bigEndian(head, 0)
        guard magic & ~1 == 0x377F_0682 else { return nil }
        isBigEndian = magic & 1 == 1
        pageBytes = Int(LogContent.bigEndian(head, 8))
        salts = LogContent.bigEndian(head, 16) << 32 | LogContent.bigEndian(head, 20)
        var sum = LogSum()
        sum.add(head, 0..<24, isBigEndian)
        self.sum = sum
        guard sum.equals(LogContent.bigEndian(head, 24), LogContent.bigEndian(head, 28)), pageBytes >= 512,
            pageBytes <= 65_536, pageBytes & (pageBytes - 1) == 0
        else { return nil }
    }
}

/// The running check sum of a log: of pairs of 32-bit words, in the order of bytes that the head names.
private struct LogSum {
    private var first: UInt32 = 0
    private var second: UInt32 = 0

    mutating func add(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>, _ isBigEndian: Bool) {
        var offset = range.lowerBound
        while offset < range.upperBound {
            let left = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
            let right = bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
            first = first &+ (isBigEndian ? UInt32(bigEndian: left) : UInt32(littleEndian: left)) &+ second
            second = second &+ (isBigEndian ? UInt32(bigEndian: right) : UInt32(littleEndian: right)) &+ first
            offset += 8
        }
    }

    func equals(_ first: UInt64, _ second: UInt64) -> Bool {
        UInt64(self.first) == first && UInt64(self.second) == second
    }
}
