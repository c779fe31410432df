import CSQLite

/// Where a database lies, and how its file is opened.
package struct DatabaseFile: Hashable, Sendable {
    package let name: DatabaseName
    package let directory: String

    package init(_ name: DatabaseName, in directory: String) {
        self.name = name
        self.directory = directory
    }

    package static let suffix = ".sqlite3"

    package var path: String { directory + "/" + name.string + Self.suffix }
    package var logPath: String { path + "-wal" }
    var sharedMemoryPath: String { path + "-shm" }
    var lockPath: String { directory + "/" + name.string + ".lock" }

    /// The writing connection, with the schema made or checked.
    func openForWriting(_ options: StoreOptions, databaseID: () -> UInt64) throws(StoreError) -> Connection {
        let connection = try Connection(
            path: path, subject: name.string, access: options.creates ? .create : .write)
        let isNew = try check(connection)
        if isNew, !options.creates {
            throw StoreError(.notFound, name.string, "there is no database \(shortName) in \(shortDirectory)")
        }
        let synchronous = options.durability == .full ? "FULL" : "NORMAL"
        try connection.run(
            """
            PRAGMA journal_mode=WAL; PRAGMA synchronous=\(synchronous); PRAGMA foreign_keys=OFF;
            PRAGMA wal_autocheckpoint=\(Limits.walPages); PRAGMA journal_size_limit=\(Limits.walBytes);
            PRAGMA cache_size=-\(Limits.writerCacheKiB); PRAGMA temp_store=MEMORY
            """)
        if isNew { try Schema.create(connection, databaseID: databaseID()) }
        if let pages = options.maximumPages { try connection.run("PRAGMA max_page_count=\(pages)") }
        return connection
    }

    /// A reading connection to a database that a `Store` has open.
    func openForReading() throws(StoreError) -> Connection {
        let connection = try Connection(path: path, subject: name.string, access: .read)
        try connection.run("PRAGMA cache_size=-\(Limits.readerCacheKiB)")
        return connection
    }

    /// Looks whose file it is, without changing it.
    /// - Returns: whether it is empty.
    func check(_ connection: Connection) throws(StoreError) -> Bool {
        try Self.check(connection, path: path)
    }

    static func check(_ connection: Connection, path: String) throws(StoreError) -> Bool {
        let shortPath = StoreError.shortened(path, to: Limits.subjectCharacters)
        let application = try connection.number("PRAGMA application_id") ?? 0
        let version = try connection.number("PRAGMA user_version") ?? 0
        if application == 0, version == 0, try connection.number("SELECT count(*) FROM sqlite_schema") == 0 {
            return true
        }
        guard application == Schema.applicationID else {
            throw StoreError(.foreignFile, path, "\(shortPath) is a SQLite file of another program: move it away")
        }
        guard version <= Schema.version else {
            throw StoreError(
                .newerFile, path,
                "\(shortPath) was written by a newer Kith (format \(version), this one reads \(Schema.version)): "
                    + "upgrade this node")
        }
        guard version == Schema.version else {
            throw StoreError(.damaged, path, "\(shortPath) has the unknown format \(version)")
        }
        return false
    }

    var shortName: String { StoreError.shortened(name.string, to: Limits.subjectCharacters) }
    var shortPath: String { StoreError.shortened(path, to: Limits.subjectCharacters) }
    var shortDirectory: String { StoreError.shortened(directory, to: Limits.subjectCharacters) }
}
