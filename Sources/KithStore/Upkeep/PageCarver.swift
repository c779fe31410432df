import KithSystem

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Reads rows out of a SQLite file page by page, without the trees that lead to them, as SQLite's file format lays them
/// down: for files of which SQLite itself can read only a part. Pages of the write-ahead log go before those of the file,
/// up to the log's last sound commit.
///
/// Nothing that it finds is to be believed: a page may be one that was freed. Rows of documents prove themselves by the
/// hashes of their revisions.
struct PageCarver {
    enum Value {
        case null
        case integer(Int64)
        case text([UInt8])
        case blob([UInt8])
    }

    struct Row {
        let number: Int64
        let values: [Value]
    }

    private let pages: PageSource

    /// - Throws: `StoreError` where the file can't be read at all.
    init(_ file: DatabaseFile) throws(StoreError) { pages = try PageSource(file) }

    /// How many pages the file has.
    var pageCount: Int { pages.count }

    /// The rows of table leaves on one page; none on a page of another kind, and none of what contradicts itself.
    /// - Parameter index: from 1 on.
    func rows(onPage index: Int) -> [Row] {
        guard let page = pages.page(index) else { return [] }
        let start = index == 1 ? 100 : 0
        guard page.count >= start + 8, page[start] == Self.tableLeaf else { return [] }
        let count = Self.number16(page, start + 3)
        var rows: [Row] = []
        for cell in 0..<count {
            let pointer = start + 8 + 2 * cell
            guard pointer + 2 <= page.count else { break }
            if let row = row(page, at: Self.number16(page, pointer)) { rows.append(row) }
        }
        return rows
    }

    private static let tableLeaf: UInt8 = 0x0D

    private func row(_ page: [UInt8], at offset: Int) -> Row? {
        var position = offset
        guard let length = Self.varint(page, &position), let number = Self.varint(page, &position),
            length <= UInt64(Limits.salvagedRowBytes),
            let payload = payload(page, from: position, count: Int(length)), let values = Self.values(payload)
        else { return nil }
        return Row(number: Int64(bitPattern: number), values: values)
    }

    /// The bytes of a row: those on its page, and those on the chain of further pages.
    private func payload(_ page: [UInt8], from start: Int, count: Int) -> [UInt8]? {
        let usable = pages.usableBytes
        var local = count
        if count > usable - 35 {
            let least = (usable - 12) * 32 / 255 - 23
            let fitting = least + (count - least) % (usable - 4)
            local = fitting <= usable - 35 ? fitting : least
        }
        guard start + local <= page.count else { return nil }
        var payload = Array(page[start..<(start + local)])
        guard local < count else { return payload }
        payload.reserveCapacity(count)
        guard start + local + 4 <= page.count else { return nil }
        var next = Self.number32(page, start + local)
        while payload.count < count {
            guard next > 0, let further = pages.page(next), further.count >= usable else { return nil }
            payload += further[4..<(4 + min(usable - 4, count - payload.count))]
            next = Self.number32(further, 0)
        }
        return payload
    }

    /// The columns of a record; nil where it contradicts itself.
    private static func values(_ record: [UInt8]) -> [Value]? {
        var position = 0
        guard let header = varint(record, &position), header <= UInt64(record.count), header <= 128 else { return nil }
        var types: [UInt64] = []
        while position < Int(header) {
            guard let type = varint(record, &position) else { return nil }
            types.append(type)
        }
        position = Int(header)
        var values: [Value] = []
        for type in types {
            guard let value = value(type, record, &position) else { return nil }
            values.append(value)
        }
        return position == record.count ? values : nil
    }

    private static func value(_ type: UInt64, _ record: [UInt8], _ position: inout Int) -> Value? {
        func take(_ count: Int) -> ArraySlice<UInt8>? {
            guard count <= record.count - position else { return nil }
            defer { position += count }
            return record[position..<(position + count)]
        }
        switch type {
        case 0: return .null
        case 1...6:
            guard let bytes = take([1, 2, 3, 4, 6, 8][Int(type) - 1]), let first = bytes.first else { return nil }
            let start = first & 0x80 == 0 ? UInt64(0) : UInt64.max
            return .integer(Int64(bitPattern: bytes.reduce(start) { $0 << 8 | UInt64($1) }))
        case 8: return .integer(0)
        case 9: return .integer(1)
        case 12...:
            guard type <= UInt64(2 * Limits.salvagedRowBytes), let bytes = take(Int(type - 12) / 2) else { return nil }
            return type.isMultiple(of: 2) ? .blob(Array(bytes)) : .text(Array(bytes))
        default: return nil
        }
    }

    // Numbers of the file format: the most significant byte first.

    private static func varint(_ bytes: [UInt8], _ position: inout Int) -> UInt64? {
        var number: UInt64 = 0
        for count in 0..<9 {
            guard position < bytes.count else { return nil }
            let byte = bytes[position]
            position += 1
            if count == 8 { return number << 8 | UInt64(byte) }
            number = number << 7 | UInt64(byte & 0x7F)
            if byte & 0x80 == 0 { return number }
        }
        return nil
    }

    static func number16(_ bytes: [UInt8], _ position: Int) -> Int {
        Int(bytes[position]) << 8 | Int(bytes[position + 1])
    }

    static func number32(_ bytes: [UInt8], _ position: Int) -> Int {
        bytes[position..<(position + 4)].reduce(0) { $0 << 8 | Int($1) }
    }
}

/// The pages of a file and of its write-ahead log.
final class PageSource {
    private let file: any OpenFile
    private let log: (any OpenFile)?
    private let pageBytes: Int
    let usableBytes: Int
    let count: Int
    /// Where in the log the latest sound copy of a page stands.
    private let inLog: [Int: Int]

    init(_ database: DatabaseFile) throws(StoreError) {
        let files = database.fileSystem
        file = try files.require("read", database.path) { () throws(SystemError) in try files.open(database.path, .read)
        }
        log = try? files.open(database.logPath, .read)
        let header = Self.read(file, 100, at: 0) ?? []
        let logHeader = Self.read(log, 32, at: 0) ?? []
        pageBytes = Self.pageBytes(header, logHeader)
        usableBytes = pageBytes - (header.count == 100 && header[20] < 32 ? Int(header[20]) : 0)
        inLog = Self.pages(inLog: log)
        count = max(files.size(of: database.path) / pageBytes, inLog.keys.max() ?? 0)
    }

    func page(_ index: Int) -> [UInt8]? {
        guard index >= 1, index <= count else { return nil }
        if let offset = inLog[index] { return Self.read(log, pageBytes, at: offset) }
        return Self.read(file, pageBytes, at: (index - 1) * pageBytes)
    }

    /// The size of a page, of which the log's header is the better witness; 4 KiB, as SQLite makes them, where both are
    /// damaged.
    private static func pageBytes(_ header: [UInt8], _ log: [UInt8]) -> Int {
        if log.count == 32 {
            let bytes = PageCarver.number32(log, 8)
            if (512...65_536).contains(bytes), bytes.nonzeroBitCount == 1 { return bytes }
        }
        if header.count == 100 {
            let bytes = PageCarver.number16(header, 16) == 1 ? 65_536 : PageCarver.number16(header, 16)
            if (512...65_536).contains(bytes), bytes.nonzeroBitCount == 1 { return bytes }
        }
        return 4_096
    }

    /// Where the pages stand that the log holds up to its last commit, as far as its check sums hold.
    private static func pages(inLog log: (any OpenFile)?) -> [Int: Int] {
        guard let log, var frames = LogReader(log) else { return [:] }
        var committed: [Int: Int] = [:]
        var open: [Int: Int] = [:]
        while let frame = frames.next() {
            open[frame.page] = frame.offset
            if frame.isCommit {
                committed.merge(open) { _, new in new }
                open = [:]
            }
        }
        return committed
    }

    /// So many bytes at that place; nil where there are fewer.
    private static func read(_ file: (any OpenFile)?, _ count: Int, at offset: Int) -> [UInt8]? {
        guard let bytes = try? file?.read(count, at: offset), bytes.count == count else { return nil }
        return bytes
    }
}
