import KithCrypto
import KithDocument
import KithSystem

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
        try file.fileSystem.requireDurable(file: part)
        let next = file.aside(nextEnding + (ending.map { "." + $0 } ?? ""))
        try file.fileSystem.requireRenamed(part, to: next)
        try file.fileSystem.requireDurable(directory: file.directory)
        try finish(file, lock)
        guard let ending, case let kept = file.aside(ending),
            file.fileSystem.size(of: kept) + file.fileSystem.size(of: kept + "-wal") > 0
        else { return nil }
        return kept
    }

    /// Finishes a replacement that was decided and did not come to its end, and removes what others left behind.
    static func recover(_ file: DatabaseFile, _ lock: FileLock) throws(StoreError) {
        try finish(file, lock)
        discardPart(of: file)
        let copies = file.asideName(Backup.copyEnding)
        for name in try file.fileSystem.names(in: file.directory) where name.hasPrefix(copies) {
            file.fileSystem.discard(file.directory + "/" + name)
        }
    }

    /// Removes what is left of a file that was not finished.
    static func discardPart(of file: DatabaseFile) {
        file.fileSystem.discardDatabase(part(of: file))
    }

    private static let nextEnding = "next"

    private static func finish(_ file: DatabaseFile, _ lock: FileLock) throws(StoreError) {
        let prefix = file.asideName(nextEnding)
        let names = try file.fileSystem.names(in: file.directory)
        guard let name = names.first(where: { $0 == prefix || $0.hasPrefix(prefix + ".") }) else { return }
        let next = file.directory + "/" + name
        // What the disk damaged since it was decided on takes the place of nothing.
        guard case .kith = file.owner(of: next) else {
            return try file.fileSystem.requireRenamed(next, to: file.aside("\(KeptFile.Reason.damaged.rawValue)-next"))
        }
        // What was noted of the old file's log does not hold for the new one.
        try lock.claimNothing()
        let files = file.fileSystem
        if name == prefix {
            // Not kept: the log goes first, since beside the new file it would be taken for that one's.
            try files.requireRemoved(file.logPath)
        } else {
            try keep(file, as: file.aside(String(name.dropFirst(prefix.count + 1))))
        }
        try files.requireRemoved(file.sharedMemoryPath)
        try files.requireRenamed(next, to: file.path)
        try files.requireDurable(directory: file.directory)
    }

    /// Puts the file and its log aside. The file has both names then, and the new one is on disk: the caller removes the
    /// other.
    /// - Parameter ending: as in `commit`.
    /// - Throws: `StoreError` where something is called so, and what the disk gives.
    static func putAside(_ file: DatabaseFile, as ending: String) throws(StoreError) {
        let kept = file.aside(ending)
        guard !file.fileSystem.exists(kept) else {
            throw StoreError(
                .cannotOpen, file.path, "\(file.shortPath) can't be put aside: there is a file of that name, try again")
        }
        try keep(file, as: kept)
        try file.fileSystem.requireDurable(directory: file.directory)
    }

    /// Puts the old file and its log aside, as far as they are there.
    private static func keep(_ file: DatabaseFile, as kept: String) throws(StoreError) {
        let files = file.fileSystem
        if files.exists(file.logPath) { try files.requireRenamed(file.logPath, to: kept + "-wal") }
        // A second name instead of another one: so the first is never missing.
        do throws(SystemError) { try files.link(file.path, to: kept) } catch {
            guard error.number != ENOENT, error.number != EEXIST else { return }
            try files.requireRenamed(file.path, to: kept)
        }
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
