import CSQLite

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What the store must know of the file system under it.
package enum FileSystem {
    /// The name of the network file system that a directory is on; nil for a local one, or where that is not known.
    package static func networkFileSystem(of directory: String) -> String? { NetworkFileSystem.name(of: directory) }

    /// The size of a file in bytes; 0 where there is none.
    static func size(of path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }

    /// Whether there is something of that name.
    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// The first bytes of a file, as far as it has them. Nobody may have it open by SQLite: see `synchronize`.
    static func head(of path: String, _ count: Int) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: count)
        let read = pread(descriptor, &bytes, count, 0)
        return Array(bytes.prefix(max(0, read)))
    }

    /// Which file a name stands for at the moment; nil where there is none.
    static func identity(of path: String) -> FileIdentity? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return FileIdentity(device: UInt64(status.st_dev), number: UInt64(status.st_ino))
    }

    /// Makes a file without content that only this user may read, in the place of one that is there.
    static func makePrivate(_ path: String) -> Bool {
        guard remove(path) else { return false }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        if descriptor >= 0 { close(descriptor) }
        return descriptor >= 0
    }

    /// Removes a file that may not be there; whether it is gone.
    static func remove(_ path: String) -> Bool { unlink(path) == 0 || errno == ENOENT }

    /// Gives a file another name, in the place of what had it.
    static func rename(_ path: String, to other: String) throws(StoreError) {
        #if canImport(Glibc)
        let code = Glibc.rename(path, other)
        #else
        let code = Darwin.rename(path, other)
        #endif
        if code != 0 { throw failure("rename", path, errno) }
    }

    /// Makes the content of a file durable. Nobody may have it open by SQLite: closing it here would end that one's locks.
    static func synchronize(file: String) throws(StoreError) {
        let descriptor = open(file, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("open", file, errno) }
        defer { close(descriptor) }
        if fsync(descriptor) != 0 { throw failure("synchronise", file, errno) }
    }

    /// Makes the names in a directory durable.
    static func synchronize(directory: String) throws(StoreError) {
        let descriptor = open(directory, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("open", directory, errno) }
        defer { close(descriptor) }
        if fsync(descriptor) != 0 { throw failure("synchronise", directory, errno) }
    }

    /// The names in a directory, in byte order.
    static func names(in directory: String) throws(StoreError) -> [String] {
        guard let stream = opendir(directory) else { throw failure("read", directory, errno) }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            names.append(
                withUnsafePointer(to: &entry.pointee.d_name) {
                    $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                })
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// What a call on a file that gave an error of the system means for the store.
    /// - Parameter what: what could not be done with the file: `open`.
    static func failure(_ what: String, _ path: String, _ error: CInt) -> StoreError {
        let code: StoreError.Code =
            switch error {
            case ENOSPC, EDQUOT: .storageFull
            case EROFS, EACCES, EPERM: .readOnly
            case EIO: .inputOutput
            default: .cannotOpen
            }
        let reason = String(cString: strerror(error))
        return StoreError(
            code, path, "can't \(what) \(StoreError.shortened(path, to: Limits.pathCharacters)): \(reason)")
    }
}

/// Names a file as long as it is there, whatever it is called.
struct FileIdentity: Hashable {
    let device: UInt64
    let number: UInt64
}

/// A file as it stands at a moment.
struct FileStamp: Hashable {
    let identity: FileIdentity
    let size: Int64
    let seconds: Int
    let nanoseconds: Int

    /// Nil where there is none.
    init?(of path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        identity = FileIdentity(device: UInt64(status.st_dev), number: UInt64(status.st_ino))
        size = Int64(status.st_size)
        #if canImport(Glibc)
        (seconds, nanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
        #else
        (seconds, nanoseconds) = (status.st_mtimespec.tv_sec, status.st_mtimespec.tv_nsec)
        #endif
    }
}

/// The room on the file system of a directory, in bytes.
package struct StorageSpace: Hashable, Sendable {
    /// What a user without privileges can still write.
    package let free: UInt64
    package let total: UInt64

    package init(free: UInt64, total: UInt64) {
        self.free = free
        self.total = total
    }

    /// Asks the system; nil where it does not say.
    package init?(of directory: String) {
        var status = statvfs()
        guard statvfs(directory, &status) == 0 else { return nil }
        self.init(
            free: UInt64(status.f_bavail) * UInt64(status.f_frsize),
            total: UInt64(status.f_blocks) * UInt64(status.f_frsize))
    }
}
