/// The tables of a database; docs/storage.md explains each.
enum Schema {
    /// Marks the file as Kith's (`PRAGMA application_id`): "Kith" in ASCII.
    static let applicationID: Int64 = 0x4B69_7468
    /// Makes the tables of an empty file, in one transaction.
    static func create(_ connection: Connection, databaseID: UInt64) throws(StoreError) {
        try connection.run("BEGIN IMMEDIATE;" + tables)
        try connection.run(
            "INSERT INTO state(database, digest) VALUES (\(Int64(bitPattern: databaseID)), zeroblob(32))")
        try connection.run(
            "PRAGMA application_id=\(applicationID); PRAGMA user_version=\(Migrations.current.version); COMMIT")
    }

    /// The documents that expire, by their time; made with the first of them.
    static let expiryIndex = "CREATE INDEX IF NOT EXISTS expiring ON " + expiryIndexed
    static let expiryIndexed = "documents(json_extract(body, '$._expires')) WHERE flags & 16"
    static let expiryIndexCount = "SELECT count(*) FROM sqlite_schema WHERE name = 'expiring'"

    private static let tables = """
        CREATE TABLE documents(
            number INTEGER PRIMARY KEY,
            sequence INTEGER NOT NULL UNIQUE,
            id TEXT NOT NULL UNIQUE,
            flags INTEGER NOT NULL,
            revision BLOB NOT NULL,
            tree BLOB NOT NULL,
            body TEXT
        );
        CREATE INDEX conflicts ON documents(sequence) WHERE flags & 2;
        CREATE TABLE bodies(
            id TEXT NOT NULL,
            revision BLOB NOT NULL,
            kept_until INTEGER,
            body TEXT NOT NULL,
            UNIQUE(id, revision)
        );
        CREATE INDEX kept ON bodies(kept_until) WHERE kept_until IS NOT NULL;
        CREATE TABLE state(
            sequence INTEGER NOT NULL DEFAULT 0,
            digest BLOB NOT NULL,
            documents INTEGER NOT NULL DEFAULT 0,
            deleted INTEGER NOT NULL DEFAULT 0,
            conflicts INTEGER NOT NULL DEFAULT 0,
            purged INTEGER NOT NULL DEFAULT 0,
            refused INTEGER NOT NULL DEFAULT 0,
            timeline INTEGER NOT NULL DEFAULT 0,
            database INTEGER NOT NULL
        );
        CREATE TABLE timelines(
            first INTEGER PRIMARY KEY,
            id INTEGER NOT NULL UNIQUE,
            last INTEGER
        );
        CREATE TABLE checkpoints(
            source BLOB PRIMARY KEY,
            timeline INTEGER NOT NULL,
            sequence INTEGER NOT NULL
        ) WITHOUT ROWID;
        CREATE TABLE purged(
            id TEXT PRIMARY KEY,
            leaves BLOB NOT NULL,
            timeline INTEGER NOT NULL
        ) WITHOUT ROWID;
        CREATE TABLE refused(
            number INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            leaves BLOB NOT NULL,
            reason TEXT NOT NULL,
            rules INTEGER NOT NULL
        );
        CREATE TABLE local(id TEXT PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID;
        CREATE TABLE settings(key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
        """
}
