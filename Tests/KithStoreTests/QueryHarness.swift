import KithDocument
import KithMerge
import KithQuery
import KithTestSupport
import Testing

@testable import KithStore

/// Queries answered by a store and by the interpreter, over the same documents.
struct QueryHarness {
    let store: TestStore
    private(set) var documents: [QueryDocument] = []

    init(seed: UInt64 = 1) throws { store = try TestStore(seed: seed) }

    /// Writes documents in one transaction, as `d0`, `d1` ...
    mutating func put(_ bodies: [JSONObject]) throws {
        let written = bodies.enumerated().map { ("d\($0)", JSONValue.object($1).canonicalBytes) }
        try store.store.write { (transaction) throws(StoreError) in
            for (id, body) in written { _ = try transaction.put(DocumentID(unchecked: id), body) }
        }
        try read()
    }

    /// The live documents as the interpreter takes them.
    mutating func read() throws {
        documents = try store.reader.documents(after: nil, limit: .max).map { document in
            let tree = try #require(try store.reader.load(document.id)).tree
            let time = try #require(tree.version(of: document.revision)).highestTime
            return QueryDocument(
                DocumentMetadata(
                    id: document.id.string, revision: document.revision.description, sequence: document.sequence,
                    edited: Stamp.milliseconds(ofTime: time)),
                try #require(JSONValue(canonical: document.body).object))
        }
    }

    func rows(
        _ query: CheckedQuery, _ parameters: ParameterValues = ParameterValues()
    ) throws -> [QueryRow] {
        try store.reader.query(query, parameters: parameters, now: 1_796_057_672_500, offset: 60).rows()
    }

    func expected(
        _ query: CheckedQuery, _ parameters: ParameterValues = ParameterValues()
    ) throws(QueryError) -> [QueryRow] {
        let documents = documents
        return try QueryEvaluator(
            parameters: parameters, context: FunctionContext(now: 1_796_057_672_500, offset: 60)
        ).rows(of: query) { _ in documents }
    }

    /// The rows of SQL++ as JSON, one after the other.
    func text(_ query: String, _ parameters: ParameterValues = ParameterValues()) throws -> String {
        let query = try QueryStatement(parsing: query).checked()
        return try rows(query, parameters).map { $0.value.json?.description ?? "MISSING" }.joined(separator: " ")
    }

    func makeIndex(_ definition: IndexDefinition) throws { try store.store.createIndex(definition) }
}
