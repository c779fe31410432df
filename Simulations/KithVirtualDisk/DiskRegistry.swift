import Synchronization

/// The disks of this process by their directories.
enum DiskRegistry {
    private struct Disks {
        var count = 0
        var byDirectory: [String: VirtualDisk] = [:]
    }

    private static let disks = Mutex(Disks())
    private static let prefix = "/virtual-disk-"

    static func nextDirectory() -> String {
        disks.withLock {
            $0.count += 1
            return "\(prefix)\($0.count)"
        }
    }

    static func add(_ disk: VirtualDisk) {
        VirtualDiskLayer.register()
        disks.withLock { $0.byDirectory[disk.directory] = disk }
    }

    static func remove(_ disk: VirtualDisk) { disks.withLock { $0.byDirectory[disk.directory] = nil } }

    /// The disk that a path is on; nil for one of the system.
    static func disk(of path: String) -> VirtualDisk? {
        guard path.utf8.starts(with: prefix.utf8) else { return nil }
        let end = path.utf8.dropFirst(1).firstIndex(of: UInt8(ascii: "/")) ?? path.utf8.endIndex
        return disks.withLock { $0.byDirectory[String(path[..<end])] }
    }
}
