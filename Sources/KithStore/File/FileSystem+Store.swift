import KithSystem

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

// What the store makes of a file system's calls.
extension FileSystem {
    /// The size of a file in bytes; 0 where there is none.
    func size(of path: String) -> Int { stamp(of: path).map { Int($0.size) } ?? 0 }

    /// Which file a name stands for at the moment; nil where there is none.
    func identity(of path: String) -> FileIdentity? { stamp(of: path)?.identity }

    /// The first bytes of a file, as far as it has them. Nobody may have it open by SQLite: see `synchronize`.
    func head(of path: String, _ count: Int) -> [UInt8] {
        (try? open(path, .read).read(count, at: 0)) ?? []
    }

    /// Makes a file without content that only this user may read, in the place of one that is there.
    func makePrivate(_ path: String) -> Bool {
        discard(path) && (try? open(path, .createNew)) != nil
    }

    /// Removes what SQLite may have left of a file that was not finished, and the file.
    func discardDatabase(_ path: String) {
        for end in ["", "-wal", "-shm", "-journal"] { discard(path + end) }
    }

    /// Refuses a directory on a network file system: a database would be damaged there some day.
    func requireLocal(_ directory: String) throws(StoreError) {
        guard let name = networkName(of: directory) else { return }
        throw StoreError(
            .networkFileSystem, directory,
            "\(StoreError.shortened(directory, to: Limits.pathCharacters)) is on a network file system (\(name)): "
                + "use a directory on a disk of this machine")
    }

    /// Makes the content of a file durable. Nobody may have it open by SQLite: closing it here would end that one's locks.
    func requireDurable(file: String) throws(StoreError) {
        try require("open", file) { () throws(SystemError) in try open(file, .write).synchronize() }
    }

    /// Makes the names in a directory durable.
    func requireDurable(directory: String) throws(StoreError) {
        try require("synchronise", directory) { () throws(SystemError) in try synchronize(directory: directory) }
    }

    /// Gives a file another name, in the place of what had it.
    func requireRenamed(_ path: String, to other: String) throws(StoreError) {
        try require("rename", path) { () throws(SystemError) in try rename(path, to: other) }
    }

    /// Removes a file that may not be there.
    func requireRemoved(_ path: String) throws(StoreError) {
        do throws(SystemError) { try remove(path) } catch {
            if error.number != ENOENT { throw StoreError("remove", path, error) }
        }
    }

    /// The names in a directory, in byte order.
    func names(in directory: String) throws(StoreError) -> [String] {
        try require("read", directory) { () throws(SystemError) in
            try list(directory).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        }
    }

    /// Runs calls on a file; what the system gives is told as the store's error.
    /// - Parameter what: what can't be done with the file then: `open`.
    func require<Value>(
        _ what: String, _ path: String, _ body: () throws(SystemError) -> Value
    ) throws(StoreError) -> Value {
        do throws(SystemError) { return try body() } catch { throw StoreError(what, path, error) }
    }
}

extension StoreError {
    /// What a call on a file that gave an error of the system means for the store.
    /// - Parameter what: what could not be done with the file: `open`.
    init(_ what: String, _ path: String, _ error: SystemError) {
        let code: StoreError.Code =
            switch error.number {
            case ENOSPC, EDQUOT: .storageFull
            case EROFS, EACCES, EPERM: .readOnly
            case EIO: .inputOutput
            default: .cannotOpen
            }
        self.init(
            code, path, "can't \(what) \(StoreError.shortened(path, to: Limits.pathCharacters)): \(error.reason)")
    }
}
