import KithSystem

/// What stands in a write-ahead log, read without SQLite and without changing anything. The format is
/// https://www.sqlite.org/fileformat2.html#the_write_ahead_log.
enum LogContent: Hashable {
    case absent
    case empty
    /// Its head is none: SQLite takes it for empty.
    case unreadable
    /// The salts, and the pages up to the last commit whose check sums hold; counting ends at the number asked for.
    case pages(salts: UInt64, count: Int)

    /// - Complexity: O(`enough`) pages are read.
    static func read(_ file: (any OpenFile)?, enough: Int) -> LogContent {
        guard let file else { return .absent }
        guard var frames = LogReader(file) else {
            return (try? file.read(1, at: 0))?.isEmpty ?? true ? .empty : .unreadable
        }
        var (number, committed) = (0, 0)
        while committed < enough, let frame = frames.next() {
            number += 1
            if frame.isCommit { committed = number }
        }
        return .pages(salts: frames.salts, count: committed)
    }

    /// The salts of the log; nil where there is none.
    static func salts(of file: any OpenFile) -> UInt64? {
        guard let bytes = try? file.read(8, at: 16), bytes.count == 8 else { return nil }
        return bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// The frames of a write-ahead log in their order, as far as their check sums hold: a page each.
struct LogReader {
    struct Frame {
        let page: Int
        /// Whether a transaction ends with it.
        let isCommit: Bool
        /// Where in the log the page's content stands.
        let offset: Int
    }

    let pageBytes: Int
    let salts: UInt64
    private let file: any OpenFile
    private let isBigEndian: Bool
    private var sum = LogSum()
    private var offset = LogReader.headBytes

    private static let headBytes = 32
    private static let frameHeadBytes = 24

    /// Nil where the file does not begin as a log does.
    init?(_ file: any OpenFile) {
        guard let head = try? file.read(Self.headBytes, at: 0), head.count == Self.headBytes else { return nil }
        let magic = Self.number(head, 0)
        guard magic & ~1 == 0x377F_0682 else { return nil }
        self.file = file
        isBigEndian = magic & 1 == 1
        pageBytes = Int(Self.number(head, 8))
        salts = Self.number(head, 16) << 32 | Self.number(head, 20)
        sum.add(head, 0..<24, isBigEndian)
        guard sum.equals(Self.number(head, 24), Self.number(head, 28)), pageBytes >= 512, pageBytes <= 65_536,
            pageBytes & (pageBytes - 1) == 0
        else { return nil }
    }

    /// - Complexity: one page is read.
    mutating func next() -> Frame? {
        let size = Self.frameHeadBytes + pageBytes
        guard let frame = try? file.read(size, at: offset), frame.count == size,
            Self.number(frame, 8) << 32 | Self.number(frame, 12) == salts
        else { return nil }
        sum.add(frame, 0..<8, isBigEndian)
        sum.add(frame, Self.frameHeadBytes..<size, isBigEndian)
        guard sum.equals(Self.number(frame, 16), Self.number(frame, 20)) else { return nil }
        defer { offset += size }
        return Frame(
            page: Int(Self.number(frame, 0)), isCommit: Self.number(frame, 4) != 0,
            offset: offset + Self.frameHeadBytes)
    }

    private static func number(_ bytes: [UInt8], _ offset: Int) -> UInt64 {
        bytes.withUnsafeBytes { UInt64(UInt32(bigEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self))) }
    }
}

/// The running check sum of a log: of pairs of 32-bit words, in the order of bytes that the head names.
private struct LogSum {
    private var first: UInt32 = 0
    private var second: UInt32 = 0

    mutating func add(_ bytes: [UInt8], _ range: Range<Int>, _ isBigEndian: Bool) {
        bytes.withUnsafeBytes { bytes in
            for offset in stride(from: range.lowerBound, to: range.upperBound, by: 8) {
                let left = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
                let right = bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
                first &+= (isBigEndian ? UInt32(bigEndian: left) : UInt32(littleEndian: left)) &+ second
                second &+= (isBigEndian ? UInt32(bigEndian: right) : UInt32(littleEndian: right)) &+ first
            }
        }
    }

    func equals(_ first: UInt64, _ second: UInt64) -> Bool {
        UInt64(self.first) == first && UInt64(self.second) == second
    }
}
