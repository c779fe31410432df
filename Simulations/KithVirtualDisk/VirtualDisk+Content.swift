import CSQLite
import KithSystem

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

// What is done with open files.

extension VirtualDisk {
    /// Opens a file.
    /// - Returns: a handle, or the error.
    func open(_ path: String, _ access: FileAccess, by process: DiskProcess) -> Result<DiskHandle, SystemError> {
        let creates = access == .create || access == .createNew
        let found = locked { names.find(path) }
        switch found {
        case .success(let entry):
            if access == .createNew { return .failure(SystemError(EEXIST)) }
            if entry.directory != nil, access != .read { return .failure(SystemError(EISDIR)) }
        case .failure(let error):
            guard creates, error.number == ENOENT else { return .failure(error) }
        }
        let isThere = (try? found.get()) != nil
        switch ask(process, isThere ? .open : .create, path) {
        case nil: return .failure(SystemError(EIO))
        case .failed(let error): return .failure(SystemError(error))
        default: break
        }
        if isThere, access != .read, refuses { return .failure(SystemError(EROFS)) }
        return locked { opened(path, access, process) }
    }

    private func opened(
        _ path: String, _ access: FileAccess, _ process: DiskProcess
    ) -> Result<DiskHandle, SystemError> {
        let handle = { DiskHandle(process, $0, path, $1, self.power) }
        switch names.find(path) {
        case .success(.file(let file)): return .success(handle(file, access == .read ? .read : .write))
        case .success(.directory(let directory)): return .success(handle(directory.file, .directory))
        case .failure:
            return names.place(path).map { place in
                let file = DiskFile(number: nextFileNumber())
                names.give(place, .file(file))
                return handle(file, .write)
            }
        }
    }

    /// Reads up to `count` bytes into memory.
    /// - Returns: how many; or the error.
    func read(
        _ handle: DiskHandle, into target: UnsafeMutableRawBufferPointer, at offset: Int
    ) -> Result<Int, SystemError> {
        switch ask(handle.process, .read, handle.path, of: handle, offset..<offset + target.count) {
        case nil: return .failure(SystemError(EIO))
        case .failed(let error): return .failure(SystemError(error))
        default: break
        }
        guard handle.kind != .directory else { return .failure(SystemError(EISDIR)) }
        return locked {
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
        guard !bytes.isEmpty else { return nil }
        guard handle.kind == .write else { return SystemError(EBADF) }
        guard let outcome = ask(handle.process, .write, handle.path, of: handle, offset..<offset + bytes.count) else {
            return SystemError(EIO)
        }
        return locked {
            switch outcome {
            case .pretended: return nil
            case .misdirected(let place): put(bytes, at: place, of: handle.file)
            case .failed(let error):
                if error != EROFS { put(Array(bytes.prefix(bytes.count / 2)), at: offset, of: handle.file) }
                return SystemError(error)
            case .done, .delayed, .powerGoes:
                let growth = max(0, offset + bytes.count - handle.file.content.bytes.count)
                if let room, growth > 0, used + growth > room {
                    let fits = max(0, min(bytes.count, room - used + bytes.count - growth))
                    put(Array(bytes.prefix(fits)), at: offset, of: handle.file)
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
    var used: Int { names.files.reduce(0) { $0 + $1.content.bytes.count } }

    /// The bytes that are used, and those that fit.
    package var space: (used: Int, total: Int?) { locked { (used, room) } }

    func resize(_ handle: DiskHandle, to size: Int) -> SystemError? {
        guard let outcome = ask(handle.process, .resize, handle.path, of: handle) else { return SystemError(EIO) }
        return locked {
            if case .failed(let error) = outcome { return SystemError(error) }
            if case .pretended = outcome { return nil }
            handle.file.content.resize(to: size)
            handle.file.version += 1
            return nil
        }
    }

    func synchronize(_ handle: DiskHandle) -> SystemError? {
        guard let outcome = ask(handle.process, .synchronize, handle.path, of: handle) else { return SystemError(EIO) }
        return locked {
            switch outcome {
            case .failed(let error):
                handle.file.content.loseWaiting(&coin)
                return SystemError(error)
            case .pretended: break
            case .done, .delayed, .powerGoes, .misdirected:
                handle.file.content.synchronize()
                if handle.kind == .directory, let directory = names[handle.path]?.directory {
                    names.synchronize(directory)
                }
            }
            return nil
        }
    }

    /// The size of an open file; nil where nothing comes of the handle any more.
    func size(_ handle: DiskHandle) -> Int? {
        locked { isPast(handle) ? nil : handle.file.content.bytes.count }
    }

    // MARK: Shared memory

    /// Joins the memory that is shared beside a file, and makes the name that stands for it. What a file of that name
    /// holds from before counts for nothing: who comes first begins anew.
    /// - Returns: the memory, or SQLite's code.
    func joinShared(_ handle: DiskHandle) -> (memory: SharedMemory?, code: Int32) {
        let path = handle.path + VirtualDisk.sharedMemory
        let (shared, isNamed) = locked { (isPast(handle) ? nil : handle.file.shared, names[path] != nil) }
        if let shared { return (shared, SQLITE_OK) }
        if !isNamed || refuses {
            switch ask(handle.process, .create, path, of: handle) {
            case nil, .failed: return (nil, isNamed ? Extended.readOnlyNoMemory : SQLITE_CANTOPEN)
            default: break
            }
        }
        return locked {
            if names[path] == nil, let place = try? names.place(path).get() {
                names.give(place, .file(DiskFile(number: nextFileNumber())))
            }
            let shared = SharedMemory()
            handle.file.shared = shared
            return (shared, SQLITE_OK)
        }
    }

    /// Notes how large the memory beside a file is.
    func sizeShared(_ handle: DiskHandle, _ bytes: Int) {
        locked { names[handle.path + VirtualDisk.sharedMemory]?.file?.content.resize(to: bytes) }
    }

    /// Leaves the memory; the last one may take the name away.
    func leaveShared(_ handle: DiskHandle, removes: Bool) {
        let isLast = using(handle) { file in
            let had = file.shared != nil
            file.leaveShared(ObjectIdentifier(handle))
            return had && file.shared == nil
        }
        if removes, isLast == true { _ = taken(handle.path + VirtualDisk.sharedMemory, by: handle.process) }
    }

    private static let sharedMemory = "-shm"

    // MARK: Locks

    /// Takes the lock of a whole file for a handle, as `flock` does.
    /// - Returns: whether nobody else has it.
    func own(_ handle: DiskHandle) -> Result<Bool, SystemError> {
        locked {
            guard !isPast(handle) else { return .failure(SystemError(EIO)) }
            let id = ObjectIdentifier(handle)
            if let owner = handle.file.owner, owner != id { return .success(false) }
            handle.file.owner = id
            return .success(true)
        }
    }

    /// Runs something on a file with nobody else at it; nil where nothing comes of the handle any more.
    func using<Value>(_ handle: DiskHandle, _ body: (DiskFile) -> Value) -> Value? {
        locked { isPast(handle) ? nil : body(handle.file) }
    }

    /// Whether a handle's file is not what its name stands for.
    func hasMoved(_ handle: DiskHandle) -> Bool { locked { names[handle.path]?.file !== handle.file } }
}
