import KithCrypto
import KithDocument

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Puts one whole file in the place of a database's: what a restore, a repair or a compaction has made.
///
/// The new file is written as `NAME.sqlite3.part`. When it is whole and on disk it is renamed to `NAME.sqlite3.next` with
/// the fate of the old one behind it: that decides. What follows (putting the old file and its log aside, renaming the
/// new one) is done again by the next opening where a crash came between, so there is always the old database or the new
/// one, never none, and never the log of one beside the other.
///
/// Everything here wants the database's lock held and its connections closed.
enum FileReplacement {
    /// Where a new file is written. What is left there by a crash goes with the next opening.
    static func part(of file: DatabaseFile) -> String { file.aside("part") }

    /// Puts the file at `part` in the place of the database's.
    /// - Parameter ending: what the old file is called from then on, behind its name and a dot; nil to remove it.
    /// - Returns: where the old file is; nil where there was none or it is gone.
    static func commit(_ file: DatabaseFile, _ lock: FileLock, keeping ending: String?) throws(StoreError) -> String? {
        let part = part(of: file)
        try FileSystem.synchronize(file: part)
        let next = file.aside(nextEnding + (ending.map { "." + $0 } ?? ""))
        guard rename(part, next) == 0 else { throw failure(file, "rename", part) }
        try FileSystem.synchronize(directory: file.directory)
        try finish(file, lock)
        guard let ending, case let kept = file.aside(ending),
            FileSystem.size(of: kept) + FileSystem.size(of: kept + "-wal") > 0
        else { return nil }
        return kept
    }

    /// Finishes a replacement that was decided and did not come to its end, and removes what others left behind.
    static func recover(_ file: DatabaseFile, _ lock: FileLock) throws(StoreError) {
        try finish(file, lock)
        discardPart(of: file)
        let copies = file.asideName(Backup.copyEnding)
        for name in try FileSystem.names(in: file.directory) where name.hasPrefix(copies) {
            _ = FileSystem.remove(file.directory + "/" + name)
        }
    }

    /// Removes what is left of a file that was not finished.
    static func discardPart(of file: DatabaseFile) {
        for ending in ["", "-journal", "-wal", "-shm"] { _ = FileSystem.remove(part(of: file) + ending) }
    }

    private static let nextEnding = "next"

    private static func finish(_ file: DatabaseFile, _ lock: FileLock) throws(StoreError) {
        let prefix = file.asideName(nextEnding)
        let names = try FileSystem.names(in: file.directory)
        guard let name = names.first(where: { $0 == prefix || $0.hasPrefix(prefix + ".") }) else { return }
        let next = file.directory + "/" + name
        // What was noted of the old file's log does not hold for the new one.
        try lock.claimNothing()
        if name == prefix {
            // Not kept: the log goes first, since beside the new file it would be taken for that one's.
            guard FileSystem.remove(file.logPath) else { throw failure(file, "remove", file.logPath) }
        } else {
            let kept = file.aside(String(name.dropFirst(prefix.count + 1)))
            if rename(file.logPath, kept + "-wal") != 0, errno != ENOENT { throw failure(file, "rename", file.logPath) }
            // A second name instead of another one: so the first is never missing.
            if link(file.path, kept) != 0, errno != ENOENT, errno != EEXIST, rename(file.path, kept) != 0 {
                throw failure(file, "rename", file.path)
            }
        }
        guard FileSystem.remove(file.sharedMemoryPath) else { throw failure(file, "remove", file.sharedMemoryPath) }
        guard rename(next, file.path) == 0 else { throw failure(file, "rename", next) }
        try FileSystem.synchronize(directory: file.directory)
    }

    private static func failure(_ file: DatabaseFile, _ verb: String, _ path: String) -> StoreError {
        let error = errno
        let reason = String(cString: strerror(error))
        let code: StoreError.Code =
            error == ENOSPC || error == EDQUOT
            ? .storageFull : error == EROFS || error == EACCES ? .readOnly : .inputOutput
        return StoreError(
            code, file.name.string,
            "can't \(verb) \(StoreError.shortened(path, to: Limits.pathCharacters)): \(reason)")
    }

    /// The databases of a directory whose replacement was decided and not finished, by the names of their files.
    static func undecided(among names: [String]) -> [DatabaseName] {
        names.compactMap { name in
            guard let range = name.utf8.firstRange(of: Array((DatabaseFile.suffix + "." + nextEnding).utf8)) else {
                return nil
            }
            return try? DatabaseName(String(decoding: name.utf8[..<range.lowerBound], as: UTF8.self))
        }
    }
}

extension DatabaseFile {
    /// A file beside the database's own: `NAME.sqlite3.ENDING`.
    func aside(_ ending: String) -> String { directory + "/" + asideName(ending) }

    /// The name of such a file. Of a very long name the beginning stands there and a hash.
    func asideName(_ ending: String) -> String {
        let bytes = Array(name.string.utf8)
        var base = name.string
        if bytes.count > Limits.nameBytesAside {
            let hash = Hex.encode(SHA256.hash(bytes).bytes.prefix(8))
            base = String(decoding: bytes.prefix(Limits.nameBytesAside - 17), as: UTF8.self) + "~" + hash
        }
        return base + Self.suffix + "." + ending
    }
}
