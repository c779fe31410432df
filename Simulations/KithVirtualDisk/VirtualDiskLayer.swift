import CSQLite
import KithStore
import KithSystem
import KithTestSupport
import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// SQLite's layer for files over all virtual disks. It is the process's default one, since SQLite seeds its own random
/// numbers through that; what is not on a virtual disk goes to the system's layer.
package enum VirtualDiskLayer {
    static let name = "kith-virtual-disk"

    /// Where SQLite takes its randomness from; nil for the system.
    private static let randomness = Mutex<SeededGenerator?>(nil)

    /// From now on SQLite's random numbers, the salts of its logs among them, follow from the generator.
    package static func seed(_ generator: SeededGenerator) {
        register()
        randomness.withLock { $0 = generator }
        sqlite3_randomness(0, nil)
    }

    /// Registers the layer, once for the process.
    static func register() { _ = layer }

    /// Written once, and read by SQLite for the life of the process.
    private nonisolated(unsafe) static let layer: Layer = {
        let layer = make(name)
        sqlite3_vfs_register(layer, 1)
        return layer
    }()

    /// The system's own layer: the default one before this.
    private nonisolated(unsafe) static let system: Layer = sqlite3_vfs_find(nil)!

    fileprivate typealias Layer = UnsafeMutablePointer<sqlite3_vfs>

    private static func make(_ name: String) -> Layer {
        let layer = Layer.allocate(capacity: 1)
        layer.initialize(to: system.pointee)
        layer.pointee.zName = UnsafePointer(strdup(name))
        layer.pointee.szOsFile = max(system.pointee.szOsFile, OpenedFile.bytes)
        layer.pointee.pNext = nil
        layer.pointee.pAppData = nil
        layer.pointee.xOpen = { VirtualDiskLayer.open($0!, $1, $2!, $3, $4) }
        layer.pointee.xDelete = { VirtualDiskLayer.remove($0!, $1!, $2) }
        layer.pointee.xAccess = { VirtualDiskLayer.access($1!, $2, $3!) }
        layer.pointee.xFullPathname = { VirtualDiskLayer.fullPath($1!, $2, $3!) }
        layer.pointee.xRandomness = { VirtualDiskLayer.random($1, $2!) }
        layer.pointee.xSleep = { VirtualDiskLayer.sleep($0!, microseconds: $1) }
        return layer
    }

    // MARK: Layers of processes

    /// The layer of one process, by which SQLite's files are that process's.
    final class Own {
        private let layer: Layer
        let name: String

        init() {
            VirtualDiskLayer.register()
            layer = spare.withLock { $0.popLast() }?.layer ?? Self.more()
            name = String(cString: layer.pointee.zName)
        }

        private static func more() -> Layer {
            let number = count.withLock { count in
                count += 1
                return count
            }
            let layer = make("\(VirtualDiskLayer.name)-\(number)")
            sqlite3_vfs_register(layer, 0)
            return layer
        }

        /// Not retained: the process ends its layer.
        func begin(_ process: DiskProcess) {
            layer.pointee.pAppData = Unmanaged.passUnretained(process).toOpaque()
        }

        /// Kept for another process: SQLite may still have a pointer to it.
        func end() {
            layer.pointee.pAppData = nil
            spare.withLock { $0.append(Spare(layer: layer)) }
        }
    }

    /// A layer that no process has.
    private struct Spare: @unchecked Sendable {
        // Used by who takes it alone.
        let layer: Layer
    }

    private static let spare = Mutex<[Spare]>([])
    private static let count = Mutex(0)

    private static func owner(_ layer: Layer) -> DiskProcess? {
        layer.pointee.pAppData.map { Unmanaged<DiskProcess>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Who has a file that is on a disk.
    private static func process(_ layer: Layer, _ disk: VirtualDisk) -> DiskProcess { owner(layer) ?? disk.files }

    // MARK: What SQLite calls

    private static func open(
        _ layer: Layer, _ name: UnsafePointer<CChar>?, _ file: UnsafeMutablePointer<sqlite3_file>, _ flags: Int32,
        _ outFlags: UnsafeMutablePointer<Int32>?
    ) -> Int32 {
        file.pointee.pMethods = nil
        guard let name else { return system.pointee.xOpen(system, nil, file, flags, outFlags) }
        let path = String(cString: name)
        guard let disk = DiskRegistry.disk(of: path) else {
            return system.pointee.xOpen(system, name, file, flags, outFlags)
        }
        let process = process(layer, disk)
        let isExclusive = flags & SQLITE_OPEN_EXCLUSIVE != 0
        let access: FileAccess =
            if flags & SQLITE_OPEN_READWRITE == 0 {
                .read
            } else if flags & SQLITE_OPEN_CREATE == 0 {
                .write
            } else {
                isExclusive ? .createNew : .create
            }
        var opened = disk.open(path, access, by: process)
        var flags = flags
        // As SQLite's own layer does: what can't be written may be read.
        if case .failure(let error) = opened, error.number == EROFS, access != .read {
            flags = flags & ~(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE) | SQLITE_OPEN_READONLY
            opened = disk.open(path, .read, by: process)
        }
        guard case .success(let handle) = opened, handle.kind != .directory else { return SQLITE_CANTOPEN }
        OpenedFile.begin(
            file,
            OpenedFile(
                handle, goesOnClose: flags & SQLITE_OPEN_DELETEONCLOSE != 0,
                // As SQLite's own layer does: what stands beside a database is named durably when it is synchronised.
                namesOnSync: flags & (SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL | SQLITE_OPEN_SUPER_JOURNAL) != 0))
        outFlags?.pointee = flags
        return SQLITE_OK
    }

    private static func remove(_ layer: Layer, _ name: UnsafePointer<CChar>, _ synchronizes: Int32) -> Int32 {
        let path = String(cString: name)
        guard let disk = DiskRegistry.disk(of: path) else {
            return system.pointee.xDelete(system, name, synchronizes)
        }
        let process = process(layer, disk)
        if let error = disk.taken(path, by: process) {
            return error.number == ENOENT ? Extended.deleteNoEntry : Extended.delete
        }
        guard synchronizes != 0 else { return SQLITE_OK }
        return disk.synchronizedNames(VirtualDisk.parent(of: path), by: process) == nil
            ? SQLITE_OK : Extended.directorySync
    }

    private static func access(
        _ name: UnsafePointer<CChar>, _ flags: Int32, _ result: UnsafeMutablePointer<Int32>
    ) -> Int32 {
        let path = String(cString: name)
        guard let disk = DiskRegistry.disk(of: path) else { return system.pointee.xAccess(system, name, flags, result) }
        // As SQLite's own layer does: an empty file is as good as none.
        let status = try? disk.status(of: path).get()
        result.pointee = flags == SQLITE_ACCESS_EXISTS ? (status?.size ?? 0 > 0 ? 1 : 0) : (status == nil ? 0 : 1)
        return SQLITE_OK
    }

    private static func fullPath(
        _ name: UnsafePointer<CChar>, _ count: Int32, _ result: UnsafeMutablePointer<CChar>
    ) -> Int32 {
        guard DiskRegistry.disk(of: String(cString: name)) != nil else {
            return system.pointee.xFullPathname(system, name, count, result)
        }
        guard strlen(name) < count else { return SQLITE_CANTOPEN }
        strcpy(result, name)
        return SQLITE_OK
    }

    /// A process of its own has virtual time: it is told of, and nobody waits. Others have threads that wait for each other: who
    /// only looked again and again would give up before another that was stopped goes on.
    private static func sleep(_ layer: Layer, microseconds: Int32) -> Int32 {
        guard let owner = owner(layer) else { return system.pointee.xSleep(system, microseconds) }
        owner.disk.elapse(microseconds: Int(microseconds))
        return microseconds
    }

    private static func random(_ count: Int32, _ bytes: UnsafeMutablePointer<CChar>) -> Int32 {
        let isSeeded = randomness.withLock { generator in
            guard generator != nil else { return false }
            for index in 0..<Int(count) { bytes[index] = CChar(truncatingIfNeeded: generator!.next()) }
            return true
        }
        return isSeeded ? count : system.pointee.xRandomness(system, count, bytes)
    }
}

/// Result codes that SQLite makes of two numbers, which Swift does not import.
enum Extended {
    static let read = SQLITE_IOERR | 1 << 8
    static let shortRead = SQLITE_IOERR | 2 << 8
    static let write = SQLITE_IOERR | 3 << 8
    static let readOnlyNoMemory = SQLITE_READONLY | 5 << 8
    static let sync = SQLITE_IOERR | 4 << 8
    static let directorySync = SQLITE_IOERR | 5 << 8
    static let truncate = SQLITE_IOERR | 6 << 8
    static let size = SQLITE_IOERR | 7 << 8
    static let delete = SQLITE_IOERR | 10 << 8
    static let checkReservedLock = SQLITE_IOERR | 14 << 8
    static let lock = SQLITE_IOERR | 15 << 8
    static let sharedLock = SQLITE_IOERR | 20 << 8
    static let sharedMap = SQLITE_IOERR | 21 << 8
    static let deleteNoEntry = SQLITE_IOERR | 23 << 8
}
