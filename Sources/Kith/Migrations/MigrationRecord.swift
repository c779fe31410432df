import KithDocument
import KithStore

extension DocumentReading {
    /// The names of the steps that have run here, in the order in which they did.
    func migrationsDone() throws(KithError) -> [String] {
        let reader = try access.reader()
        let bytes = try Database.store { () throws(StoreError) in try reader.local(recordID) }
        let record = bytes.flatMap { KithDocument.JSONValue(canonical: $0).object }
        return record?[doneKey]?.array?.compactMap(\.string) ?? []
    }
}

extension WriteBatch {
    /// Remembers which steps have run, with the rest of the batch.
    func noteMigrations(_ names: [String]) throws(KithError) {
        var record = JSONObject()
        record[doneKey] = .array(names.map { .string($0) })
        let bytes = KithDocument.JSONValue.object(record).canonicalBytes
        try carryOut { (transaction) throws(StoreError) in try transaction.putLocal(recordID, bytes) }
    }
}

/// The local document that holds them.
private let recordID = "migrations"
private let doneKey = "done"
