import KithStore
import KithSystem

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A virtual disk as a store sees it.
extension VirtualDisk: FileSystem {
    package var layer: String? { VirtualDiskLayer.name }

    package func stamp(of path: String) -> FileStamp? {
        if path == directory {
            return FileStamp(
                identity: FileIdentity(device: 0, number: 0), size: 0, seconds: 0, nanoseconds: 0, isDirectory: true,
                permissions: 0o700)
        }
        return status(of: path).map { status in
            FileStamp(
                identity: FileIdentity(device: 0, number: status.number), size: Int64(status.size),
                // No two states of a file have one time.
                seconds: 0, nanoseconds: Int(truncatingIfNeeded: status.version))
        }
    }

    package func open(_ path: String, _ access: FileAccess) throws(SystemError) -> any OpenFile {
        try open(path, creates: access == .create || access == .createNew, exclusively: access == .createNew).get()
    }

    package func remove(_ path: String) throws(SystemError) { if let error = taken(path) { throw error } }

    package func rename(_ path: String, to other: String) throws(SystemError) {
        if let error = moved(path, to: other) { throw error }
    }

    package func link(_ path: String, to other: String) throws(SystemError) {
        if let error = linked(path, to: other) { throw error }
    }

    package func makeDirectory(_ path: String) throws(SystemError) {}

    package func closeToOthers(_ directory: String) throws(SystemError) {}

    package func requireWritable(_ directory: String) throws(SystemError) {}

    package func synchronize(directory: String) throws(SystemError) {
        if let error = synchronizedNames() { throw error }
    }

    package func list(_ directory: String) throws(SystemError) -> [String] { list() }

    package func space(of directory: String) -> StorageSpace? {
        let (used, total) = space
        return total.map { StorageSpace(free: UInt64(max(0, $0 - used)), total: UInt64($0)) }
    }

    package func networkName(of directory: String) -> String? { nil }
}

extension DiskHandle: OpenFile {
    func read(_ count: Int, at offset: Int) throws(SystemError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let done = try bytes.withUnsafeMutableBytes { disk.read(self, into: $0, at: offset) }.get()
        bytes.removeLast(count - done)
        return bytes
    }

    func write(_ bytes: [UInt8], at offset: Int) throws(SystemError) {
        if let error = disk.write(self, bytes, at: offset) { throw error }
    }

    func synchronize() throws(SystemError) { if let error = disk.synchronize(self) { throw error } }

    func lock() throws(SystemError) -> Bool { disk.own(self) }
}
