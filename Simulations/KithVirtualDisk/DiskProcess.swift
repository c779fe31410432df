import KithSystem

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A process of the machine that a disk is in: its files, for SQLite and for all else. Once it was killed, or the power
/// went, all that it opened is dead: every call fails with `EIO`, nothing changes by it, and its locks have fallen. So what
/// a process leaves behind in memory can be dropped at any time.
///
/// `@unchecked Sendable`: what varies is protected by the disk's lock.
package final class DiskProcess: FileSystem, @unchecked Sendable {
    package let disk: VirtualDisk
    /// The power that it runs on; nil for one that does not end with it.
    let power: UInt64?
    private(set) var isKilled = false
    /// By handle the file that it has open.
    private var opened: [ObjectIdentifier: DiskFile] = [:]
    private let ownLayer: VirtualDiskLayer.Own?

    init(_ disk: VirtualDisk, power: UInt64?) {
        self.disk = disk
        self.power = power
        ownLayer = power == nil ? nil : VirtualDiskLayer.Own()
        ownLayer?.begin(self)
    }

    deinit { ownLayer?.end() }

    /// The process ends, without being asked. Files are as it left them: what it had written is there.
    package func kill() {
        disk.locked {
            isKilled = true
            for (handle, file) in opened { file.release(handle) }
            opened = [:]
        }
    }

    /// How many files it has open.
    package var openFiles: Int { disk.locked { opened.count } }

    /// Called with the disk's lock held.
    func begin(_ handle: DiskHandle) { opened[ObjectIdentifier(handle)] = handle.file }

    func end(_ handle: DiskHandle) {
        disk.locked {
            handle.file.release(ObjectIdentifier(handle))
            opened[ObjectIdentifier(handle)] = nil
        }
    }

    // MARK: FileSystem

    package var layer: String? { ownLayer?.name ?? VirtualDiskLayer.name }

    package func stamp(of path: String) -> FileStamp? {
        (try? disk.status(of: path).get()).map { status in
            FileStamp(
                identity: FileIdentity(device: 0, number: status.number), size: Int64(status.size),
                // No two states of a file have one time.
                seconds: 0, nanoseconds: Int(truncatingIfNeeded: status.version), isDirectory: status.isDirectory,
                permissions: status.isDirectory ? 0o700 : 0o600)
        }
    }

    package func open(_ path: String, _ access: FileAccess) throws(SystemError) -> any OpenFile {
        try disk.open(path, access, by: self).get()
    }

    package func remove(_ path: String) throws(SystemError) { try check(disk.taken(path, by: self)) }

    package func rename(_ path: String, to other: String) throws(SystemError) {
        try check(disk.moved(path, to: other, by: self))
    }

    package func link(_ path: String, to other: String) throws(SystemError) {
        try check(disk.linked(path, to: other, by: self))
    }

    package func makeDirectory(_ path: String) throws(SystemError) { try check(disk.made(path, by: self)) }

    package func closeToOthers(_ directory: String) throws(SystemError) {}

    package func requireWritable(_ directory: String) throws(SystemError) {
        if disk.refuses { throw SystemError(EROFS) }
    }

    package func synchronize(directory: String) throws(SystemError) {
        try check(disk.synchronizedNames(directory, by: self))
    }

    package func list(_ directory: String) throws(SystemError) -> [String] {
        if disk.locked({ disk.isOver(self) }) { throw SystemError(EIO) }
        return try disk.listed(directory).get()
    }

    package func space(of directory: String) -> StorageSpace? {
        let (used, total) = disk.space
        return total.map { StorageSpace(free: UInt64(max(0, $0 - used)), total: UInt64($0)) }
    }

    package func networkName(of directory: String) -> String? { nil }
}

/// An open file of a virtual disk.
///
/// `@unchecked Sendable`: nothing varies but the file, which the disk's lock protects.
final class DiskHandle: OpenFile, @unchecked Sendable {
    enum Kind { case read, write, directory }

    let process: DiskProcess
    let file: DiskFile
    let path: String
    let kind: Kind
    /// The power that it was opened under.
    let power: UInt64

    var disk: VirtualDisk { process.disk }

    /// Called with the disk's lock held.
    init(_ process: DiskProcess, _ file: DiskFile, _ path: String, _ kind: Kind, _ power: UInt64) {
        self.process = process
        self.file = file
        self.path = path
        self.kind = kind
        self.power = power
        process.begin(self)
    }

    deinit { process.end(self) }

    func read(_ count: Int, at offset: Int) throws(SystemError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let done = try bytes.withUnsafeMutableBytes { disk.read(self, into: $0, at: offset) }.get()
        bytes.removeLast(count - done)
        return bytes
    }

    func write(_ bytes: [UInt8], at offset: Int) throws(SystemError) { try check(disk.write(self, bytes, at: offset)) }

    func synchronize() throws(SystemError) { try check(disk.synchronize(self)) }

    func lock() throws(SystemError) -> Bool { try disk.own(self).get() }
}

private func check(_ error: SystemError?) throws(SystemError) { if let error { throw error } }
