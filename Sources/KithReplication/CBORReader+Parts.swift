internal import KithDocument

#if KITH_MUTANTS
import KithSystem
#endif

// What several messages have in common.

extension CBORReader {
    mutating func feed() throws(ProtocolError) -> FeedID {
        let feed = try uint()
        if feed == 0 { throw ProtocolError("a feed has the number 0") }
        return feed
    }

    mutating func position() throws(ProtocolError) -> Position {
        try tuple(2, "a position")
        return Position(timeline: try uint(), sequence: try sequence())
    }

    /// A place in a database: no database counts further, and checkpoints keep it as it is.
    mutating func sequence() throws(ProtocolError) -> UInt64 {
        #if KITH_MUTANTS
        if Mutant.isActive(.takesAnySequence) { return try uint() }
        #endif
        return try uint(atMost: UInt64(Int64.max), "a sequence")
    }

    mutating func digest() throws(ProtocolError) -> Digest256 {
        let bytes = try byteString(atMost: 32, "a digest")
        guard bytes.count == 32 else { throw ProtocolError("a digest has \(bytes.count) bytes, not 32") }
        return Digest256(bytes: bytes)
    }

    mutating func document() throws(ProtocolError) -> DocumentID {
        let text = try text(atMost: DocumentID.maximumBytes, "a document id")
        do throws(DocumentError) {
            return try DocumentID(text)
        } catch {
            throw ProtocolError(error.message)
        }
    }

    mutating func documents() throws(ProtocolError) -> [DocumentID] {
        let count = try array(atMost: ReplicationLimits.exclusions, "the documents left out")
        var documents: [DocumentID] = []
        documents.reserveCapacity(count)
        for _ in 0..<count { documents.append(try document()) }
        return documents
    }

    /// The documents of a filter.
    mutating func filterDocuments() throws(ProtocolError) -> [DocumentID] {
        var documents: [DocumentID] = []
        var bytes = 1
        for _ in 0..<(try array(atMost: ReplicationLimits.filterBytes, "the documents of a filter")) {
            documents.append(try document())
            bytes += documents[documents.count - 1].string.utf8.count + 2
        }
        guard bytes <= ReplicationLimits.filterBytes, FeedFilter.isAscending(documents) else {
            throw ProtocolError("the documents of a filter do not ascend, or are too many")
        }
        return documents
    }

    /// The places in a list of changes of those that do not match, ascending.
    mutating func others() throws(ProtocolError) -> [UInt64] {
        var others: [UInt64] = []
        for _ in 0..<(try array(atMost: ReplicationLimits.changesPerPage, "the changes that do not match")) {
            let place = try uint()
            if let last = others.last, place <= last { throw ProtocolError("places in a page do not ascend") }
            others.append(place)
        }
        return others
    }

    mutating func statements() throws(ProtocolError) -> [[UInt8]] {
        var statements: [[UInt8]] = []
        var bytes = 0
        for _ in 0..<(try array(atMost: ReplicationLimits.statements, "the statements")) {
            let statement = try byteArray(atMost: ReplicationLimits.statementBytes, "a statement")
            bytes += statement.count
            if bytes > ReplicationLimits.statementsBytes { throw ProtocolError("the statements have too many bytes") }
            statements.append(statement)
        }
        return statements
    }

    mutating func databaseEntries() throws(ProtocolError) -> [DatabaseEntry] {
        var entries: [DatabaseEntry] = []
        for _ in 0..<(try array(atMost: ReplicationLimits.databases, "the databases")) {
            try tuple(5, "a database")
            let number = try uint()
            let name = try text(atMost: DocumentLimits.databaseNameBytes, "the name of a database")
            let state = DatabaseState(position: try position(), digest: try digest(), documents: try uint())
            entries.append(DatabaseEntry(number: number, name: name, state: state))
        }
        return entries
    }

    mutating func databaseNumbers() throws(ProtocolError) -> [UInt64] {
        var numbers: [UInt64] = []
        for _ in 0..<(try array(atMost: ReplicationLimits.databases, "the numbers of databases")) {
            numbers.append(try uint())
        }
        return numbers
    }

    mutating func refusals() throws(ProtocolError) -> [Refusal] {
        var refusals: [Refusal] = []
        for _ in 0..<(try array(atMost: ReplicationLimits.refusalsPerMessage, "the refusals")) {
            try tuple(2, "a refusal")
            let document = try document()
            refusals.append(
                Refusal(document: document, reason: try text(atMost: ReplicationLimits.textBytes, "a reason")))
        }
        return refusals
    }

    mutating func firstBytes() throws(ProtocolError) -> [UInt8] {
        let bytes = try byteArray(atMost: ReplicationLimits.firstBytesPerQuery, "the first bytes asked about")
        guard zip(bytes, bytes.dropFirst()).allSatisfy({ $0 < $1 }) else {
            throw ProtocolError("the first bytes asked about do not ascend")
        }
        return bytes
    }

    mutating func ranges() throws(ProtocolError) -> [UInt16] {
        var ranges: [UInt16] = []
        for _ in 0..<(try array(atMost: ReplicationLimits.rangesPerList, "the ranges asked about")) {
            let range = UInt16(try uint(atMost: 0xFFFF, "a range"))
            if let last = ranges.last, range <= last { throw ProtocolError("the ranges asked about do not ascend") }
            ranges.append(range)
        }
        return ranges
    }

    mutating func rangeDigests() throws(ProtocolError) -> [RangeDigests.Range] {
        let count = try array(atMost: ReplicationLimits.rangesPerFrame, "the digests of ranges")
        var ranges: [RangeDigests.Range] = []
        ranges.reserveCapacity(count)
        for _ in 0..<count {
            try tuple(3, "the digest of a range")
            let index = UInt16(try uint(atMost: 0xFFFF, "a range"))
            if let last = ranges.last, index <= last.index {
                throw ProtocolError("the digests of ranges do not ascend")
            }
            let documents = UInt32(try uint(atMost: UInt64(UInt32.max), "the documents of a range"))
            ranges.append(RangeDigests.Range(index: index, documents: documents, digest: try digest()))
        }
        return ranges
    }
}

extension UnsafeRawBufferPointer {
    /// The big-endian number at an offset within the bytes.
    func bigEndian(at offset: Int) -> UInt64 {
        precondition(offset >= 0 && offset + 8 <= count, "a number at \(offset) is not within \(count) bytes")
        return UInt64(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// The revision id in the 24 bytes at an offset.
    func revisionID(at offset: Int) throws(ProtocolError) -> RevisionID {
        let generation = bigEndian(at: offset)
        guard generation >= 1, generation <= RevisionID.maximumGeneration else {
            throw ProtocolError("a revision id has the generation \(generation)")
        }
        return RevisionID(
            generation: generation, digest: Digest128(high: bigEndian(at: offset + 8), low: bigEndian(at: offset + 16)))
    }
}
