import KithQuery
import KithStore
import KithSystem

// Queries and indexes where no node runs.
extension OfflineUpkeep {
    /// Asks a query.
    /// - Parameter tell: takes the lines of docs/control.md; false ends it.
    package func query(_ request: ControlQuery, in name: String, tell: ([UInt8]) -> Bool) throws(NodeError) {
        try withStore(of: name) { store throws(StoreError) in
            let reader = store.ownReader()
            try request.answer(by: reader, isUnwanted: sink.isCancelled, tell: tell)
            let used = reader.takeUsedIndexes()
            if !used.isEmpty {
                try store.write { transaction throws(StoreError) in try transaction.noteIndexUse(used) }
            }
        }
    }

    /// Says how a query is run.
    package func explain(_ request: ControlQuery, in name: String) throws(NodeError) -> QueryExplanation {
        try withStore(of: name) { store throws(StoreError) in try store.ownReader().explain(request.text) }
    }

    /// The indexes of a database, ascending by name.
    package func indexes(of name: String) throws(NodeError) -> [IndexListing] {
        try withStore(of: name) { store throws(StoreError) in try store.ownReader().indexes() }
    }

    /// Makes an index. The last event is `indexed`.
    /// - Parameter body: the definition as the control interface takes it.
    package func createIndex(_ index: String, _ body: [UInt8], in name: String) throws(NodeError) {
        let definition: IndexDefinition
        do throws(ControlError) { definition = try IndexDefinition(named: index, body: body) } catch {
            throw NodeError(code: error.code.rawValue, message: error.message)
        }
        let progress = sink.progress()
        try withStore(of: name) { store throws(StoreError) in
            try store.createIndex(definition) { done, total in
                progress(done, total)
                return !self.sink.isCancelled()
            }
        }
        sink.emit(.indexed(database: name, index: definition.name))
    }

    package func dropIndex(_ index: String, in name: String) throws(NodeError) {
        try withStore(of: name) { store throws(StoreError) in try store.dropIndex(index) }
    }

    /// How the databases are built, a line each: what a report of trouble has of them.
    package func support() throws(NodeError) -> [UInt8] {
        var lines: [UInt8] = []
        for text in try names() {
            guard let name = try? DatabaseName(text) else { continue }
            do throws(NodeError) {
                lines += try withStore(of: text) { store throws(StoreError) in
                    try DatabaseReport.read(name, store.ownReader()).json
                }
            } catch {
                lines += DatabaseReport.json(name, StoreError(.cannotOpen, text, error.message))
            }
            lines.append(UInt8(ascii: "\n"))
        }
        return lines
    }

    private func withStore<Value>(
        of name: String, _ body: (Store) throws(StoreError) -> Value
    ) throws(NodeError) -> Value {
        let file = try here(name)
        return try asNode { () throws(StoreError) in
            let store = try Store(file, environment: Upkeep.environment, options: StoreOptions(creates: false))
            let value = try body(store)
            try? store.truncateLog()
            return value
        }
    }
}
