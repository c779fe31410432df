import KithSystem

extension DatabaseFile {
    /// A reader with a connection of its own, for a database that somebody has open for writing.
    /// - Parameter now: the wall clock in milliseconds since 1970; without one nothing is hidden as expired.
    package func makeReader(now: @escaping () -> Int64 = { 0 }) throws(StoreError) -> StoreReader {
        StoreReader(try openForReading(), now: now)
    }

    /// The file's size in bytes and that of its write-ahead log.
    package var sizes: (file: Int, log: Int) { (fileSystem.size(of: path), fileSystem.size(of: logPath)) }

    /// Refuses long work that would fill the disk.
    func requireSpace(_ bytes: Int, to verb: String) throws(StoreError) {
        guard let free = fileSystem.space(of: directory).map({ Int(clamping: $0.free) }), free < bytes else { return }
        throw StoreError(
            .storageFull, name.string,
            "to \(verb) \(shortName) \(bytes) bytes must be free in \(shortDirectory), and \(free) are: make room")
    }
}

extension DatabaseFile {
    /// The files of a database as they stand at a moment: equal as long as nobody has touched them.
    package struct Stamp: Hashable, Sendable {
        let file: FileStamp?
        let log: FileStamp?
        /// An opening that fails writes to the lock too: it counts only whether it is there.
        let hasLock: Bool
    }

    package var stamp: Stamp {
        Stamp(
            file: fileSystem.stamp(of: path), log: fileSystem.stamp(of: logPath), hasLock: fileSystem.exists(lockPath))
    }
}
