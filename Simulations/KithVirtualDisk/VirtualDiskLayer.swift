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
    private nonisolated(unsafe) static let layer: UnsafeMutablePointer<sqlite3_vfs> = {
        let layer = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        layer.initialize(to: system.pointee)
        layer.pointee.zName = UnsafePointer(strdup(name))
        layer.pointee.szOsFile = max(system.pointee.szOsFile, OpenedFile.bytes)
        layer.pointee.pNext = nil
        layer.pointee.xOpen = { _, name, file, flags, outFlags in open(name, file!, flags, outFlags) }
        layer.pointee.xDelete = { _, name, synchronizes in remove(name!, synchronizes) }
        layer.pointee.xAccess = { _, name, flags, result in access(name!, flags, result!) }
        layer.pointee.xFullPathname = { _, name, count, result in fullPath(name!, count, result!) }
        layer.pointee.xRandomness = { _, count, bytes in random(count, bytes!) }
        layer.pointee.xSleep = { _, microseconds in microseconds }
        sqlite3_vfs_register(layer, 1)
        return layer
    }()

    /// The system's own layer: the default one before this.
    private nonisolated(unsafe) static let system: UnsafeMutablePointer<sqlite3_vfs> = sqlite3_vfs_find(nil)!

    private static func open(
        _ name: UnsafePointer<CChar>?, _ file: UnsafeMutablePointer<sqlite3_file>, _ flags: Int32,
        _ outFlags: UnsafeMutablePointer<Int32>?
    ) -> Int32 {
        file.pointee.pMethods = nil
        guard let name else { return system.pointee.xOpen(system, nil, file, flags, outFlags) }
        let path = String(cString: name)
        guard let disk = Registry.disk(of: path) else {
            return system.pointee.xOpen(system, name, file, flags, outFlags)
        }
        let opened = disk.open(
            path, creates: flags & SQLITE_OPEN_CREATE != 0, exclusively: flags & SQLITE_OPEN_EXCLUSIVE != 0)
        guard case .success(let handle) = opened else { return SQLITE_CANTOPEN }
        OpenedFile.begin(
            file,
            OpenedFile(
                handle, goesOnClose: flags & SQLITE_OPEN_DELETEONCLOSE != 0,
                // As SQLite's own layer does: what stands beside a database is named durably when it is synchronised.
                namesOnSync: flags & (SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL | SQLITE_OPEN_SUPER_JOURNAL) != 0))
        outFlags?.pointee = flags
        return SQLITE_OK
    }

    private static func remove(_ name: UnsafePointer<CChar>, _ synchronizes: Int32) -> Int32 {
        guard let disk = Registry.disk(of: String(cString: name)) else {
            return system.pointee.xDelete(system, name, synchronizes)
        }
        if let error = disk.taken(String(cString: name)) {
            return error.number == ENOENT ? Extended.deleteNoEntry : Extended.delete
        }
        return synchronizes == 0 || disk.synchronizedNames() == nil ? SQLITE_OK : Extended.directorySync
    }

    private static func access(
        _ name: UnsafePointer<CChar>, _ flags: Int32, _ result: UnsafeMutablePointer<Int32>
    ) -> Int32 {
        let path = String(cString: name)
        guard let disk = Registry.disk(of: path) else { return system.pointee.xAccess(system, name, flags, result) }
        // As SQLite's own layer does: an empty file is as good as none.
        let status = disk.status(of: path)
        result.pointee = flags == SQLITE_ACCESS_EXISTS ? (status?.size ?? 0 > 0 ? 1 : 0) : (status == nil ? 0 : 1)
        return SQLITE_OK
    }

    private static func fullPath(
        _ name: UnsafePointer<CChar>, _ count: Int32, _ result: UnsafeMutablePointer<CChar>
    ) -> Int32 {
        guard Registry.disk(of: String(cString: name)) != nil else {
            return system.pointee.xFullPathname(system, name, count, result)
        }
        guard strlen(name) < count else { return SQLITE_CANTOPEN }
        strcpy(result, name)
        return SQLITE_OK
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
    static let sync = SQLITE_IOERR | 4 << 8
    static let directorySync = SQLITE_IOERR | 5 << 8
    static let truncate = SQLITE_IOERR | 6 << 8
    static let delete = SQLITE_IOERR | 10 << 8
    static let deleteNoEntry = SQLITE_IOERR | 23 << 8
}
