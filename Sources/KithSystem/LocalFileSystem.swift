#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The file systems of this machine.
package struct LocalFileSystem: FileSystem {
    package let layer: String?

    /// - Parameter layer: the name of SQLite's layer for the files; nil for the process's default one.
    package init(layer: String? = nil) { self.layer = layer }

    package func stamp(of path: String) -> FileStamp? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        #if canImport(Glibc)
        let time = status.st_mtim
        #else
        let time = status.st_mtimespec
        #endif
        return FileStamp(
            identity: FileIdentity(device: UInt64(status.st_dev), number: UInt64(status.st_ino)),
            size: Int64(status.st_size), seconds: time.tv_sec, nanoseconds: time.tv_nsec,
            isDirectory: status.st_mode & S_IFMT == S_IFDIR, permissions: UInt32(status.st_mode & 0o7777))
    }

    package func open(_ path: String, _ access: FileAccess) throws(SystemError) -> any OpenFile {
        let flags =
            switch access {
            case .read: O_RDONLY
            case .write: O_RDWR
            case .create: O_RDWR | O_CREAT
            case .createNew: O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW
            }
        // Without waiting for anybody: a pipe in the place of a file has nobody at its other end.
        let descriptor = system_open(path, flags | O_CLOEXEC | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else { throw SystemError(errno) }
        return Descriptor(descriptor)
    }

    package func remove(_ path: String) throws(SystemError) { try check(unlink(path)) }

    package func rename(_ path: String, to other: String) throws(SystemError) { try check(system_rename(path, other)) }

    package func link(_ path: String, to other: String) throws(SystemError) { try check(system_link(path, other)) }

    package func makeDirectory(_ path: String) throws(SystemError) {
        if mkdir(path, 0o700) != 0, errno != EEXIST { throw SystemError(errno) }
    }

    package func synchronize(directory: String) throws(SystemError) {
        let descriptor = system_open(directory, O_RDONLY | O_CLOEXEC, 0)
        guard descriptor >= 0 else { throw SystemError(errno) }
        defer { close(descriptor) }
        try check(fsync(descriptor))
    }

    package func list(_ directory: String) throws(SystemError) -> [String] {
        guard let stream = opendir(directory) else { throw SystemError(errno) }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = Self.name(of: entry)
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// Removes a directory with all that is in it, as far as it can. Symbolic links are removed and not followed.
    package static func removeFolder(_ path: String) {
        for name in (try? LocalFileSystem().list(path)) ?? [] where unlink("\(path)/\(name)") != 0 {
            removeFolder("\(path)/\(name)")
        }
        rmdir(path)
    }

    /// The name in an entry. An entry ends with its name: read as the 256 bytes that it can have at most, it would be read
    /// beyond the end of the directory's buffer, which may be the end of the memory that there is.
    static func name(of entry: UnsafePointer<dirent>) -> String {
        let name = UnsafeRawPointer(entry) + MemoryLayout<dirent>.offset(of: \.d_name)!
        return String(cString: name.assumingMemoryBound(to: CChar.self))
    }

    package func space(of directory: String) -> StorageSpace? {
        var status = statvfs()
        guard statvfs(directory, &status) == 0 else { return nil }
        return StorageSpace(
            free: UInt64(status.f_bavail) * UInt64(status.f_frsize),
            total: UInt64(status.f_blocks) * UInt64(status.f_frsize))
    }

    package func networkName(of directory: String) -> String? { NetworkFileSystem.name(of: directory) }

    package func closeToOthers(_ directory: String) throws(SystemError) { try check(chmod(directory, 0o700)) }

    package func requireWritable(_ directory: String) throws(SystemError) { try check(access(directory, W_OK)) }
}

/// A descriptor of this process.
private final class Descriptor: OpenFile {
    private let number: CInt

    init(_ number: CInt) { self.number = number }

    /// Unlocked first, where it was locked: a child that is being started holds a copy of the descriptor for a moment, and the lock with it.
    deinit {
        flock(number, LOCK_UN)
        close(number)
    }

    func read(_ count: Int, at offset: Int) throws(SystemError) -> [UInt8] {
        var done = 0
        var error: CInt = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            while done < count {
                let got = pread(number, buffer.baseAddress! + done, count - done, off_t(offset + done))
                if got < 0, errno == EINTR { continue }
                if got < 0 { error = errno }
                guard got > 0 else { break }
                done += got
            }
            initialized = done
        }
        if error != 0 { throw SystemError(error) }
        return bytes
    }

    func write(_ bytes: [UInt8], at offset: Int) throws(SystemError) {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes {
                pwrite(number, $0.baseAddress! + done, bytes.count - done, off_t(offset + done))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw SystemError(count < 0 ? errno : EIO) }
            done += count
        }
    }

    func synchronize() throws(SystemError) { try check(fsync(number)) }

    func lock() throws(SystemError) -> Bool {
        while flock(number, LOCK_EX | LOCK_NB) != 0 {
            if errno == EWOULDBLOCK { return false }
            if errno != EINTR { throw SystemError(errno) }
        }
        return true
    }
}

private func check(_ code: CInt) throws(SystemError) { if code != 0 { throw SystemError(errno) } }

// The system's functions, for types whose own have the same names.

private func system_open(_ path: String, _ flags: CInt, _ mode: mode_t) -> CInt { open(path, flags, mode) }
private func system_rename(_ path: String, _ other: String) -> CInt { rename(path, other) }
private func system_link(_ path: String, _ other: String) -> CInt { link(path, other) }
