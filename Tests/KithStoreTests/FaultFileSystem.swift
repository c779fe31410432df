import CSQLite
import KithSystem
import KithTestSupport

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// SQLite's own layer for files, with faults: chosen calls fail, and it is known what of each file a power cut would
/// leave. It stays registered for the life of the process.
///
/// Of a disk it supposes the worst: what was not synchronised is lost, and after a failed synchronisation it is lost even
/// if a later one succeeds, unless it was written again.
final class FaultFileSystem {
    enum Operation: Hashable, CaseIterable { case read, write, truncate, sync }

    let name: String
    /// Calls of these operations are counted; the numbers in the range fail.
    private var counted: Set<Operation> = []
    private var failing: Range<Int> = 0..<0
    private var code: Int32 = SQLITE_IOERR
    private(set) var calls = 0
    /// Called before each counted call.
    var before: (() -> Void)?
    private var disks: [String: Disk] = [:]

    private nonisolated(unsafe) static var count = 0

    init() {
        Self.count += 1
        name = "faults-\(getpid())-\(Self.count)"
        FaultFile.register(self)
    }

    /// From now on calls of the operations are counted from 0, and those in the range fail with the code.
    func fail(_ operations: Set<Operation>, _ range: Range<Int>, with code: Int32) {
        counted = operations
        failing = range
        self.code = code
        calls = 0
    }

    /// Writes to this file fail, as for want of space, whatever else is.
    func refuse(_ path: String?) { refused = path }

    private var refused: String?

    fileprivate func refuses(_ path: String) -> Bool { path == refused }

    func succeed() { fail([], 0..<0, with: SQLITE_OK) }

    fileprivate func outcome(of operation: Operation) -> Int32 {
        guard counted.contains(operation) else { return SQLITE_OK }
        before?()
        defer { calls += 1 }
        guard failing.contains(calls) else { return SQLITE_OK }
        errno = EIO
        return code
    }

    // MARK: What is durable

    private struct Disk {
        var durable: [UInt8]
        var volatile: Set<Int> = []
    }

    private static let page = 4096

    fileprivate func opened(_ path: String, _ content: () -> [UInt8]) {
        if disks[path] == nil { disks[path] = Disk(durable: content()) }
    }

    fileprivate func wrote(_ path: String, _ range: Range<Int>) {
        guard !range.isEmpty else { return }
        for page in range.lowerBound / Self.page...(range.upperBound - 1) / Self.page {
            disks[path]?.volatile.insert(page)
        }
    }

    fileprivate func synchronized(_ path: String, isDone: Bool, _ content: () -> [UInt8]) {
        guard var disk = disks[path] else { return }
        if isDone {
            let now = content()
            // What the file lost in length it has lost.
            disk.durable.removeLast(max(0, disk.durable.count - now.count))
            disk.durable += [UInt8](repeating: 0, count: now.count - disk.durable.count)
            for page in disk.volatile where page * Self.page < now.count {
                let range = page * Self.page..<min((page + 1) * Self.page, now.count)
                disk.durable.replaceSubrange(range, with: now[range])
            }
        }
        disk.volatile = []
        disks[path] = disk
    }

    /// The directory as a power cut at this moment would leave it, with those of our files that SQLite does not write.
    func afterPowerCut(of directory: TemporaryDirectory) -> TemporaryDirectory {
        let copy = TemporaryDirectory()
        for entry in directory.names() where !entry.hasSuffix("-shm") {
            let disk = disks[directory.path + "/" + entry]
            copy.write(entry, disk?.durable ?? directory.read(entry))
        }
        return copy
    }
}

/// The functions that SQLite calls. A file of ours is a pointer to the functions, one to what it is, and SQLite's own file.
private enum FaultFile {
    final class Context {
        let system: FaultFileSystem
        let path: String

        init(_ system: FaultFileSystem, _ path: String) {
            self.system = system
            self.path = path
        }
    }

    typealias File = UnsafeMutablePointer<sqlite3_file>

    private static let headBytes = 16

    static func real(_ file: File) -> File {
        (UnsafeMutableRawPointer(file) + headBytes).assumingMemoryBound(to: sqlite3_file.self)
    }

    private static func slot(_ file: File) -> UnsafeMutablePointer<Unmanaged<Context>?> {
        (UnsafeMutableRawPointer(file) + 8).assumingMemoryBound(to: Unmanaged<Context>?.self)
    }

    static func context(_ file: File) -> Context { slot(file).pointee!.takeUnretainedValue() }

    static func content(_ file: File) -> [UInt8] {
        let real = real(file)
        var size: sqlite3_int64 = 0
        guard real.pointee.pMethods.pointee.xFileSize(real, &size) == SQLITE_OK, size > 0 else { return [] }
        var bytes = [UInt8](repeating: 0, count: Int(size))
        _ = real.pointee.pMethods.pointee.xRead(real, &bytes, Int32(size), 0)
        return bytes
    }

    static func register(_ system: FaultFileSystem) {
        let base = sqlite3_vfs_find(nil)!
        let vfs = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        vfs.initialize(to: base.pointee)
        vfs.pointee.zName = UnsafePointer(strdup(system.name))
        vfs.pointee.szOsFile = Int32(headBytes) + base.pointee.szOsFile
        vfs.pointee.pAppData = Unmanaged.passRetained(system).toOpaque()
        vfs.pointee.xOpen = { vfs, name, file, flags, outFlags in
            let base = sqlite3_vfs_find(nil)!
            let system = Unmanaged<FaultFileSystem>.fromOpaque(vfs!.pointee.pAppData).takeUnretainedValue()
            let real = FaultFile.real(file!)
            real.pointee.pMethods = nil
            let code = base.pointee.xOpen(base, name, real, flags, outFlags)
            guard code == SQLITE_OK else {
                file!.pointee.pMethods = nil
                return code
            }
            let path = name.map { String(cString: $0) } ?? ""
            FaultFile.slot(file!).initialize(to: Unmanaged.passRetained(Context(system, path)))
            file!.pointee.pMethods = UnsafePointer(FaultFile.methods)
            system.opened(path) { FaultFile.content(file!) }
            return SQLITE_OK
        }
        sqlite3_vfs_register(vfs, 0)
    }

    private nonisolated(unsafe) static let methods: UnsafeMutablePointer<sqlite3_io_methods> = {
        let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
        methods.initialize(to: sqlite3_io_methods())
        methods.pointee.iVersion = 3
        changing(methods)
        passing(methods)
        sharing(methods)
        return methods
    }()

    private static func changing(_ methods: UnsafeMutablePointer<sqlite3_io_methods>) {
        methods.pointee.xClose = { file in
            let real = FaultFile.real(file!)
            let code = real.pointee.pMethods.pointee.xClose(real)
            FaultFile.slot(file!).pointee?.release()
            FaultFile.slot(file!).pointee = nil
            return code
        }
        methods.pointee.xRead = { file, bytes, count, offset in
            let code = FaultFile.context(file!).system.outcome(of: .read)
            if code != SQLITE_OK { return code }
            let real = FaultFile.real(file!)
            return real.pointee.pMethods.pointee.xRead(real, bytes, count, offset)
        }
        methods.pointee.xWrite = { file, bytes, count, offset in
            let context = FaultFile.context(file!)
            let code = context.system.refuses(context.path) ? SQLITE_FULL : context.system.outcome(of: .write)
            let real = FaultFile.real(file!)
            if code != SQLITE_OK {
                // The half of it that a full or failing disk took.
                _ = real.pointee.pMethods.pointee.xWrite(real, bytes, count / 2, offset)
                context.system.wrote(context.path, Int(offset)..<Int(offset) + Int(count / 2))
                errno = EIO
                return code
            }
            context.system.wrote(context.path, Int(offset)..<Int(offset) + Int(count))
            return real.pointee.pMethods.pointee.xWrite(real, bytes, count, offset)
        }
        methods.pointee.xTruncate = { file, size in
            let code = FaultFile.context(file!).system.outcome(of: .truncate)
            if code != SQLITE_OK { return code }
            let real = FaultFile.real(file!)
            return real.pointee.pMethods.pointee.xTruncate(real, size)
        }
        methods.pointee.xSync = { file, flags in
            let context = FaultFile.context(file!)
            let code = context.system.outcome(of: .sync)
            context.system.synchronized(context.path, isDone: code == SQLITE_OK) { FaultFile.content(file!) }
            return code
        }
    }

    private static func passing(_ methods: UnsafeMutablePointer<sqlite3_io_methods>) {
        methods.pointee.xFileSize = { file, size in
            let real = FaultFile.real(file!)
            return real.pointee.pMethods.pointee.xFileSize(real, size)
        }
        methods.pointee.xLock = { file, level in
            let real = FaultFile.real(file!)
            return real.pointee.pMethods.pointee.xLock(real, level)
        }
        methods.pointee.xUnlock = { file, level in
            let real = FaultFile.real(file!)
            return real.pointee.pMethods.pointee.xUnlock(real, level)
        }
        methods.pointee.xCheckReservedLock = { file, result in
            let real = FaultFile.real(file!)
            return real.pointee.pMethods.pointee.xCheckReservedLock(real, result)
        }
        methods.pointee.xFileControl = { file, operation, argument in
            let real = FaultFile.real(file!)
            return real.pointee.pMethods.pointee.xFileControl(real, operation, argument)
        }
        methods.pointee.xSectorSize = { file in
            let real = FaultFile.real(file!)
            return real.pointee.pMethods.pointee.xSectorSize(real)
        }
        methods.pointee.xDeviceCharacteristics = { file in
            let real = FaultFile.real(file!)
            return real.pointee.pMethods.pointee.xDeviceCharacteristics(real)
        }
    }

    private static func sharing(_ methods: UnsafeMutablePointer<sqlite3_io_methods>) {
        methods.pointee.xShmMap = { file, page, size, extend, result in
            let real = FaultFile.real(file!)
            return real.pointee.pMethods.pointee.xShmMap(real, page, size, extend, result)
        }
        methods.pointee.xShmLock = { file, offset, count, flags in
            let real = FaultFile.real(file!)
            return real.pointee.pMethods.pointee.xShmLock(real, offset, count, flags)
        }
        methods.pointee.xShmBarrier = { file in
            let real = FaultFile.real(file!)
            real.pointee.pMethods.pointee.xShmBarrier(real)
        }
        methods.pointee.xShmUnmap = { file, remove in
            let real = FaultFile.real(file!)
            return real.pointee.pMethods.pointee.xShmUnmap(real, remove)
        }
        methods.pointee.xFetch = { file, offset, count, result in
            let real = FaultFile.real(file!)
            return real.pointee.pMethods.pointee.xFetch(real, offset, count, result)
        }
        methods.pointee.xUnfetch = { file, offset, page in
            let real = FaultFile.real(file!)
            return real.pointee.pMethods.pointee.xUnfetch(real, offset, page)
        }
    }
}
