#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A file that is written from its beginning to its end, readable by its owner only.
package final class OutputFile {
    private let descriptor: CInt
    private let name: String

    /// Makes the file, in the place of one that is there.
    /// - Parameter name: what errors call it.
    /// - Throws: `StoreError` with what the disk gives.
    init(_ path: String, called name: String) throws(StoreError) {
        self.name = name
        _ = FileSystem.remove(path)
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        if descriptor < 0 { throw FileSystem.failure("make", name, errno) }
    }

    deinit { close(descriptor) }

    /// Appends bytes.
    package func write(_ bytes: [UInt8]) throws(StoreError) {
        var done = 0
        while done < bytes.count {
            let count = bytes[done...].withUnsafeBytes { system_write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                done += count
            } else if errno != EINTR {
                throw FileSystem.failure("write", name, errno)
            }
        }
    }
}

private func system_write(_ descriptor: CInt, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}

/// A file that is read from its beginning to its end, by one caller at a time, and has no name any more: it goes with
/// this object, and with the process.
package final class InputStreamFile: Sendable {
    private let descriptor: CInt
    package let size: Int

    /// Opens the file and takes its name away.
    init(unlinking path: String) throws(StoreError) {
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        let error = errno
        size = FileSystem.size(of: path)
        unlink(path)
        if descriptor < 0 { throw FileSystem.failure("read", path, error) }
    }

    deinit { close(descriptor) }

    /// The next part; nil at the end.
    package func next() throws(StoreError) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: Limits.filePartBytes)
        while true {
            let count = read(descriptor, &bytes, bytes.count)
            if count > 0 { return Array(bytes[..<count]) }
            if count == 0 { return nil }
            if errno != EINTR { throw FileSystem.failure("read", "the copy", errno) }
        }
    }
}

extension Backup {
    /// Writes a copy beside the database, for a reader that is elsewhere.
    /// - Parameter number: names the copy while it is made; no two at a time may be equal.
    /// - Throws: as `write`; `storage_full`, before anything is written, where there is not the space for it.
    package static func aside(
        _ file: DatabaseFile, number: UInt64, isCancelled: @escaping () -> Bool
    ) throws(StoreError) -> InputStreamFile {
        try file.requireSpace(try Compaction.usedBytes(file), to: "copy")
        let path = file.aside("\(copyEnding)\(number)")
        try write(file, to: path, isCancelled: isCancelled)
        return try InputStreamFile(unlinking: path)
    }

    static let copyEnding = "copy-"
}
