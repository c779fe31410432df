import Glibc
import KithTestSupport

/// A folder that goes with its object, and what tests do to files.
final class TestFolder {
    var path: String { directory.path }
    private let directory = TemporaryDirectory()

    struct Failure: Error { let text: String }

    static func make(_ path: String) throws {
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw Failure(text: "can't make \(path)") }
    }

    static func names(in path: String) -> [String] { TemporaryDirectory.names(in: path) }

    static func read(_ path: String) -> [UInt8] { TestFile.bytes(of: path) ?? [] }

    static func write(_ bytes: [UInt8], to path: String) {
        guard let file = fopen(path, "wb") else { fatalError("can't write \(path)") }
        defer { fclose(file) }
        fwrite(bytes, 1, bytes.count, file)
    }

    /// Removes a file, or a folder with all that is in it.
    static func remove(_ path: String) { if unlink(path) != 0 { TemporaryDirectory.remove(path) } }
}

/// A write-ahead log as SQLite describes it: a head of 32 bytes, then frames of a head of 24 bytes and a page; a frame
/// that ends a commit names the size of the file in pages.
enum WriteAheadLog {
    /// Where each commit ends, in bytes.
    static func commits(_ log: [UInt8]) -> [Int] {
        guard log.count >= 32 else { return [] }
        let page = number(log, 8)
        var ends: [Int] = []
        var offset = 32
        while page > 0, offset + 24 + page <= log.count, log[offset + 8..<offset + 16] == log[16..<24] {
            if number(log, offset + 4) != 0 { ends.append(offset + 24 + page) }
            offset += 24 + page
        }
        return ends
    }

    private static func number(_ bytes: [UInt8], _ offset: Int) -> Int {
        bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
    }
}
