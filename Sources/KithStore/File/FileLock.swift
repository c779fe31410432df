#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The lock of an open database: while it is held no other process, and no second opening in this one, gets it. It ends
/// with the process, however that ends. The file stays, with the holder's process id in its first line and what the
/// holder claimed of the log in its second.
final class FileLock {
    private let descriptor: CInt
    private let path: String
    /// What the last holder claimed of the log.
    private(set) var lastClaim: LogClaim

    init(_ file: DatabaseFile) throws(StoreError) {
        let path = file.lockPath
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            let error = errno
            let reason = String(cString: strerror(error))
            throw StoreError(
                error == EROFS || error == EACCES ? .readOnly : error == ENOSPC ? .storageFull : .cannotOpen, path,
                "can't make the lock file of \(file.shortName) in \(file.shortDirectory): \(reason)")
        }
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            if errno == EINTR { continue }
            let holder = errno == EWOULDBLOCK ? Self.lines(descriptor).first.flatMap { Int($0) } : nil
            close(descriptor)
            throw StoreError(
                .locked, file.name.string,
                "\(file.shortName) is open in \(holder.map { "process \($0)" } ?? "another process"): stop that one first"
            )
        }
        self.descriptor = descriptor
        self.path = path
        let lines = Self.lines(descriptor)
        lastClaim = lines.count > 1 ? LogClaim(lines[1]) : .none
        write(lastClaim)
    }

    deinit { close(descriptor) }

    /// Writes what this holder claims of the log. The id before it is for people; a lock without both is as good.
    func write(_ claim: LogClaim) {
        // One write of one length: whatever ends the process, there is never half of it.
        var text = Array("\(getpid())\n\(claim.text)\n".utf8)
        text += [UInt8](repeating: UInt8(ascii: " "), count: max(0, Self.bytes - text.count))
        _ = pwrite(descriptor, text, text.count, 0)
    }

    /// What was written is on disk when this returns.
    /// - Returns: whether it is.
    func synchronize() -> Bool { fsync(descriptor) == 0 }

    /// Takes back what was claimed of the log. On disk when this returns.
    func claimNothing() throws(StoreError) {
        write(.empty)
        lastClaim = .empty
        guard synchronize() else {
            throw StoreError(
                .inputOutput, path, "the disk failed on the lock file of a database: look at the system's log")
        }
    }

    private static let bytes = 64

    private static func lines(_ descriptor: CInt) -> [String] {
        var text = [UInt8](repeating: 0, count: bytes)
        let count = pread(descriptor, &text, text.count, 0)
        guard count > 0 else { return [] }
        return String(decoding: text[..<count], as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
