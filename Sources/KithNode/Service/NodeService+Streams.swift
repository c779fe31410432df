import KithCrypto
import KithDocument
import KithHTTPCore
import KithStore

extension NodeService {
    func changes(of name: String, _ request: ControlChanges) async throws(ControlError) -> ControlStream {
        let database = try database(name)
        return ControlStream { writer in
            var since = request.since
            var left = request.limit ?? .max
            while left > 0 {
                let (after, limit, moment) = (since, min(left, NodeLimits.pageDocuments), database.moment)
                let page = try await reading(name) { reader throws(StoreError) in
                    try reader.feed(after: after, limit: limit)
                }
                var lines: [UInt8] = []
                for entry in page {
                    lines += ControlChanges.line(
                        sequence: entry.sequence, id: entry.document, revision: entry.revision, deleted: entry.isDeleted
                    )
                }
                if !lines.isEmpty { try await writer.write(lines) }
                left -= page.count
                if let last = page.last { since = last.sequence }
                if page.count < limit {
                    guard request.follows else { return }
                    await database.waitForChange(after: moment)
                    if Task.isCancelled || database.isOver { throw ControlError.stopping }
                }
            }
        }
    }

    func conflicts(in name: String) async throws(ControlError) -> ControlStream {
        _ = try database(name)
        return ControlStream { writer in
            var since: UInt64 = 0
            while true {
                let after = since
                let page = try await reading(name) { reader throws(StoreError) in
                    try reader.conflicts(after: after, limit: NodeLimits.pageDocuments).map {
                        entry throws(StoreError) in
                        (entry: entry, others: try reader.get(entry.document)?.conflicts ?? [])
                    }
                }
                guard let last = page.last else { return }
                since = last.entry.sequence
                try await writer.write(
                    page.flatMap { entry, others in
                        ControlConflict(id: entry.document, winner: entry.winner, leaves: [entry.winner] + others).line
                    })
            }
        }
    }

    func exportDocuments(of name: String) async throws(ControlError) -> ControlStream {
        _ = try database(name)
        return ControlStream { writer in
            var last: DocumentID?
            while true {
                let after = last
                let page = try await reading(name) { reader throws(StoreError) in
                    try reader.documents(
                        after: after, limit: NodeLimits.pageDocuments, maximumBytes: NodeLimits.pageBytes)
                }
                guard let end = page.last else { return }
                last = end.id
                try await writer.write(page.flatMap { $0.exportLine })
            }
        }
    }

    func importDocuments(
        _ body: HTTPBodyReader, into name: String, _ request: ControlImport
    ) async throws(ControlError) -> ControlStream {
        try node.requireWriter()
        _ = try database(name)
        return ControlStream { writer in
            var run = ImportRun(request)
            var splitter = JSONStreamSplitter(limits: .withReservedNames)
            while true {
                let chunk = try await body.next()
                if let chunk { splitter.feed(chunk) } else { splitter.finish() }
                while let document = try await next(&splitter, &run, in: name) {
                    run.take(document)
                    if run.batchBytes >= NodeLimits.pageBytes || run.batch.count >= NodeLimits.pageDocuments {
                        try await store(&run, in: name)
                    }
                }
                if chunk == nil { break }
            }
            try await store(&run, in: name)
            try await writer.write(run.lines)
        }
    }

    /// The next object of the file. Where the file is no JSON from, what came before is stored all the same.
    private func next(
        _ splitter: inout JSONStreamSplitter, _ run: inout ImportRun, in name: String
    ) async throws(ControlError) -> JSONStreamSplitter.Document? {
        let wrong: DocumentError
        do throws(DocumentError) { return try splitter.next() } catch { wrong = error }
        try await store(&run, in: name)
        throw ControlError(.invalid, "the file was read up to document \(run.read): \(wrong.message)")
    }

    /// Writes what an import has gathered.
    private func store(_ run: inout ImportRun, in name: String) async throws(ControlError) {
        let (batch, isInitial) = (run.takeBatch(), run.request.isInitial)
        if batch.isEmpty { return }
        if run.request.isDryRun {
            run.written += batch.count
            return
        }
        let database = try database(name)
        // Each document stands or falls alone: they share a commit, not a fate.
        let results = await database.write(each: batch) { item, transaction throws(StoreError) in
            try transaction.put(item.id, item.body, initial: isInitial)
        }
        var stop: StoreError?
        for (index, result) in results.enumerated() {
            switch result {
            case .success(let written): if written.isUnchanged { run.unchanged += 1 } else { run.written += 1 }
            case .failure(let error):
                // A full disk is no fault of the document: the rest would fail too.
                if error.isTransient || [.closed, .damaged].contains(error.code) {
                    stop = stop ?? error
                    continue
                }
                run.fail(batch[index].position, batch[index].id.string, error.message)
            }
        }
        if let stop { throw run.stopped(by: stop) }
    }
}

/// What an import has done and is about to do.
private struct ImportRun {
    struct Item: Sendable {
        let position: Int
        let id: DocumentID
        let body: [UInt8]
    }

    let request: ControlImport
    var read = 0
    var written = 0
    var unchanged = 0
    var failed = 0
    private(set) var batch: [Item] = []
    private(set) var batchBytes = 0
    private var failures: [UInt8] = []

    init(_ request: ControlImport) { self.request = request }

    /// The lines of the answer.
    var lines: [UInt8] {
        failures + ControlImportEvent.done(read: read, written: written, unchanged: unchanged, failed: failed).line
    }

    mutating func fail(_ position: Int, _ id: String?, _ message: String) {
        failed += 1
        if failed <= ControlLimits.listedFailures {
            failures += ControlImportEvent.failure(position: position, id: id, message: message).line
        }
    }

    /// The import ends here: what was written stays.
    func stopped(by error: StoreError) -> ControlError {
        let code = ControlError(error).code
        return ControlError(
            code,
            "the import stopped; \(written + unchanged) documents of the file are stored, and it may be imported again: "
                + error.message)
    }

    mutating func takeBatch() -> [Item] {
        defer {
            batch = []
            batchBytes = 0
        }
        return batch
    }

    /// Takes one object of the file: finds or makes its id, and puts its fields in canonical form.
    mutating func take(_ document: JSONStreamSplitter.Document) {
        read += 1
        do throws(DocumentError) {
            let text = try document.canonical(limits: .withReservedNames)
            let (id, body) = try split(text)
            batch.append(Item(position: read, id: id, body: body))
            batchBytes += body.count
        } catch {
            fail(read, nil, error.message)
        }
    }

    /// The id, and the body without what the store says of a document.
    private func split(_ text: [UInt8]) throws(DocumentError) -> (DocumentID, [UInt8]) {
        let value = try JSONValue(parsing: text)
        guard var object = value.object else { throw .malformed("the document is not a JSON object") }
        let field = request.idField ?? "_id"
        let id: DocumentID
        switch object[field] {
        case .string(let text)?: id = try DocumentID(text)
        case .number(let number)?: id = try DocumentID(number.text)
        case nil where request.idField == nil:
            // The same content gets the same id, so that an import may be repeated.
            id = DocumentID(unchecked: Hex.encode(SHA256.hash(text).bytes.prefix(16)))
        case nil: throw .invalidID("the document has no field \(field) to take its id from")
        default: throw .invalidID("the field \(field) is neither text nor a number, so it can't be an id")
        }
        for name in ["_id", "_rev", "_conflicts", "_sequence"] { object[name] = nil }
        return (id, try CanonicalJSON.object(from: JSONValue.object(object).canonicalBytes))
    }
}

extension StoredDocument {
    /// The body with `_id`, as a line.
    fileprivate var exportLine: [UInt8] {
        var meta = JSONObjectWriter()
        meta.add("_id", id.string)
        let separator: [UInt8] = body.count > 2 ? [UInt8(ascii: ",")] : []
        return meta.bytes.dropLast() + separator + body.dropFirst() + [UInt8(ascii: "\n")]
    }
}
