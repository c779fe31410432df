import CSQLite

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What the store must know of the file system under it.
package enum FileSystem {
    /// Refuses a directory on a network file system: SQLite's locks and the shared memory of its write-ahead log hold
    /// within one machine only.
    static func requireLocal(_ directory: String) throws(StoreError) {
        guard let name = networkFileSystem(of: directory) else { return }
        throw StoreError(
            .networkFileSystem, directory,
            "\(StoreError.shortened(directory, to: Limits.subjectCharacters)) is on a network file system (\(name)): "
                + "use a directory on a disk of this machine")
    }

    /// The size of a file in bytes; 0 where there is none.
    static func size(of path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }

    /// What this user may still write on the file system of a directory, in bytes; nil where it can't be asked.
    static func freeBytes(in directory: String) -> Int? {
        var status = statvfs()
        guard statvfs(directory, &status) == 0 else { return nil }
        return Int(
            clamping: UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize)).partialValue)
    }

    /// Makes a file without content that only this user may read, in the place of one that is there.
    static func makePrivate(_ path: String) -> Bool {
        guard remove(path) else { return false }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        if descriptor >= 0 { close(descriptor) }
        return descriptor >= 0
    }

    /// Makes what was written of a file durable; false where the disk says that it is not.
    static func synchronize(file path: String) -> Bool {
        let descriptor = open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return fsync(descriptor) == 0
    }

    /// Removes a file that may not be there; whether it is gone.
    static func remove(_ path: String) -> Bool { unlink(path) == 0 || errno == ENOENT }

    /// Makes the names in a directory durable.
    static func synchronize(directory: String) {
        let descriptor = open(directory, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        _ = fsync(descriptor)
        close(descriptor)
    }

    /// The names in a directory, in byte order.
    static func names(in directory: String) throws(StoreError) -> [String] {
        guard let stream = opendir(directory) else {
            let reason = String(cString: strerror(errno))
            throw StoreError(
                .cannotOpen, directory,
                "can't read \(StoreError.shortened(directory, to: Limits.subjectCharacters)): \(reason)")
        }
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

    #if os(Linux)
    /// The file systems by the magic numbers of `statfs(2)`. FUSE and 9p are not among them: both are often local.
    private static let networkFileSystems: [(magic: UInt, name: String)] = [
        (0x6969, "NFS"), (0x517B, "SMB"), (0xFF53_4D42, "CIFS"), (0xFE53_4D42, "SMB2"), (0x5346_414F, "AFS"),
        (0x6B41_4653, "AFS"), (0x7375_7245, "Coda"), (0x564C, "NCP"), (0x00C3_6400, "Ceph"), (0x0BD0_0BD0, "Lustre"),
        (0x0116_1970, "GFS2"), (0x7461_636F, "OCFS2"), (0x4750_4653, "GPFS"), (0x2030_0929, "BeeGFS"),
    ]

    /// The name of the network file system of a magic number.
    static func networkFileSystem(magic: UInt) -> String? { networkFileSystems.first { $0.magic == magic }?.name }

    /// The name of the network file system that a directory is on; nil for a local one, or where that is not known.
    package static func networkFileSystem(of directory: String) -> String? {
        networkFileSystem(magic: UInt(kith_filesystem_magic(directory)))
    }
    #else
    /// The name of the network file system that a directory is on; nil for a local one, or where that is not known.
    package static func networkFileSystem(of directory: String) -> String? {
        var status = statfs()
        guard statfs(directory, &status) == 0, UInt32(status.f_flags) & UInt32(MNT_LOCAL) == 0 else { return nil }
        return "not local"
    }
    #endif
}
