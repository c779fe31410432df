import Glibc

/// A folder that goes with its object, and what tests do to files.
final class TestFolder {
    let path: String

    init() throws {
        var template = Array("/tmp/kith-sequences-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else { throw Failure(text: "no temporary folder") }
        path = String(cString: made)
    }

    struct Failure: Error { let text: String }

    deinit { Self.remove(path) }

    static func make(_ path: String) throws {
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw Failure(text: "can't make \(path)") }
    }

    static func names(in path: String) -> [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    static func read(_ path: String) -> [UInt8] {
        guard let file = fopen(path, "rb") else { return [] }
        defer { fclose(file) }
        fseek(file, 0, SEEK_END)
        var bytes = [UInt8](repeating: 0, count: ftell(file))
        rewind(file)
        let count = fread(&bytes, 1, bytes.count, file)
        return Array(bytes[..<count])
    }

    static func write(_ bytes: [UInt8], to path: String) {
        guard let file = fopen(path, "wb") else { fatalError("can't write \(path)") }
        defer { fclose(file) }
        fwrite(bytes, 1, bytes.count, file)
    }

    static func remove(_ path: String) {
        if unlink(path) == 0 { return }
        for name in names(in: path) { remove("\(path)/\(name)") }
        rmdir(path)
    }
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
