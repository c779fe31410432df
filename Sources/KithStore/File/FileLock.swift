#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The lock of an open database: while it is held no other process, and no second opening in this one, gets it. It ends
/// with the process, however that ends. The file stays, with the holder's process id in it.
final class FileLock {
    private let descriptor: CInt

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
            let holder = errno == EWOULDBLOCK ? Self.holder(descriptor) : nil
            close(descriptor)
            throw StoreError(
                .locked, file.name.string,
                "\(file.shortName) is open in \(holder.map { "process \($0)" } ?? "another process"): stop that one first"
            )
        }
        self.descriptor = descriptor
        // The id is for people; a lock without it is as good.
        let text = Array("\(getpid())\n".utf8)
        _ = ftruncate(descriptor, 0)
        _ = pwrite(descriptor, text, text.count, 0)
    }

    /// Unlocked first: a child that is being started holds a copy of the descriptor for a moment, and the lock with it.
    deinit {
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    private static func holder(_ descriptor: CInt) -> Int? {
        var text = [UInt8](repeating: 0, count: 32)
        let count = pread(descriptor, &text, text.count, 0)
        return count > 0 ? Int(String(decoding: text[..<count].prefix { $0 != 10 }, as: UTF8.self)) : nil
    }
}
