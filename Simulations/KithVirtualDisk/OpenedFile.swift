import CSQLite
import KithStore
import KithSystem

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A file as SQLite holds it: the pointer to its functions, and behind it one to this.
final class OpenedFile {
    let handle: DiskHandle
    private let goesOnClose: Bool
    private var namesOnSync: Bool
    /// What SQLite has pointers into, whatever becomes of the file.
    private var mapped: SharedMemory?

    init(_ handle: DiskHandle, goesOnClose: Bool, namesOnSync: Bool) {
        self.handle = handle
        self.goesOnClose = goesOnClose
        self.namesOnSync = namesOnSync
    }

    // MARK: As SQLite sees it

    typealias File = UnsafeMutablePointer<sqlite3_file>

    static let bytes = Int32(MemoryLayout<sqlite3_file>.stride + MemoryLayout<Unmanaged<OpenedFile>?>.stride)

    private static func slot(_ file: File) -> UnsafeMutablePointer<Unmanaged<OpenedFile>?> {
        (UnsafeMutableRawPointer(file) + MemoryLayout<sqlite3_file>.stride)
            .assumingMemoryBound(to: Unmanaged<OpenedFile>?.self)
    }

    static func begin(_ file: File, _ opened: OpenedFile) {
        slot(file).initialize(to: Unmanaged.passRetained(opened))
        file.pointee.pMethods = UnsafePointer(methods)
    }

    private static func of(_ file: File?) -> OpenedFile { slot(file!).pointee!.takeUnretainedValue() }

    /// Written once, and read by SQLite for the life of the process.
    private nonisolated(unsafe) static let methods: UnsafeMutablePointer<sqlite3_io_methods> = {
        let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
        methods.initialize(to: sqlite3_io_methods())
        methods.pointee.iVersion = 2
        methods.pointee.xClose = { OpenedFile.close($0!) }
        methods.pointee.xRead = { of($0).read($1!, Int($2), Int($3)) }
        methods.pointee.xWrite = { of($0).write($1!, Int($2), Int($3)) }
        methods.pointee.xTruncate = { of($0).truncate(Int($1)) }
        methods.pointee.xSync = { file, _ in of(file).synchronize() }
        methods.pointee.xFileSize = { file, size in
            guard let bytes = of(file).using({ $0.content.bytes.count }) else { return Extended.size }
            size!.pointee = Int64(bytes)
            return SQLITE_OK
        }
        methods.pointee.xLock = { of($0).lock($1) }
        methods.pointee.xUnlock = { of($0).unlock($1) }
        methods.pointee.xCheckReservedLock = { file, result in
            let isReserved = of(file).using { $0.holders.values.contains { $0 >= SQLITE_LOCK_RESERVED } }
            guard let isReserved else { return Extended.checkReservedLock }
            result!.pointee = isReserved ? 1 : 0
            return SQLITE_OK
        }
        methods.pointee.xFileControl = { of($0).control($1, $2) }
        methods.pointee.xSectorSize = { _ in 4096 }
        // A write that is torn leaves its neighbours as they are: what SQLite's own layer says of the system's disks.
        methods.pointee.xDeviceCharacteristics = { _ in SQLITE_IOCAP_POWERSAFE_OVERWRITE }
        methods.pointee.xShmMap = { of($0).map(Int($1), Int($2), makes: $3 != 0, $4!) }
        methods.pointee.xShmLock = { of($0).lockShared(Int($1), Int($2), $3) }
        methods.pointee.xShmBarrier = { _ in }
        methods.pointee.xShmUnmap = { of($0).unmap(removes: $1 != 0) }
        return methods
    }()

    private static func close(_ file: File) -> Int32 {
        let opened = slot(file).pointee!.takeRetainedValue()
        slot(file).pointee = nil
        let handle = opened.handle
        if opened.goesOnClose { _ = handle.disk.taken(handle.path, by: handle.process) }
        return SQLITE_OK
    }

    /// Nil where nothing comes of the handle any more.
    private func using<Value>(_ body: (DiskFile) -> Value) -> Value? { handle.disk.using(handle, body) }

    // MARK: Content

    private func read(_ target: UnsafeMutableRawPointer, _ count: Int, _ offset: Int) -> Int32 {
        let buffer = UnsafeMutableRawBufferPointer(start: target, count: count)
        guard case .success(let done) = handle.disk.read(handle, into: buffer, at: offset) else { return Extended.read }
        guard done < count else { return SQLITE_OK }
        buffer[done...].initializeMemory(as: UInt8.self, repeating: 0)
        return Extended.shortRead
    }

    private func write(_ bytes: UnsafeRawPointer, _ count: Int, _ offset: Int) -> Int32 {
        let error = handle.disk.write(handle, Array(UnsafeRawBufferPointer(start: bytes, count: count)), at: offset)
        return error.map { $0.number == ENOSPC ? SQLITE_FULL : Extended.write } ?? SQLITE_OK
    }

    private func truncate(_ size: Int) -> Int32 {
        handle.disk.resize(handle, to: size) == nil ? SQLITE_OK : Extended.truncate
    }

    private func synchronize() -> Int32 {
        guard handle.disk.synchronize(handle) == nil else { return Extended.sync }
        if namesOnSync {
            let directory = VirtualDisk.parent(of: handle.path)
            guard handle.disk.synchronizedNames(directory, by: handle.process) == nil else {
                return Extended.directorySync
            }
            namesOnSync = false
        }
        return SQLITE_OK
    }

    private func control(_ operation: Int32, _ argument: UnsafeMutableRawPointer?) -> Int32 {
        guard operation == SQLITE_FCNTL_HAS_MOVED, let argument else { return SQLITE_NOTFOUND }
        argument.assumingMemoryBound(to: Int32.self).pointee = handle.disk.hasMoved(handle) ? 1 : 0
        return SQLITE_OK
    }

    // MARK: Locks

    private func lock(_ level: Int32) -> Int32 {
        let id = ObjectIdentifier(handle)
        let code = using { file in
            let own = file.holders[id] ?? SQLITE_LOCK_NONE
            guard level > own else { return SQLITE_OK }
            let most = file.holders.reduce(SQLITE_LOCK_NONE) { $1.key == id ? $0 : max($0, $1.value) }
            switch level {
            case SQLITE_LOCK_SHARED:
                guard most < SQLITE_LOCK_PENDING else { return SQLITE_BUSY }
            case SQLITE_LOCK_RESERVED:
                guard most < SQLITE_LOCK_RESERVED else { return SQLITE_BUSY }
            default:
                guard most < SQLITE_LOCK_RESERVED else { return SQLITE_BUSY }
                guard most == SQLITE_LOCK_NONE else {
                    file.holders[id] = SQLITE_LOCK_PENDING
                    return SQLITE_BUSY
                }
            }
            file.holders[id] = level
            return SQLITE_OK
        }
        return code ?? Extended.lock
    }

    private func unlock(_ level: Int32) -> Int32 {
        _ = using { $0.holders[ObjectIdentifier(handle)] = level == SQLITE_LOCK_NONE ? nil : level }
        return SQLITE_OK
    }

    // MARK: Shared memory

    private func map(
        _ region: Int, _ bytes: Int, makes: Bool,
        _ result: UnsafeMutablePointer<UnsafeMutableRawPointer?>
    ) -> Int32 {
        let (shared, code) = handle.disk.joinShared(handle)
        guard let shared else { return code }
        mapped = shared
        let (pointer, size) =
            using { _ in
                (shared.region(region, bytes: bytes, makes: makes, for: ObjectIdentifier(handle)), shared.count * bytes)
            } ?? (nil, 0)
        result.pointee = pointer
        if makes, pointer != nil { handle.disk.sizeShared(handle, size) }
        return SQLITE_OK
    }

    private func lockShared(_ first: Int, _ count: Int, _ flags: Int32) -> Int32 {
        let id = ObjectIdentifier(handle)
        let isDone = using { $0.shared?.lock(first..<first + count, flags, by: id) ?? true }
        return isDone.map { $0 ? SQLITE_OK : SQLITE_BUSY } ?? Extended.sharedLock
    }

    private func unmap(removes: Bool) -> Int32 {
        handle.disk.leaveShared(handle, removes: removes)
        mapped = nil
        return SQLITE_OK
    }
}
