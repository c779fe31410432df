import KithDocument
import KithMerge
import KithQuery
import KithSystem

/// The work of one repair: what it reads of the old file, and the new one that it fills.
final class Salvager {
    let file: DatabaseFile
    let environment: StoreEnvironment
    let isCancelled: () -> Bool
    let audit = DocumentAudit()
    let new: Connection
    let statements: Statements
    var report = SalvageReport()
    var state = StoreState()
    /// Documents of which something is lost, by their ids' bytes.
    var damaged: [[UInt8]: SalvageReport.Damaged] = [:]
    /// Ids of documents that were found on pages.
    var carved: Set<[UInt8]> = []
    /// Documents whose sequence is no use; they get the next ones at the end.
    var moved: UInt64 = 0
    /// The indexes of the old file.
    private var indexes: [IndexCatalog.Entry] = []

    /// Of the new file, for what is done with every document.
    struct Statements {
        let sequence: Statement
        let taken: Statement
        let bodies: Statement
        let insert: Statement
        let drop: Statement

        init(_ new: Connection) throws(StoreError) {
            sequence = try new.prepare("SELECT sequence FROM documents WHERE id = ?1")
            taken = try new.prepare("SELECT 1 FROM documents WHERE sequence = ?1")
            bodies = try new.prepare("SELECT revision, kept_until, body FROM bodies WHERE id = ?1")
            insert = try new.prepare(
                """
                INSERT OR REPLACE INTO documents(sequence, id, flags, revision, tree, body)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                """)
            drop = try new.prepare("DELETE FROM documents WHERE id = ?1")
        }
    }

    init(
        _ file: DatabaseFile, _ environment: StoreEnvironment, _ isCancelled: @escaping () -> Bool
    ) throws(StoreError) {
        self.file = file
        self.environment = environment
        self.isCancelled = isCancelled
        let part = FileReplacement.part(of: file)
        guard file.fileSystem.makePrivate(part) else {
            throw StoreError(.readOnly, part, "can't write in \(file.shortDirectory): look at its permissions")
        }
        new = try Connection(path: part, subject: file.name.string, access: .create, on: file.fileSystem)
        // It is made durable as a whole, at its end.
        try new.run("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA cache_size=-\(Limits.writerCacheKiB)")
        try Schema.create(new, databaseID: environment.random())
        statements = try Statements(new)
    }

    /// Fills the new file, whole when this returns and not yet synchronised.
    func run(_ progress: (UInt64, UInt64) -> Void) throws(StoreError) -> SalvageReport {
        try new.run("BEGIN")
        var total: UInt64 = 0
        if let old = try openOld() {
            old.watch(isCancelled)
            defer { old.watch(nil) }
            if case .some(let known) = try ignoringDamage({ () throws(StoreError) in try StoreState.read(old) }) {
                total = known.documents
                state.sequence = known.sequence < Self.beyond ? known.sequence : 0
                state.database = known.database
            }
            // Bodies first: a document is judged with its own.
            let hasBodies = try takeBodies(old)
            let hasDocuments = try takeDocuments(old, total, progress)
            try takeRecords(old)
            if !hasBodies || !hasDocuments { try carve() }
            try nameUnreadable(old)
        } else {
            report.notes.append("the file's first page is damaged: markers of purges and settings are lost")
            try carve()
        }
        try finish(total)
        return report
    }

    /// The old file, where SQLite can open it.
    func openOld() throws(StoreError) -> Connection? {
        do throws(StoreError) {
            // A reader's connection: the old file and its log stay as they are.
            let connection = try file.openForReading()
            _ = try file.check(connection)
            return try connection.number("SELECT count(*) FROM sqlite_schema WHERE name = 'documents'") == 1
                ? connection : nil
        } catch {
            guard error.isDamage else { throw error }
            return nil
        }
    }

    func ignoringDamage<Value>(_ body: () throws(StoreError) -> Value) throws(StoreError) -> Value? {
        do throws(StoreError) { return try body() } catch {
            guard error.isDamage else { throw error }
            return nil
        }
    }

    // MARK: From what SQLite reads

    /// Hands on row after row, as far as they can be read.
    /// - Returns: whether all could be.
    func rows(_ statement: Statement, _ take: (Statement) throws(StoreError) -> Void) throws(StoreError) -> Bool {
        while true {
            // What fails while a row is taken is the new file's matter.
            guard let isRow = try ignoringDamage({ () throws(StoreError) in try statement.step() }) else {
                return false
            }
            guard isRow else { return true }
            try take(statement)
        }
    }

    func takeBodies(_ old: Connection) throws(StoreError) -> Bool {
        guard
            let all = try ignoringDamage({ () throws(StoreError) in
                try old.prepare("SELECT id, revision, kept_until, body FROM bodies NOT INDEXED")
            })
        else { return false }
        return try rows(all) { row throws(StoreError) in
            try insertBody(row.bytes(0), row.bytes(1), row.isNull(2) ? nil : row.number(2), row.bytes(3))
        }
    }

    func takeDocuments(
        _ old: Connection, _ total: UInt64, _ progress: (UInt64, UInt64) -> Void
    ) throws(StoreError) -> Bool {
        guard
            let all = try ignoringDamage({ () throws(StoreError) in
                try old.prepare("SELECT \(StoredRow.columns) FROM documents NOT INDEXED")
            })
        else { return false }
        var done: UInt64 = 0
        return try rows(all) { row throws(StoreError) in
            try take(StoredRow(row))
            done += 1
            if done.isMultiple(of: 100) { progress(done, max(done, total)) }
        }
    }

    /// Ids that stand in the index while their rows can't be read.
    func nameUnreadable(_ old: Connection) throws(StoreError) {
        guard
            let all = try ignoringDamage({ () throws(StoreError) in
                try old.prepare("SELECT id FROM documents ORDER BY id")
            })
        else { return }
        _ = try rows(all) { row throws(StoreError) in
            let id = row.bytes(0)
            if try sequence(of: id) != nil || damaged[id] != nil { return }
            damaged[id] = .init(
                id: String(decoding: id, as: UTF8.self), leaves: [], isRescued: false, reason: "its row can't be read")
        }
    }

    /// Markers of purges, local documents, settings. Records of refusal go: what was refused is asked for again.
    func takeRecords(_ old: Connection) throws(StoreError) {
        let purged = try new.statement(.writePurged)
        try takeRecords(
            old, "SELECT id, leaves, timeline FROM purged", "markers of purges: what was purged may come back"
        ) {
            row throws(StoreError) in
            guard (try? RevisionList.decode(row.bytes(1), of: "")) != nil else { return }
            purged.bind(1, text: row.bytes(0))
            purged.bind(2, blob: row.bytes(1))
            purged.bind(3, row.number(2))
            _ = try purged.step()
            purged.reset()
            state.purged += 1
        }
        let local = try new.statement(.writeLocal)
        try takeRecords(old, "SELECT id, body FROM local", "local documents") { row throws(StoreError) in
            local.bind(1, text: row.bytes(0))
            local.bind(2, text: row.bytes(1))
            _ = try local.step()
            local.reset()
        }
        let policy = try ignoringDamage { () throws(StoreError) in try StoredPolicy.read(old) }
        if let policy {
            if policy != .initial { try policy.write(new) }
        } else {
            report.notes.append("the policy could not be read: it comes back from the group")
        }
        let catalog = try ignoringDamage { () throws(StoreError) in try IndexCatalog(old) }
        indexes = catalog?.entries ?? []
        if catalog?.unreadable.isEmpty != true {
            report.notes.append("what is written down of some indexes could not be read: make them again")
        }
    }

    /// Makes the indexes that there were, of what is there now, with new numbers: those that were written down may be
    /// damaged. One that can't be made is noted, and no reason to repair nothing.
    private func makeIndexes() throws(StoreError) {
        for (place, old) in indexes.enumerated() {
            let entry = IndexCatalog.Entry(old.definition, number: place + 1, created: old.created)
            do throws(StoreError) {
                try IndexCatalog.build(entry, on: new)
                try IndexCatalog.write(entry, on: new)
            } catch {
                guard !error.isInterruption, error.code == .internalError || error.code == .invalid else { throw error }
                for statement in entry.definition.removal(number: entry.number) { try new.run(statement) }
                report.notes.append("the index \(entry.definition.name) could not be made: make it again")
            }
        }
    }

    private func takeRecords(
        _ old: Connection, _ query: String, _ what: String, _ take: (Statement) throws(StoreError) -> Void
    ) throws(StoreError) {
        let all = try ignoringDamage { () throws(StoreError) in try old.prepare(query) }
        if let all, try rows(all, take) { return }
        report.notes.append("some \(what) could not be read")
    }

    // MARK: Into the new file

    func with(_ row: StoredRow, _ bodies: [StoredRow.Body]) -> StoredRow {
        var row = row
        row.bodies = bodies
        return row
    }

    func take(_ found: StoredRow) throws(StoreError) {
        // Where the file ends too early SQLite reads zeros: a row without an id names no document.
        if found.id.isEmpty { return }
        let row = with(found, try bodies(of: found.id))
        let result = audit.check(row)
        if result.isSound {
            damaged[row.id] = nil
            return try insert(row)
        }
        // Where every leaf is sound the row alone is wrong, and is made anew from them.
        let isWhole = !result.leaves.isEmpty && result.soundLeaves == result.leaves.count
        let rest = isWhole ? result.document : audit.rescued(result)
        if let rest { try insert(rest, at: row.sequence) }
        damaged[row.id] =
            isWhole
            ? nil
            : .init(
                id: row.shownID, leaves: result.leaves, isRescued: rest != nil, reason: result.faults.first ?? "")
    }

    /// The sequence of a document of the new file.
    func sequence(of id: [UInt8]) throws(StoreError) -> UInt64? {
        defer { statements.sequence.reset() }
        statements.sequence.bind(1, text: id)
        return try statements.sequence.step() ? statements.sequence.unsigned(0) : nil
    }

    func bodies(of id: [UInt8]) throws(StoreError) -> [StoredRow.Body] {
        let row = statements.bodies
        defer { row.reset() }
        row.bind(1, text: id)
        var bodies: [StoredRow.Body] = []
        while try row.step() {
            bodies.append(
                .init(revision: row.bytes(0), keptUntil: row.isNull(1) ? nil : row.number(1), body: row.bytes(2)))
        }
        return bodies
    }

    func insertBody(
        _ id: [UInt8], _ revision: [UInt8], _ keptUntil: Int64?, _ body: [UInt8]
    ) throws(StoreError) {
        let insert = try new.statement(.insertBody)
        defer { insert.reset() }
        insert.bind(1, text: id)
        insert.bind(2, blob: revision)
        insert.bind(3, text: body)
        if let keptUntil { insert.bind(4, keptUntil) } else { insert.bindNull(4) }
        _ = try insert.step()
    }

    func insert(_ row: StoredRow) throws(StoreError) {
        let sequence = try free(row.sequence)
        let insert = statements.insert
        defer { insert.reset() }
        if row.flags & DocumentFlags.expires.rawValue != 0 { try new.run(Schema.expiryIndex) }
        insert.bind(1, sequence)
        insert.bind(2, text: row.id)
        insert.bind(3, row.flags)
        insert.bind(4, blob: row.revision)
        insert.bind(5, blob: row.tree)
        if let body = row.body { insert.bind(6, text: body) } else { insert.bindNull(6) }
        _ = try insert.step()
    }

    /// What is left of a document.
    func insert(_ document: Document, at sequence: UInt64) throws(StoreError) {
        let live = document.live
        guard let shown = live.last?.id ?? document.shownRevision else { return }
        let id = Array(document.id.string.utf8)
        let drop = try new.statement(.dropBodies)
        drop.bind(1, text: id)
        _ = try drop.step()
        drop.reset()
        for other in live.dropLast() {
            try insertBody(id, other.id.encoded, nil, document.body(of: other.id) ?? [])
        }
        let body = live.last.flatMap { document.body(of: $0.id) }
        let flags = DocumentFlags(live: live, tree: document.tree, shown: shown, body: body)
        let row = StoredRow(
            number: 0, sequence: sequence, id: id, flags: flags.rawValue, revision: shown.encoded,
            tree: document.tree.encoded(), body: body)
        try insert(row)
    }

    func remove(_ id: [UInt8]) throws(StoreError) {
        defer { statements.drop.reset() }
        statements.drop.bind(1, text: id)
        _ = try statements.drop.step()
    }

    /// The sequence, or another where it is out of range or taken.
    private func free(_ sequence: UInt64) throws(StoreError) -> UInt64 {
        defer { statements.taken.reset() }
        statements.taken.bind(1, sequence)
        if sequence > 0, sequence < Self.beyond, try !statements.taken.step() {
            state.sequence = max(state.sequence, sequence)
            return sequence
        }
        moved += 1
        return Self.beyond + moved
    }

    /// Beyond all sequences that a database comes to.
    private static let beyond: UInt64 = 1 << 53

    // MARK: The end

    /// Counts what is there, begins a timeline, and writes the state.
    func finish(_ total: UInt64) throws(StoreError) {
        try new.run("DELETE FROM bodies WHERE id NOT IN (SELECT id FROM documents)")
        if moved > 0 {
            try new.run(
                """
                UPDATE documents SET sequence = sequence - \(Self.beyond) + \(state.sequence)
                WHERE sequence > \(Self.beyond)
                """)
            state.sequence += moved
        }
        let digests = DocumentDigest()
        let row = try new.prepare("SELECT id, flags, tree FROM documents")
        while try row.step() {
            let flags = DocumentFlags(rawValue: row.number(1))
            state.documents += 1
            if flags.contains(.deleted) { state.deleted += 1 }
            if flags.contains(.conflict) { state.conflicts += 1 }
            if let digest = digests.digest(of: DocumentID(unchecked: row.string(0)), try RevisionTree(row, 2, of: "")) {
                state.digest += digest
            }
        }
        // One sequence more, so that the new timeline has one of its own and no digest belongs to an old one.
        state.sequence += 1
        while state.timeline == 0 { state.timeline = environment.random() }
        try new.run(
            "INSERT INTO timelines(first, id) VALUES (\(state.sequence), \(Int64(bitPattern: state.timeline)))")
        if state.database != 0 { try new.run("UPDATE state SET database = \(Int64(bitPattern: state.database))") }
        try state.write(new)
        try makeIndexes()
        try new.run("COMMIT")
        report.documents = state.documents
        report.damaged = damaged.values.sorted { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) }
        let named = UInt64(damaged.values.count { !$0.isRescued })
        report.unnamed = total > state.documents + named ? total - state.documents - named : 0
    }
}
