extension DatabaseFile {
    /// A reader with a connection of its own, for a database that somebody has open for writing.
    package func makeReader() throws(StoreError) -> StoreReader { StoreReader(try openForReading()) }

    /// The file's size in bytes and that of its write-ahead log.
    package var sizes: (file: Int, log: Int) { (FileSystem.size(of: path), FileSystem.size(of: logPath)) }

    /// Refuses long work that would fill the disk.
    func requireSpace(_ bytes: Int, to verb: String) throws(StoreError) {
        guard let free = FileSystem.freeBytes(in: directory), free < bytes else { return }
        throw StoreError(
            .storageFull, name.string,
            "to \(verb) \(shortName) \(bytes) bytes must be free in \(shortDirectory), and \(free) are: make room")
    }
}
