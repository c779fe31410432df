import KithDocument

#if KITH_MUTANTS
import KithSystem
#endif

/// What the documents of one range of the id hash add up to.
package struct StoredRange: Hashable, Sendable {
    package let index: UInt16
    /// Documents that add to the digest.
    package let documents: UInt32
    package let digest: Digest256
}

/// The digests of a database by ranges: 65,536, by the first 16 bits of SHA-256 of the id.
package struct StoredRanges: Hashable, Sendable {
    /// Where the database stood when it was scanned.
    package let position: Position
    /// The ranges that hold documents, ascending.
    package let ranges: [StoredRange]
}

extension StoreReader {
    /// The digests of all ranges, over the documents that match.
    /// - Complexity: one scan of the database; O(documents named) with a filter that names them.
    package func rangeDigests(matching filter: DocumentFilter? = nil) throws(StoreError) -> StoredRanges {
        try connection.reading { () throws(StoreError) in
            let state = try StoreState.read(connection)
            var sums = [Digest256](repeating: .zero, count: 1 << 16)
            var counts = [UInt32](repeating: 0, count: 1 << 16)
            try forEach(matching: filter) { id, digest in
                let range = Int(digests.range(of: id))
                sums[range] += digest
                counts[range] += 1
            }
            let ranges = counts.indices.filter { counts[$0] > 0 }.map { index in
                StoredRange(index: UInt16(index), documents: counts[index], digest: sums[index])
            }
            return StoredRanges(position: state.position, ranges: ranges)
        }
    }

    /// The documents whose id hash lies in the given ranges, as changes, ascending by sequence.
    /// - Complexity: one scan of the database.
    package func changes(
        inRanges ranges: [UInt16], matching filter: DocumentFilter? = nil
    ) throws(StoreError) -> [Change] {
        var isWanted = [Bool](repeating: false, count: 1 << 16)
        for range in ranges { isWanted[Int(range)] = true }
        return try connection.reading { () throws(StoreError) in
            var changes: [Change] = []
            let matcher = filter.map { DocumentMatcher($0) }
            let row = try connection.statement(filter == nil ? .everyTree : .everyBody)
            defer { row.reset() }
            while try row.step() {
                guard isWanted[Int(digests.range(of: DocumentID(unchecked: row.string(1))))] else { continue }
                changes.append(try change(row, matcher))
            }
            return changes.sorted { $0.sequence < $1.sequence }
        }
    }

    /// Calls the body with the documents that match and what each adds to the digest.
    private func forEach(
        matching filter: DocumentFilter?, _ body: (DocumentID, Digest256) -> Void
    ) throws(StoreError) {
        func add(_ row: Statement, _ id: DocumentID) throws(StoreError) {
            if let digest = digests.digest(of: id, try RevisionTree(row, 4, of: id.string)) { body(id, digest) }
        }
        if let documents = filter?.documents {
            for id in documents {
                let row = try connection.statement(.readWhole)
                defer { row.reset() }
                row.bind(1, text: id.string)
                if try row.step() { try add(row, id) }
            }
            return
        }
        let matcher = filter.map { DocumentMatcher($0) }
        let row = try connection.statement(filter == nil ? .everyTree : .everyBody)
        defer { row.reset() }
        while try row.step() {
            let id = DocumentID(unchecked: row.string(1))
            if try matcher?.matches(row, id) ?? true { try add(row, id) }
        }
    }

    /// The sum of what the documents that match add to the digest, but for those left out, and where the database stood.
    /// - Complexity: one scan of the database; O(documents named) with a filter that names them.
    package func matchingDigest(
        _ filter: DocumentFilter, without leftOut: [DocumentID]
    ) throws(StoreError) -> (Digest256, StoreSummary) {
        let leftOut = Set(leftOut)
        return try connection.reading { () throws(StoreError) in
            let summary = try StoreState.read(connection).summary
            var sum = Digest256.zero
            try forEach(matching: filter) { id, digest in
                if !leftOut.contains(id) { sum += digest }
            }
            return (sum, summary)
        }
    }

    /// The documents that the database leaves out of comparisons with its peers, since it purged or refused them, or since
    /// they are expired and may be dropped elsewhere; ascending, each once.
    /// - Parameters:
    ///   - expired: those that expired up to here, in milliseconds since 1970; nil for none.
    ///   - candidates: which are left out if they were refused; nil for all.
    package func exclusions(
        expired: Int64? = nil, refused candidates: Set<DocumentID>? = nil
    ) throws(StoreError) -> [DocumentID] {
        try connection.reading { () throws(StoreError) in
            var ids: [DocumentID] = []
            let purged = try connection.statement(.allPurged)
            defer { purged.reset() }
            while try purged.step() { ids.append(DocumentID(unchecked: purged.string(0))) }
            let refused = try connection.statement(.allRefused)
            defer { refused.reset() }
            refused.bind(1, Limits.refusalRules)
            while try refused.step() {
                let id = DocumentID(unchecked: refused.string(0))
                #if KITH_MUTANTS
                if Mutant.isActive(.refusesForAll) { ids.append(id) }
                #endif
                if candidates?.contains(id) ?? true { ids.append(id) }
            }
            if let expired, try connection.number(Schema.expiryIndexCount) != 0 {
                let list = try connection.statement(.expired)
                defer { list.reset() }
                list.bind(1, expired)
                list.bind(2, Int64.max)
                while try list.step() { ids.append(DocumentID(unchecked: list.string(0))) }
            }
            ids.sort()
            return ids.indices.filter { $0 == 0 || ids[$0] != ids[$0 - 1] }.map { ids[$0] }
        }
    }

    /// The documents of which some revision is recorded as refused, with the reasons; ascending.
    package func refusals() throws(StoreError) -> [RefusedDocument] {
        let row = try connection.statement(.allRefused)
        defer { row.reset() }
        row.bind(1, Limits.refusalRules)
        var refusals: [RefusedDocument] = []
        while try row.step() {
            refusals.append(RefusedDocument(document: DocumentID(unchecked: row.string(0)), reason: row.string(2)))
        }
        return refusals
    }

    /// The documents of which an announced leaf is recorded as refused.
    package func refused(in changes: [Change]) throws(StoreError) -> [DocumentID] {
        try connection.reading { () throws(StoreError) in
            guard try StoreState.read(connection).refused > 0 else { return [] }
            var documents: [DocumentID] = []
            for change in changes {
                guard let record = try Refusals.read(of: change.document, connection), record.isValid,
                    change.leaves.contains(where: { record.leaves.contains($0.id) })
                else { continue }
                documents.append(change.document)
            }
            return documents
        }
    }

    /// The sum over these documents of what each adds to the digest here.
    package func digest(of documents: [DocumentID]) throws(StoreError) -> Digest256 {
        try connection.reading { () throws(StoreError) in
            var sum = Digest256.zero
            for id in documents {
                let row = try connection.statement(.readTree)
                defer { row.reset() }
                row.bind(1, text: id.string)
                guard try row.step() else { continue }
                if let digest = digests.digest(of: id, try RevisionTree(row, 2, of: id.string)) { sum += digest }
            }
            return sum
        }
    }
}
