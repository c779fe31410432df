import KithDocument
import KithQuery

extension WriteTransaction {
    /// Makes an index of what is there, kept by every write from then on. It is this node's alone: peers have their own.
    /// Its definition stands in the file and goes with it, through compaction, copies and repairs.
    ///
    /// Nobody writes meanwhile; readers go on. It is there as a whole with the commit, or not at all.
    /// - Throws: `StoreError` `invalid` for a name that is taken, or one index too many; what the disk gives.
    /// - Complexity: O(n log n) in the documents.
    package func createIndex(_ definition: IndexDefinition) throws(StoreError) {
        let catalog = try IndexCatalog(connection)
        let name = definition.name
        if let known = catalog[name] {
            if known.definition == definition { return }
            throw StoreError(
                .invalid, name, "there is another index named \(name): drop it first, or take another name")
        }
        guard !catalog.unreadable.contains(name) else {
            throw StoreError(.invalid, name, "there is an index named \(name) of a kind that is not known here")
        }
        guard catalog.entries.count < Limits.indexes else {
            throw StoreError(
                .invalid, name, "\(connection.subject) has \(Limits.indexes) indexes already: drop one that is not used"
            )
        }
        let number = try nextIndexNumber(catalog)
        let entry = IndexCatalog.Entry(definition, number: number, created: environment.now())
        try IndexCatalog.build(entry, on: connection)
        try IndexCatalog.write(entry, on: connection)
    }

    /// One that nothing in the file is named by, also nothing of a kind that is not known here.
    private func nextIndexNumber(_ catalog: IndexCatalog) throws(StoreError) -> Int {
        var number = 1 + (catalog.entries.map(\.number).max() ?? 0)
        while try connection.number(
            "SELECT count(*) FROM sqlite_schema WHERE name IN ('index_\(number)', 'elements_\(number)', 'words_\(number)')"
        )
            != 0
        {
            number += 1
        }
        return number
    }

    /// Takes an index away, also one whose definition can't be read here.
    /// - Throws: `StoreError` `not_found` with the names that there are.
    package func dropIndex(_ name: String) throws(StoreError) {
        let catalog = try IndexCatalog(connection)
        if catalog.unreadable.contains(where: { $0.hasSameBytes(as: name) }) {
            try IndexCatalog.drop(unreadable: name, on: connection)
            return try dropIndexSettings(name)
        }
        guard let entry = catalog[name] else {
            let names = (catalog.entries.map(\.definition.name) + catalog.unreadable).joined(separator: ", ")
            throw StoreError(
                .notFound, name,
                "there is no index '\(StoreError.shortened(name, to: 60))'"
                    + (names.isEmpty ? ": \(connection.subject) has none" : "; there are: \(names)"))
        }
        for statement in entry.definition.removal(number: entry.number) { try connection.run(statement) }
        try dropIndexSettings(name)
    }

    private func dropIndexSettings(_ name: String) throws(StoreError) {
        for prefix in [IndexCatalog.prefix, IndexCatalog.usePrefix] {
            let row = try connection.statement(.dropSetting)
            defer { row.reset() }
            row.bind(1, text: prefix + name)
            _ = try row.step()
        }
    }

    /// Writes down that queries have used indexes now; names of indexes that are not there any more are left out.
    package func noteIndexUse(_ names: [String]) throws(StoreError) {
        let catalog = try IndexCatalog(connection)
        let row = try connection.statement(.writeSetting)
        for name in names where catalog[name] != nil {
            defer { row.reset() }
            row.bind(1, text: IndexCatalog.usePrefix + name)
            row.bind(2, blob: Array(String(environment.now()).utf8))
            _ = try row.step()
        }
    }
}

extension WriteTransaction {
    /// Makes an index and tells how far it is.
    /// - Parameter progress: called now and then with the documents that are done and how many there are, at the end
    ///   with both the same; false gives the index up, and the transaction with it.
    /// - Throws: `StoreError` as `createIndex`; `cancelled` where it was given up.
    package func createIndex(
        _ definition: IndexDefinition, progress: @escaping (_ done: UInt64, _ total: UInt64) -> Bool
    ) throws(StoreError) {
        let summary = state.summary
        let total = summary.documents - summary.deleted
        let (connection, calls) = (connection, definition.callsPerDocument)
        let start = connection.functions.calls
        connection.watch { [functions = connection.functions] in
            !progress(min(total, (functions.calls - start) / calls), total)
        }
        defer { connection.watch(nil) }
        do throws(StoreError) { try createIndex(definition) } catch {
            throw error.isInterruption ? .cancelled(definition.name) : error
        }
        _ = progress(total, total)
    }
}

extension Store {
    /// Makes an index in a transaction of its own; see `WriteTransaction.createIndex`.
    /// - Parameter progress: false gives the index up, and nothing is left of it.
    package func createIndex(
        _ definition: IndexDefinition, progress: @escaping (_ done: UInt64, _ total: UInt64) -> Bool = { _, _ in true }
    ) throws(StoreError) {
        try write { transaction throws(StoreError) in try transaction.createIndex(definition, progress: progress) }
    }

    /// Takes an index away; see `WriteTransaction.dropIndex`.
    package func dropIndex(_ name: String) throws(StoreError) {
        try write { transaction throws(StoreError) in try transaction.dropIndex(name) }
    }
}

extension IndexDefinition {
    /// About how often SQLite calls a function for each document while the index is made.
    fileprivate var callsPerDocument: UInt64 {
        switch kind {
        case .values(let expressions): UInt64(expressions.count) + (filter == nil ? 0 : 1)
        case .elements: 1 + (filter == nil ? 0 : 1)
        // Once to see whether there is anything, once to write it.
        case .text(let fields, _): 2 * UInt64(fields.count) + (filter == nil ? 0 : 1)
        }
    }
}
