import KithQuery

#if KITH_MUTANTS
import KithSystem
#endif

/// Gives the space of a database back that is no longer used: a copy without it is made beside the database while that is
/// read and written, brought up to date in a moment in which nobody writes, and put in its place.
package enum Compaction {
    /// Writes the copy. The database may be open and in use; it is one reading of it, as long as the copying takes.
    /// - Throws: `StoreError`: `storage_full`, before anything is written, where there is not the space for the copy;
    ///   `cancelled`; what the disk gives. The database is as it was.
    package static func write(
        _ file: DatabaseFile, isCancelled: @escaping () -> Bool = { false }
    ) throws(StoreError) {
        try file.requireSpace(try usedBytes(file), to: "compact")
        try Backup.write(file, to: Restoring.prepare(file), isCancelled: isCancelled)
    }

    /// Removes the copy.
    package static func discard(_ file: DatabaseFile) { FileReplacement.discardPart(of: file) }

    /// Puts the copy in the place of the database, which must be closed. There is one of the two at any time.
    package static func install(_ file: DatabaseFile) throws(StoreError) {
        let lock = try FileLock(file)
        defer { withExtendedLifetime(lock) {} }
        _ = try FileReplacement.commit(file, lock, keeping: nil)
    }

    /// The bytes of the pages that hold something.
    static func usedBytes(_ file: DatabaseFile) throws(StoreError) -> Int {
        let connection = try file.openForReading()
        let pages = try connection.number("PRAGMA page_count") ?? 0
        let free = try connection.number("PRAGMA freelist_count") ?? 0
        return Int(pages - min(free, pages)) * Int(try connection.number("PRAGMA page_size") ?? 4_096)
    }
}

extension Store {
    /// Takes what was written since into the copy that `Compaction.write` has made. Afterwards nothing may be written here
    /// any more.
    /// - Complexity: O(changes since), and the records beside the documents, the words of full-text indexes among them.
    package func completeCopy() throws(StoreError) {
        let connection = transaction.connection
        let attach = try connection.prepare("ATTACH ?1 AS copy")
        attach.bind(1, text: FileReplacement.part(of: file))
        _ = try attach.step()
        defer { try? connection.run("DETACH copy") }
        try connection.run("BEGIN IMMEDIATE")
        do throws(StoreError) {
            // It may have come since the copy was made.
            if transaction.memory.hasExpiryIndex {
                try connection.run("CREATE INDEX IF NOT EXISTS copy.expiring ON " + Schema.expiryIndexed)
            }
            try IndexCatalog.reconcile(copy: "copy", on: connection)
            try copyChanges(connection)
            try copyRecords(connection)
            try IndexCatalog.finish(copy: "copy", on: connection)
            try connection.run("COMMIT")
        } catch {
            if connection.isInTransaction { try? connection.run(.rollback) }
            throw error
        }
    }

    private func copyChanges(_ connection: Connection) throws(StoreError) {
        let since = try connection.number("SELECT sequence FROM copy.state") ?? 0
        #if KITH_MUTANTS
        if Mutant.isActive(.compactsAway) { try connection.run("DELETE FROM copy.documents WHERE sequence = \(since)") }
        #endif
        let changed = "(SELECT id FROM main.documents WHERE sequence > \(since))"
        let purged = "(SELECT id FROM main.purged WHERE id NOT IN (SELECT id FROM main.documents))"
        // Out first, and not replaced in place: the triggers of array indexes run for what is deleted and not for what is replaced.
        try connection.run(
            """
            DELETE FROM copy.documents WHERE id IN \(purged) OR id IN \(changed);
            DELETE FROM copy.bodies WHERE id IN \(purged) OR id IN \(changed);
            INSERT INTO copy.documents SELECT * FROM main.documents WHERE sequence > \(since);
            INSERT INTO copy.bodies SELECT * FROM main.bodies WHERE id IN \(changed)
            """)
    }

    private func copyRecords(_ connection: Connection) throws(StoreError) {
        var tables: [String] = []
        let list = try connection.prepare(
            """
            SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'
            AND sql NOT LIKE 'CREATE VIRTUAL %' ORDER BY name
            """)
        while try list.step() { tables.append(list.string(0)) }
        // What array indexes have was kept by their triggers.
        let kept = try IndexCatalog(connection).arrays.map(\.table)
        for name in tables where name != "documents" && name != "bodies" && !kept.contains(name) {
            let table = "\"\(name.replacing("\"", with: "\"\""))\""
            try connection.run("DELETE FROM copy.\(table); INSERT INTO copy.\(table) SELECT * FROM main.\(table)")
        }
    }
}
