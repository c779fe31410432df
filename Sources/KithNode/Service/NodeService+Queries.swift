import KithHTTPCore
import KithQuery
import KithStore
import KithSystem
import Synchronization

extension NodeService {
    func query(_ request: ControlQuery, in name: String) async throws(ControlError) -> ControlStream {
        let database = try database(name)
        let rows = RowQueue(
            beside: database.file, number: node.linkNumbers.wrappingAdd(1, ordering: .relaxed).newValue)
        database.read(isLong: true) { reader throws(StoreError) in
            let isExchanged = { database.isOver || database.readers.isShut }
            do throws(StoreError) {
                try request.answer(by: reader, isUnwanted: { rows.isUnwanted || isExchanged() }, tell: rows.put)
            } catch {
                // Its file is about to be exchanged, and nobody else reads until it is over.
                throw error.code == .cancelled && isExchanged() ? database.file.isExchanged : error
            }
        } completion: { result in
            if case .failure(let error) = result { rows.finish(ControlError(error)) } else { rows.finish(nil) }
        }
        // A query that is wrong is an error, and no answer that ends with one.
        let first = try await rows.next()
        return ControlStream { writer in
            defer { rows.abandon() }
            var part = first
            while let lines = part {
                try await writer.write(lines)
                part = try await rows.next()
            }
        }
    }

    func explain(_ request: ControlQuery, in name: String) async throws(ControlError) -> QueryExplanation {
        try await reading(name) { reader throws(StoreError) in try reader.explain(request.text) }
    }

    func indexes(of name: String) async throws(ControlError) -> [IndexListing] {
        let database = try database(name)
        let used = database.takeUsedIndexes()
        if !used.isEmpty {
            // A disk that takes no commits has a list all the same.
            _ = try? await database.write { transaction throws(StoreError) in try transaction.noteIndexUse(used) }
        }
        do throws(StoreError) {
            return try await database.read(isLong: true) { reader throws(StoreError) in try reader.indexes() }
        } catch { throw ControlError(error) }
    }

    func createIndex(_ definition: IndexDefinition, in name: String) async throws(ControlError) -> ControlStream {
        let database = try database(name)
        return .upkeep { sink throws(ControlError) in
            do throws(StoreError) {
                try await database.write { transaction throws(StoreError) in
                    let progress = sink.progress()
                    try transaction.createIndex(definition) { done, total in
                        progress(done, total)
                        return true
                    }
                }
            } catch { throw ControlError(error) }
            sink.emit(.indexed(database: name, index: definition.name))
        }
    }

    func dropIndex(_ index: String, in name: String) async throws(ControlError) {
        try await writing(name) { transaction throws(StoreError) in try transaction.dropIndex(index) }
    }
}

extension DatabaseFile {
    fileprivate var isExchanged: StoreError {
        StoreError(
            .cancelled, name.string,
            "the query was given up: database \(name) is closed, or its file is about to be exchanged; ask again")
    }
}
