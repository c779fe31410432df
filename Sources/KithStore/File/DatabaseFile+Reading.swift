extension DatabaseFile {
    /// A reader with a connection of its own, for a database that somebody has open for writing.
    package func makeReader() throws(StoreError) -> StoreReader { StoreReader(try openForReading()) }

    /// The file's size in bytes and that of its write-ahead log.
    package var sizes: (file: Int, log: Int) { (FileSystem.size(of: path), FileSystem.size(of: logPath)) }
}
