import KithDocument
import KithQuery
import KithSystem

/// Checks a database's file: every revision by its hash, what the rows say, the indexes, the running numbers, and the
/// records beside the documents.
///
/// It reads on a connection of its own, while the database is open or with nobody having it. Documents are read page by
/// page, each page as of one moment; a document written meanwhile is checked as it was before or after. The running
/// numbers are compared in one reading of the rows without their bodies, and the file's structure is one reading too; both
/// are given up, and that is said, where the write-ahead log grows too far meanwhile.
package final class Verification {
    package struct Summary: Hashable, Sendable {
        package fileprivate(set) var documents: UInt64 = 0
        /// All that were found, also those beyond the bound of what is told.
        package fileprivate(set) var findings: UInt64 = 0
        /// What could not be checked, and why; a sentence each.
        package fileprivate(set) var notes: [String] = []
    }

    private let file: DatabaseFile
    private let isCancelled: () -> Bool
    private let refusal: StoreError?
    private let told: (StoreFinding) -> Void
    private let audit = DocumentAudit()
    private var summary = Summary()

    /// - Parameters:
    ///   - refusal: why the database can't be opened, where that was tried: damage is a finding, though all that can be read
    ///     may be sound.
    ///   - isCancelled: asked now and then; true ends the check with the error `StoreError.cancelled`.
    ///   - found: called for each finding as it comes, at most `Limits.findings` times.
    package init(
        _ file: DatabaseFile, refusal: StoreError? = nil, isCancelled: @escaping () -> Bool = { false },
        found: @escaping (StoreFinding) -> Void
    ) {
        self.file = file
        self.refusal = refusal
        self.isCancelled = isCancelled
        told = found
    }

    /// Runs the check. Damage is what it finds and no error.
    /// - Parameter progress: called with the documents done and about how many there are.
    /// - Throws: `StoreError` where the database can't be checked: it is not there, is another program's, is newer; or the
    ///   check was cancelled.
    package func run(progress: (UInt64, UInt64) -> Void) throws(StoreError) -> Summary {
        let connection: Connection
        do throws(StoreError) {
            guard file.fileSystem.size(of: file.path) > 0 else { throw refusal ?? file.notThere }
            if let refusal, refusal.isDamage { found(StoreFinding(.file, "it can't be opened: \(refusal.message)")) }
            connection = try file.openForReading()
            guard try !file.check(connection) else {
                throw StoreError(.damaged, file.name.string, "the file is empty")
            }
        } catch {
            guard error.isDamage else { throw error }
            if summary.findings == 0 { found(StoreFinding(.file, "it can't be opened: \(error.message)")) }
            return summary
        }
        connection.watch(isCancelled)
        defer { connection.watch(nil) }
        do throws(StoreError) {
            try checkDocuments(connection, progress)
            try checkOrphans(connection)
            try atOneMoment(connection, "the running numbers were not compared") { () throws(StoreError) in
                try checkNumbers(connection)
            }
            try checkRecords(connection)
            try atOneMoment(connection, "the array and full-text indexes were not checked") { () throws(StoreError) in
                try checkIndexes(connection)
            }
            try atOneMoment(connection, "the file's structure was not checked") { () throws(StoreError) in
                try checkStructure(connection)
            }
        } catch {
            if error.isInterruption { throw StoreError.cancelled(file.name.string) }
            throw error
        }
        return summary
    }

    private func found(_ finding: StoreFinding) {
        summary.findings += 1
        if summary.findings <= Limits.findings { told(finding) }
    }

    /// What the disk or SQLite can't read is a finding; anything else ends the check.
    private func reading(_ what: String, _ body: () throws(StoreError) -> Void) throws(StoreError) {
        do throws(StoreError) { try body() } catch {
            guard error.isDamage else { throw error }
            found(StoreFinding(.file, "\(what) can't be read (SQLite \(error.sqliteCode))"))
        }
    }

    /// A reading of the whole file: given up where the log grows too far, since it can't be emptied meanwhile.
    private func atOneMoment(
        _ connection: Connection, _ undone: String, _ body: () throws(StoreError) -> Void
    ) throws(StoreError) {
        let bound = file.sizes.log + Limits.longReadingLogBytes
        let file = file
        let isCancelled = isCancelled
        connection.watch { isCancelled() || file.sizes.log > bound }
        defer { connection.watch(isCancelled) }
        do throws(StoreError) { try body() } catch {
            guard error.isInterruption, !isCancelled() else { throw error }
            summary.notes.append("\(undone), since too much was written meanwhile: check again at a calmer time")
        }
    }

    // MARK: Documents

    /// All documents in the order of their ids, which stand in an index: so a row that can't be read has a name.
    private func checkDocuments(
        _ connection: Connection, _ progress: (UInt64, UInt64) -> Void
    ) throws(StoreError) {
        var total: UInt64 = 0
        try reading("the running numbers") { () throws(StoreError) in total = try StoreState.read(connection).documents
        }
        var last: [UInt8] = []
        do throws(StoreError) {
            while true {
                if isCancelled() { throw StoreError.cancelled(file.name.string) }
                let page = try connection.reading { () throws(StoreError) in try self.page(after: last, connection) }
                for entry in page { check(entry) }
                summary.documents += UInt64(page.count)
                progress(summary.documents, max(total, summary.documents))
                guard let end = page.last else { return }
                last = end.id
            }
        } catch {
            guard error.isDamage else { throw error }
            found(StoreFinding(.file, "the index of ids can't be read (SQLite \(error.sqliteCode))"))
        }
        try checkRowsByNumber(connection, progress, total)
    }

    /// An id of the index with its row, or why that can't be read.
    private struct Entry {
        let id: [UInt8]
        let row: Result<StoredRow?, StoreError>
    }

    private func page(after last: [UInt8], _ connection: Connection) throws(StoreError) -> [Entry] {
        let ids = try connection.prepare("SELECT id, number FROM documents WHERE id > ?1 ORDER BY id LIMIT ?2")
        ids.bind(1, text: last)
        ids.bind(2, Int64(Limits.pageDocuments))
        let one = try connection.prepare("SELECT \(StoredRow.columns) FROM documents WHERE number = ?1")
        let bodies = try connection.prepare("SELECT revision, kept_until, body FROM bodies WHERE id = ?1")
        var page: [Entry] = []
        var bytes = 0
        while bytes < Limits.pageBytes, try ids.step() {
            let id = ids.bytes(0)
            var row: StoredRow?
            do throws(StoreError) {
                row = try Self.row(ids.number(1), one, bodies)
                bytes += row?.bytes ?? 0
            } catch {
                guard error.isDamage else { throw error }
                page.append(Entry(id: id, row: .failure(error)))
                continue
            }
            page.append(Entry(id: id, row: .success(row)))
        }
        return page
    }

    private static func row(_ number: Int64, _ one: Statement, _ bodies: Statement) throws(StoreError) -> StoredRow? {
        defer { one.reset() }
        one.bind(1, number)
        guard try one.step() else { return nil }
        var row = StoredRow(one)
        defer { bodies.reset() }
        bodies.bind(1, text: row.id)
        while try bodies.step() {
            row.bodies.append(
                .init(
                    revision: bodies.bytes(0), keptUntil: bodies.isNull(1) ? nil : bodies.number(1),
                    body: bodies.bytes(2)))
        }
        return row
    }

    private func check(_ entry: Entry) {
        let id = String(decoding: entry.id, as: UTF8.self)
        switch entry.row {
        case .success(let row?) where row.id == entry.id: check(row)
        case .success(.some): found(StoreFinding(.document, "the index of ids leads to another document", document: id))
        case .success(nil): found(StoreFinding(.document, "its row is missing", document: id))
        case .failure(let error):
            found(StoreFinding(.document, "its row can't be read (SQLite \(error.sqliteCode))", document: id))
        }
    }

    private func check(_ row: StoredRow) {
        for fault in audit.check(row).faults {
            found(StoreFinding(.document, fault, document: row.shownID))
        }
    }

    /// Where the index is of no use: the rows in the order in which they stand.
    private func checkRowsByNumber(
        _ connection: Connection, _ progress: (UInt64, UInt64) -> Void, _ total: UInt64
    ) throws(StoreError) {
        summary.documents = 0
        try reading("the rows of documents") { () throws(StoreError) in
            let next = try connection.prepare(
                "SELECT number FROM documents WHERE number > ?1 ORDER BY number LIMIT \(Limits.pageDocuments)")
            let one = try connection.prepare("SELECT \(StoredRow.columns) FROM documents WHERE number = ?1")
            let bodies = try connection.prepare("SELECT revision, kept_until, body FROM bodies WHERE id = ?1")
            var last = Int64.min
            while true {
                if isCancelled() { throw StoreError.cancelled(file.name.string) }
                let rows = try connection.reading { () throws(StoreError) in
                    var rows: [StoredRow] = []
                    defer { next.reset() }
                    next.bind(1, last)
                    while try next.step() {
                        last = next.number(0)
                        if let row = try Self.row(last, one, bodies) { rows.append(row) }
                    }
                    return rows
                }
                for row in rows { check(row) }
                summary.documents += UInt64(rows.count)
                progress(summary.documents, max(total, summary.documents))
                if rows.isEmpty { return }
            }
        }
    }

    /// Bodies of documents that are not there.
    private func checkOrphans(_ connection: Connection) throws(StoreError) {
        try reading("the bodies beside the winners'") { () throws(StoreError) in
            var last = Int64.min
            let next = try connection.prepare(
                """
                SELECT rowid, id, EXISTS(SELECT 1 FROM documents WHERE documents.id = bodies.id) FROM bodies
                WHERE rowid > ?1 ORDER BY rowid LIMIT \(Limits.pageDocuments)
                """)
            while true {
                if isCancelled() { throw StoreError.cancelled(file.name.string) }
                var count = 0
                next.bind(1, last)
                while try next.step() {
                    count += 1
                    last = next.number(0)
                    guard next.number(2) == 0 else { continue }
                    found(
                        StoreFinding(
                            .document, "a body is kept of it, and the document is not there",
                            document: next.string(1)))
                }
                next.reset()
                if count == 0 { return }
            }
        }
    }

    // MARK: The running numbers

    /// The digest and the counts against the rows, as of one moment.
    private func checkNumbers(_ connection: Connection) throws(StoreError) {
        let digests = DocumentDigest()
        try reading("the running numbers") { () throws(StoreError) in
            try connection.reading { () throws(StoreError) in
                let state = try StoreState.read(connection)
                var counted = StoreState()
                var isReadable = true
                let row = try connection.statement(.everyTree)
                defer { row.reset() }
                while try row.step() {
                    let flags = DocumentFlags(rawValue: row.number(2))
                    counted.documents += 1
                    if flags.contains(.deleted) { counted.deleted += 1 }
                    if flags.contains(.conflict) { counted.conflicts += 1 }
                    counted.sequence = max(counted.sequence, row.unsigned(0))
                    if let tree = try? RevisionTree(encoded: row.bytes(4)) {
                        if let digest = digests.digest(of: DocumentID(unchecked: row.string(1)), tree) {
                            counted.digest += digest
                        }
                    } else {
                        isReadable = false
                    }
                }
                counted.purged = UInt64(try connection.number("SELECT count(*) FROM purged") ?? 0)
                counted.refused = UInt64(try connection.number("SELECT count(*) FROM refused") ?? 0)
                compare(state, counted, comparesDigest: isReadable)
            }
        }
    }

    private func compare(_ state: StoreState, _ counted: StoreState, comparesDigest: Bool) {
        let counts: [(String, UInt64, UInt64)] = [
            ("documents", state.documents, counted.documents), ("deleted documents", state.deleted, counted.deleted),
            ("documents in conflict", state.conflicts, counted.conflicts),
            ("purged documents", state.purged, counted.purged), ("refused documents", state.refused, counted.refused),
        ]
        for (what, noted, there) in counts where noted != there {
            found(StoreFinding(.numbers, "\(noted) \(what) are counted and \(there) are there"))
        }
        if state.sequence < counted.sequence {
            found(
                StoreFinding(
                    .numbers, "the last sequence is noted as \(state.sequence) and a document has \(counted.sequence)"))
        }
        if comparesDigest, state.digest != counted.digest {
            found(StoreFinding(.numbers, "the running digest is not the sum of the documents"))
        }
    }

    // MARK: Records

    private func checkRecords(_ connection: Connection) throws(StoreError) {
        try reading("the timelines") { () throws(StoreError) in try checkTimelines(connection) }
        try reading("the checkpoints") { () throws(StoreError) in
            let row = try connection.prepare("SELECT source, timeline, sequence FROM checkpoints")
            while try row.step() {
                if Checkpoints.isKey(row.bytes(0)), row.number(2) >= 0 { continue }
                found(StoreFinding(.records, "a checkpoint can't be read"))
            }
        }
        for table in ["purged", "refused"] {
            try reading("the table \(table)") { () throws(StoreError) in
                let row = try connection.prepare("SELECT id, leaves FROM \(table)")
                while try row.step() {
                    let id = row.string(0)
                    do { _ = try RevisionList.decode(row.bytes(1), of: id) } catch {
                        found(StoreFinding(.records, "its record in \(table) can't be read", document: id))
                    }
                }
            }
        }
        try reading("the settings") { () throws(StoreError) in _ = try StoredPolicy.read(connection) }
    }

    private func checkTimelines(_ connection: Connection) throws(StoreError) {
        try connection.reading { () throws(StoreError) in
            let state = try StoreState.read(connection)
            let row = try connection.prepare("SELECT first, id, last FROM timelines ORDER BY first")
            // Between two timelines there may be a stretch whose own was forgotten.
            var end: UInt64 = 0
            var open: TimelineID?
            while try row.step() {
                let (first, last) = (row.unsigned(0), row.isNull(2) ? state.sequence : row.unsigned(2))
                if open != nil || first <= end || last < first || last > state.sequence || row.unsigned(1) == 0 {
                    return found(StoreFinding(.records, "the timelines contradict each other"))
                }
                end = last
                if row.isNull(2) { open = row.unsigned(1) }
            }
            if let open, open != state.timeline {
                found(StoreFinding(.records, "the present timeline is not the one that is noted"))
            }
        }
    }

    /// Array and full-text indexes against the documents; other indexes are SQLite's and checked with the file's structure.
    private func checkIndexes(_ connection: Connection) throws(StoreError) {
        try reading("the indexes") { () throws(StoreError) in
            try connection.reading { () throws(StoreError) in
                let catalog = try IndexCatalog(connection)
                for name in catalog.unreadable {
                    found(StoreFinding(.records, "the index \(name) can't be read: it is damaged, or of a newer kind"))
                }
                for entry in catalog.entries where try !Self.isRight(entry, connection) {
                    found(
                        StoreFinding(
                            .records,
                            "the index \(entry.definition.name) is not that of the documents: drop it and make it again"
                        ))
                }
            }
        }
    }

    private static func isRight(_ entry: IndexCatalog.Entry, _ connection: Connection) throws(StoreError) -> Bool {
        if case .text = entry.definition.kind { return try TextIndexAudit(entry, connection).isRight() }
        guard let expected = try? entry.definition.expectedElements(number: entry.number) else { return true }
        let stored = "SELECT key, number FROM \(entry.table)"
        return try connection.number(
            """
            SELECT EXISTS(SELECT * FROM (\(expected)) EXCEPT \(stored))
            OR EXISTS(\(stored) EXCEPT SELECT * FROM (\(expected)))
            """) == 0
    }

    // MARK: The file

    private func checkStructure(_ connection: Connection) throws(StoreError) {
        try reading("the file's structure") { () throws(StoreError) in
            let row = try connection.prepare("PRAGMA integrity_check(\(Limits.pageDocuments))")
            while try row.step() {
                for line in row.string(0).split(separator: "\n") where line != "ok" && !line.hasPrefix("***") {
                    found(StoreFinding(.file, String(line)))
                }
            }
        }
    }
}

extension StoreError {
    /// Somebody gave up what was asked for.
    static func cancelled(_ subject: String) -> StoreError {
        StoreError(.cancelled, subject, "it was given up before its end")
    }
}
