import KithStore
import KithSystem
import KithTestSupport
import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A disk in memory with one directory, for SQLite and for all that the store does beside it. Any call can be made to
/// fail, to be lost, to go astray, or to be the last one before the power goes; and it is known what a power cut leaves.
///
/// Of a real disk it supposes the worst that file systems allow: see `FileContent` and `DiskNames`.
///
/// `@unchecked Sendable`: everything mutable is read and written with `mutex` held, and it is not held while `plan` is
/// asked.
package final class VirtualDisk: @unchecked Sendable {
    /// The directory. Paths under it are on this disk, for every connection of SQLite in this process.
    package let directory: String

    private let mutex = Mutex(())
    private var names = DiskNames()
    private var nextNumber: UInt64 = 1
    private var plannedOutcome: ((DiskCall) -> DiskOutcome)?
    private var changeCount = 0
    private var power: UInt64 = 0
    private var isOff = false
    private var room: Int?

    package init() {
        directory = Registry.nextDirectory()
        Registry.add(self)
    }

    /// Takes the disk out of reach of SQLite. Nothing may have a file of it open.
    package func discard() { Registry.remove(self) }

    private func locked<Value>(_ body: () -> Value) -> Value { mutex.withLock { _ in body() } }

    // MARK: Faults

    /// Says what becomes of each call; nil for no faults. Asked on the thread that calls.
    package var plan: ((DiskCall) -> DiskOutcome)? {
        get { locked { plannedOutcome } }
        set { locked { plannedOutcome = newValue } }
    }

    /// How many changes were asked for so far, those that failed among them.
    package var changes: Int { locked { changeCount } }

    /// The bytes that fit; nil for as many as are wanted.
    package var capacity: Int? {
        get { locked { room } }
        set { locked { room = newValue } }
    }

    /// The power goes and comes back: everything that was open is gone, and what nobody had synchronised may be.
    package func cutPower(_ survival: Survival, _ generator: inout SeededGenerator) {
        mutex.withLock { _ in
            names = names.afterPowerCut(survival, &generator)
            power += 1
            isOff = false
        }
    }

    /// A disk of its own with what programs see on this one now: a backup, a copied machine, a point to return to.
    package func copied() -> VirtualDisk {
        let copy = VirtualDisk()
        let (names, number) = locked { (self.names.copied(), nextNumber) }
        copy.take(names.renamed(from: directory, to: copy.directory), number)
        return copy
    }

    /// Puts back what another disk holds: a restored backup, or a machine that was rolled back. Nothing stays open.
    package func restore(_ other: VirtualDisk) {
        let (names, number) = other.locked { (other.names.copied(), other.nextNumber) }
        take(names.renamed(from: other.directory, to: directory), number)
    }

    private func take(_ names: DiskNames, _ number: UInt64) {
        locked {
            self.names = names
            nextNumber = max(nextNumber, number)
            power += 1
            isOff = false
        }
    }

    /// Changes bytes of a file behind everybody's back.
    package func rot(_ path: String, _ range: Range<Int>, _ change: (inout UInt8) -> Void) {
        locked { names[path]?.content.rot(range, change) }
    }

    // MARK: Calls

    /// Asks what becomes of a call.
    /// - Returns: the outcome, or that the power is off.
    private func outcome(_ operation: DiskCall.Operation, _ path: String, _ range: Range<Int> = 0..<0) -> DiskOutcome {
        let (call, plan) = locked {
            let call = DiskCall(operation: operation, path: path, range: range, change: changeCount)
            if operation.isChange { changeCount += 1 }
            return (call, isOff ? { _ in .failed(EIO) } : plannedOutcome)
        }
        let outcome = plan?(call) ?? .done
        guard case .powerGoes = outcome else { return outcome }
        locked { isOff = true }
        return .failed(EIO)
    }

    /// Opens a file.
    /// - Returns: a handle, or the error.
    func open(_ path: String, creates: Bool, exclusively: Bool = false) -> Result<DiskHandle, SystemError> {
        let isThere = locked { names[path] != nil }
        if isThere, creates, exclusively { return .failure(SystemError(EEXIST)) }
        guard isThere || creates else { return .failure(SystemError(ENOENT)) }
        if case .failed(let error) = outcome(isThere ? .open : .create, path) { return .failure(SystemError(error)) }
        return locked {
            if let file = names[path] { return .success(DiskHandle(self, file, path, power)) }
            let file = makeFile()
            names.give(path, file)
            return .success(DiskHandle(self, file, path, power))
        }
    }

    /// Opens a file without a name.
    func openUnnamed() -> DiskHandle { locked { DiskHandle(self, makeFile(), "", power) } }

    private func makeFile() -> DiskFile {
        defer { nextNumber += 1 }
        return DiskFile(number: nextNumber)
    }

    /// Whether a handle is of the time before a power cut.
    private func isPast(_ handle: DiskHandle) -> Bool { handle.power != power }

    /// Reads up to `count` bytes into memory.
    /// - Returns: how many; or the error.
    func read(_ handle: DiskHandle, into target: UnsafeMutableRawBufferPointer, at offset: Int) -> Result<
        Int, SystemError
    > {
        if case .failed(let error) = outcome(.read, handle.path, offset..<offset + target.count) {
            return .failure(SystemError(error))
        }
        return locked {
            guard !isPast(handle) else { return .failure(SystemError(EIO)) }
            let bytes = handle.file.content.bytes
            let end = min(bytes.count, offset + target.count)
            guard offset < end else { return .success(0) }
            bytes.withUnsafeBytes { target.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[offset..<end])) }
            return .success(end - offset)
        }
    }

    /// Writes bytes.
    /// - Returns: the error; nil for none.
    func write(_ handle: DiskHandle, _ bytes: [UInt8], at offset: Int) -> SystemError? {
        let outcome = outcome(.write, handle.path, offset..<offset + bytes.count)
        return locked {
            guard !isPast(handle) else { return SystemError(EIO) }
            switch outcome {
            case .pretended: return nil
            case .misdirected(let place): put(bytes, at: place, of: handle.file)
            case .failed(let error):
                if !isOff { put(Array(bytes.prefix(bytes.count / 2)), at: offset, of: handle.file) }
                return SystemError(error)
            case .done, .powerGoes:
                let growth = max(0, offset + bytes.count - handle.file.content.bytes.count)
                if let room, growth > 0, used + growth > room {
                    put(Array(bytes.prefix(max(0, room - used))), at: offset, of: handle.file)
                    return SystemError(ENOSPC)
                }
                put(bytes, at: offset, of: handle.file)
            }
            return nil
        }
    }

    private func put(_ bytes: [UInt8], at offset: Int, of file: DiskFile) {
        guard !bytes.isEmpty else { return }
        file.content.write(bytes, at: offset)
        file.version += 1
    }

    /// The bytes of all files that have a name.
    private var used: Int {
        var seen: Set<UInt64> = []
        return names.current.values.reduce(0) { seen.insert($1.number).inserted ? $0 + $1.content.bytes.count : $0 }
    }

    /// The bytes that are used, and those that fit.
    package var space: (used: Int, total: Int?) { locked { (used, room) } }

    func resize(_ handle: DiskHandle, to size: Int) -> SystemError? {
        change(handle, .resize) { $0.content.resize(to: size) }
    }

    func synchronize(_ handle: DiskHandle) -> SystemError? {
        let outcome = outcome(.synchronize, handle.path)
        return locked {
            guard !isPast(handle) else { return SystemError(EIO) }
            switch outcome {
            case .failed(let error):
                if !isOff { handle.file.content.loseWaiting() }
                return SystemError(error)
            case .pretended: return nil
            case .done, .powerGoes, .misdirected: handle.file.content.synchronize()
            }
            return nil
        }
    }

    private func change(
        _ handle: DiskHandle, _ operation: DiskCall.Operation, _ body: (DiskFile) -> Void
    ) -> SystemError? {
        let outcome = outcome(operation, handle.path)
        return locked {
            guard !isPast(handle) else { return SystemError(EIO) }
            if case .failed(let error) = outcome { return SystemError(error) }
            if case .pretended = outcome { return nil }
            body(handle.file)
            handle.file.version += 1
            return nil
        }
    }

    // MARK: Names

    package func exists(_ path: String) -> Bool { locked { names[path] != nil } }

    /// The content of a file as programs see it; nil where there is none.
    package func content(of path: String) -> [UInt8]? { locked { names[path]?.content.bytes } }

    /// Makes a file with that content, durably and without a call that could fail: what was there before.
    package func put(_ path: String, _ bytes: [UInt8]) {
        locked {
            let file = makeFile()
            file.content = FileContent(durable: bytes)
            names.give(path, file)
            names.synchronize()
        }
    }

    /// The number of a file, its size and how often it was changed; nil where there is none.
    func status(of path: String) -> (number: UInt64, size: Int, version: UInt64)? {
        locked { names[path].map { ($0.number, $0.content.bytes.count, $0.version) } }
    }

    /// The names in the directory, in byte order.
    package func list() -> [String] {
        locked {
            names.current.keys.map { String($0.dropFirst(directory.count + 1)) }
                .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        }
    }

    func taken(_ path: String) -> SystemError? {
        name(.remove, path) {
            guard names[path] != nil else { return SystemError(ENOENT) }
            names.remove(path)
            return nil
        }
    }

    func moved(_ path: String, to other: String) -> SystemError? {
        name(.rename, path) {
            guard names[path] != nil else { return SystemError(ENOENT) }
            names.move(path, to: other)
            return nil
        }
    }

    func linked(_ path: String, to other: String) -> SystemError? {
        name(.link, path) {
            guard let file = names[path] else { return SystemError(ENOENT) }
            guard names[other] == nil else { return SystemError(EEXIST) }
            names.give(other, file)
            return nil
        }
    }

    func synchronizedNames() -> SystemError? {
        name(.synchronizeDirectory, directory) {
            names.synchronize()
            return nil
        }
    }

    private func name(
        _ operation: DiskCall.Operation, _ path: String, _ body: () -> SystemError?
    ) -> SystemError? {
        switch outcome(operation, path) {
        case .failed(let error): SystemError(error)
        case .pretended: nil
        case .done, .powerGoes, .misdirected: locked(body)
        }
    }

    // MARK: Locks

    /// Takes the lock of a whole file for a handle, as `flock` does.
    /// - Returns: whether nobody else has it.
    func own(_ handle: DiskHandle) -> Bool {
        locked {
            let id = ObjectIdentifier(handle)
            guard !isPast(handle), (handle.file.owner ?? id) == id else { return false }
            handle.file.owner = id
            return true
        }
    }

    /// Runs something on a file with nobody else at it.
    func using<Value>(_ handle: DiskHandle, _ body: (DiskFile) -> Value) -> Value { locked { body(handle.file) } }

    /// Whether a handle's file still has its name.
    func hasMoved(_ handle: DiskHandle) -> Bool { locked { names[handle.path] !== handle.file } }
}

/// An open file of a virtual disk.
///
/// `@unchecked Sendable`: nothing varies but the file, which the disk's lock protects.
final class DiskHandle: @unchecked Sendable {
    let disk: VirtualDisk
    let file: DiskFile
    let path: String
    fileprivate let power: UInt64

    fileprivate init(_ disk: VirtualDisk, _ file: DiskFile, _ path: String, _ power: UInt64) {
        self.disk = disk
        self.file = file
        self.path = path
        self.power = power
    }

    deinit {
        let id = ObjectIdentifier(self)
        disk.using(self) { file in
            file.holders[id] = nil
            file.leaveShared(id)
            if file.owner == id { file.owner = nil }
        }
    }
}

/// The disks of this process by their directories.
enum Registry {
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
