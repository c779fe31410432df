import KithSystem

/// Where a database lies, and how its file is opened.
package struct DatabaseFile: Sendable {
    package let name: DatabaseName
    package let directory: String
    /// What the directory is on.
    package let fileSystem: any FileSystem

    package init(
        _ name: DatabaseName, in directory: String, on fileSystem: any FileSystem = LocalFileSystem()
    ) {
        self.name = name
        self.directory = directory
        self.fileSystem = fileSystem
    }

    package static let suffix = ".sqlite3"

    package var path: String { directory + "/" + name.string + Self.suffix }
    package var logPath: String { path + "-wal" }
    var sharedMemoryPath: String { path + "-shm" }
    var lockPath: String { directory + "/" + name.string + ".lock" }
    /// Where a file is made until it is whole.
    var newPath: String { aside("new") }

    /// The writing connection to a file that is there, in the format that `migrations` end with. Closing it leaves the
    /// log as it is, until `Connection.setCheckpointOnClose`.
    func openForWriting(_ options: StoreOptions, _ migrations: Migrations) throws(StoreError) -> Connection {
        let connection = try Connection(path: path, subject: name.string, access: .write, on: fileSystem)
        guard let version = try Self.version(of: connection, path: path, migrations) else {
            throw StoreError(.foreignFile, path, "\(shortPath) is a SQLite file without anything in it: move it away")
        }
        try useLog(connection)
        let synchronous = options.durability == .full ? "FULL" : "NORMAL"
        try connection.run(
            """
            PRAGMA synchronous=\(synchronous); PRAGMA foreign_keys=OFF; PRAGMA journal_size_limit=\(Limits.walPages * 4096);
            PRAGMA cache_size=-\(Limits.writerCacheKiB); PRAGMA temp_store=MEMORY
            """)
        #if KITH_MUTANTS
        if Mutant.isActive(.skipsSync) { try connection.run("PRAGMA synchronous=OFF") }
        #endif
        if version != migrations.version { try migrations.run(on: connection, from: version, self) }
        if let pages = options.maximumPages { try connection.run("PRAGMA max_page_count=\(pages)") }
        connection.countLog()
        return connection
    }

    /// A reading connection to a database that a `Store` has open.
    func openForReading() throws(StoreError) -> Connection {
        let connection = try Connection(path: path, subject: name.string, access: .read, on: fileSystem)
        try connection.run("PRAGMA cache_size=-\(Limits.readerCacheKiB)")
        return connection
    }

    /// Makes the file with its tables: aside first, so that it is there as a whole or not at all. On disk when this
    /// returns.
    func create(databaseID: UInt64) throws(StoreError) {
        fileSystem.discardDatabase(newPath)
        do throws(StoreError) {
            try makeTables(databaseID)
            try fileSystem.requireDurable(file: newPath)
            try fileSystem.requireRenamed(newPath, to: path)
            try fileSystem.requireDurable(directory: directory)
        } catch {
            fileSystem.discardDatabase(newPath)
            throw error
        }
    }

    private func makeTables(_ databaseID: UInt64) throws(StoreError) {
        let connection = try Connection(path: newPath, subject: name.string, access: .create, on: fileSystem)
        // The whole file is synchronised before it gets its name.
        try connection.run("PRAGMA synchronous=OFF")
        try Schema.create(connection, databaseID: databaseID)
        try useLog(connection)
    }

    /// SQLite answers with the old mode, and no error, where the file system can't do what a log needs.
    private func useLog(_ connection: Connection) throws(StoreError) {
        let mode = try connection.text("PRAGMA journal_mode=WAL") ?? "none"
        guard mode == "wal" else {
            throw StoreError(
                .cannotOpen, path,
                "\(shortPath) can't have a write-ahead log (its journal is '\(mode)'): use a directory on a disk of this "
                    + "machine")
        }
    }

    /// Looks whose file it is, without changing it.
    /// - Returns: whether it is empty.
    func check(_ connection: Connection) throws(StoreError) -> Bool {
        try Self.check(connection, path: path)
    }

    static func check(_ connection: Connection, path: String) throws(StoreError) -> Bool {
        try version(of: connection, path: path, .current) == nil
    }

    /// - Returns: the version of its format; nil for a file without anything in it.
    private static func version(
        of connection: Connection, path: String, _ migrations: Migrations
    ) throws(StoreError) -> Int64? {
        let shortPath = StoreError.shortened(path, to: Limits.pathCharacters)
        let application = try connection.number("PRAGMA application_id") ?? 0
        let version = try connection.number("PRAGMA user_version") ?? 0
        if application == 0, version == 0, try connection.number("SELECT count(*) FROM sqlite_schema") == 0 {
            return nil
        }
        guard application == Schema.applicationID else {
            throw StoreError(.foreignFile, path, "\(shortPath) is a SQLite file of another program: move it away")
        }
        guard version <= migrations.version else { throw newer(version, migrations, path: path) }
        guard version >= migrations.oldest else {
            throw StoreError(.damaged, path, "\(shortPath) has the unknown format \(version)")
        }
        return version
    }

    static func newer(_ version: Int64, _ migrations: Migrations, path: String) -> StoreError {
        StoreError(
            .newerFile, path,
            "\(StoreError.shortened(path, to: Limits.pathCharacters)) was written by a newer Kith (format \(version), this "
                + "one reads \(migrations.version)): upgrade this node")
    }

    var shortName: String { StoreError.shortened(name.string, to: Limits.subjectCharacters) }
    var shortPath: String { StoreError.shortened(path, to: Limits.pathCharacters) }
    var shortDirectory: String { StoreError.shortened(directory, to: Limits.pathCharacters) }
}
