internal import KithDocument

// The messages of a feed that come once for each document: read straight into the store's values.

extension Changes {
    init(_ reader: inout CBORReader) throws(ProtocolError) {
        var feed: FeedID?
        var page: UInt64 = 0
        var through: Position?
        var digest: Digest256?
        var latest: UInt64 = 0
        var changes: [Change] = []
        var others: [UInt64] = []
        var keys = try reader.map()
        while let key = try keys.next(&reader) {
            switch key {
            case 1: feed = try reader.feed()
            case 2: page = try reader.uint()
            case 3: through = try reader.position()
            case 4: digest = try reader.digest()
            case 5: latest = try reader.sequence()
            case 6: changes = try reader.changes()
            case 7: others = try reader.others()
            default: try reader.skip()
            }
        }
        guard let feed, let through else { throw ProtocolError("a page of changes lacks a field") }
        self.init(
            feed: feed, page: page, through: through, digest: digest, latest: latest,
            changes: try changes.marking(others: others))
    }
}

extension [Change] {
    /// The places of those that do not match.
    var othersInPage: [UInt64] { indices.filter { !self[$0].isMatching }.map { UInt64($0) } }

    /// With those at these places as ones that do not match.
    func marking(others: [UInt64]) throws(ProtocolError) -> Self {
        if others.isEmpty { return self }
        guard let last = others.last, last < UInt64(count) else {
            throw ProtocolError("a change that is not in the page is said not to match")
        }
        var changes = self
        for place in others {
            let change = self[Int(place)]
            changes[Int(place)] = Change(
                sequence: change.sequence, document: change.document, leaves: change.leaves, isMatching: false)
        }
        return changes
    }
}

extension CBORReader {
    mutating func changes() throws(ProtocolError) -> [Change] {
        let count = try array(atMost: ReplicationLimits.changesPerPage, "a page of changes")
        var changes: [Change] = []
        changes.reserveCapacity(count)
        for _ in 0..<count {
            try tuple(3, "a change")
            let sequence = try self.sequence()
            changes.append(Change(sequence: sequence, document: try document(), leaves: try leaves()))
        }
        return changes
    }

    private mutating func leaves() throws(ProtocolError) -> [AnnouncedLeaf] {
        let bytes = try byteString(atMost: ReplicationLimits.leavesPerChange * 33, "the leaves of a change")
        var leaves: [AnnouncedLeaf] = []
        leaves.reserveCapacity(bytes.count / 25)
        var offset = 0
        while offset < bytes.count {
            let isForeign = bytes[offset] == 1
            let size = isForeign ? 33 : 25
            guard bytes[offset] <= 1, offset + size <= bytes.count else {
                throw ProtocolError("the leaves of a change end too early")
            }
            let id = try bytes.revisionID(at: offset + 1)
            if let last = leaves.last, id <= last.id { throw ProtocolError("the leaves of a change do not ascend") }
            leaves.append(AnnouncedLeaf(id: id, versionHash: isForeign ? bytes.bigEndian(at: offset + 25) : nil))
            offset += size
        }
        return leaves
    }

    mutating func wants() throws(ProtocolError) -> [Want] {
        let count = try array(atMost: ReplicationLimits.wantsPerRequest, "the wants")
        var wants: [Want] = []
        wants.reserveCapacity(count)
        for _ in 0..<count {
            try tuple(3, "a want")
            let document = try document()
            let revisions = try revisionIDs(atMost: ReplicationLimits.leavesPerChange, "the wanted revisions")
            if revisions.isEmpty { throw ProtocolError("a want names no revision") }
            let known = try revisionIDs(atMost: ReplicationLimits.leavesPerChange, "the known revisions")
            wants.append(Want(document: document, revisions: revisions, known: known))
        }
        return wants
    }

    private mutating func revisionIDs(atMost limit: Int, _ what: StaticString) throws(ProtocolError) -> [RevisionID] {
        let bytes = try byteString(atMost: limit * 24, what)
        guard bytes.count.isMultiple(of: 24) else { throw ProtocolError("\(what) end too early") }
        var ids: [RevisionID] = []
        ids.reserveCapacity(bytes.count / 24)
        for offset in stride(from: 0, to: bytes.count, by: 24) { ids.append(try bytes.revisionID(at: offset)) }
        return ids
    }
}

extension Revisions {
    init(_ reader: inout CBORReader) throws(ProtocolError) {
        var feed: FeedID?
        var request: UInt64 = 0
        var isFinal = false
        var gone: [DocumentID] = []
        var deliveries: [ReceivedDelivery] = []
        var keys = try reader.map()
        while let key = try keys.next(&reader) {
            switch key {
            case 1: feed = try reader.feed()
            case 2: request = try reader.uint()
            case 3: isFinal = try reader.bool()
            case 4:
                for _ in 0..<(try reader.array(atMost: ReplicationLimits.wantsPerRequest, "the documents gone")) {
                    gone.append(try reader.document())
                }
            case 5:
                let count = try reader.array(atMost: ReplicationLimits.wantsPerRequest, "the deliveries")
                deliveries.reserveCapacity(count)
                for _ in 0..<count { deliveries.append(try ReceivedDelivery(&reader)) }
            default: try reader.skip()
            }
        }
        guard let feed else { throw ProtocolError("a message names no feed") }
        self.init(feed: feed, request: request, isFinal: isFinal, deliveries: deliveries, gone: gone)
    }
}

extension RevisionChunk {
    init(_ reader: inout CBORReader) throws(ProtocolError) {
        var feed: FeedID?
        var request: UInt64 = 0
        var totalBytes = 0
        var offset = 0
        var bytes: [UInt8] = []
        var keys = try reader.map()
        while let key = try keys.next(&reader) {
            switch key {
            case 1: feed = try reader.feed()
            case 2: request = try reader.uint()
            case 3: totalBytes = Int(try reader.uint(atMost: UInt64(ReplicationLimits.deliveryBytes), "a document"))
            case 4: offset = Int(try reader.uint(atMost: UInt64(ReplicationLimits.deliveryBytes), "an offset"))
            case 5: bytes = try reader.byteArray(atMost: ReplicationLimits.frameBytes, "a part of a document")
            default: try reader.skip()
            }
        }
        guard let feed, !bytes.isEmpty else { throw ProtocolError("a part of a document lacks a field") }
        self.init(feed: feed, request: request, totalBytes: totalBytes, offset: offset, bytes: bytes)
    }
}

extension ReceivedDelivery {
    /// Reads one delivery. What is wrong within a revision makes the document unreadable; what is wrong with the form
    /// of the message, the document's id or the ids of its revisions throws.
    init(_ reader: inout CBORReader) throws(ProtocolError) {
        try reader.tuple(2, "a delivery")
        let document = try reader.document()
        let count = try reader.array(atMost: DocumentLimits.leaves, "the revisions of a delivery")
        if count == 0 { throw ProtocolError("a delivery has no revision") }
        var items: [Delivery.Item] = []
        items.reserveCapacity(count)
        var ids: [RevisionID] = []
        var reason: String?
        for _ in 0..<count {
            var item = try RawItem(&reader)
            if reason == nil {
                do throws(DocumentError) {
                    items.append(try item.decoded())
                    continue
                } catch {
                    reason = error.message
                    ids = items.map(\.revision.id)
                }
            }
            ids.append(item.id)
        }
        self =
            reason.map { .unreadable(document, ids, reason: $0) }
            ?? .whole(Delivery(document: document, items: items))
    }

    /// A delivery that came in chunks.
    init(chunked bytes: [UInt8]) throws(ProtocolError) {
        self = try CBORReader.read(bytes) { reader throws(ProtocolError) in try ReceivedDelivery(&reader) }
    }
}

/// The parts of a revision as they stand in the message; valid as long as its reader is.
private struct RawItem {
    let id: RevisionID
    private let parent: UnsafeRawBufferPointer
    private let mergedParents: UnsafeRawBufferPointer
    private let kind: UInt64
    private let body: UnsafeRawBufferPointer
    private let stamps: UnsafeRawBufferPointer
    private let version: UnsafeRawBufferPointer
    private let resolver: String
    private let ancestors: UnsafeRawBufferPointer

    init(_ reader: inout CBORReader) throws(ProtocolError) {
        try reader.tuple(9, "a revision")
        let id = try reader.byteString(atMost: 24, "a revision id")
        guard id.count == 24 else { throw ProtocolError("a revision id has \(id.count) bytes, not 24") }
        self.id = try id.revisionID(at: 0)
        let all = ReplicationLimits.deliveryBytes
        parent = try reader.byteString(atMost: 24, "a parent")
        mergedParents = try reader.byteString(atMost: all, "the merged parents")
        kind = try reader.uint()
        body = try reader.byteString(atMost: all, "a body")
        stamps = try reader.byteString(atMost: all, "the stamps")
        version = try reader.byteString(atMost: all, "a version")
        resolver = try reader.text(atMost: ReplicationLimits.frameBytes, "a resolver")
        ancestors = try reader.byteString(atMost: all, "the ancestors")
    }

    mutating func decoded() throws(DocumentError) -> Delivery.Item {
        let (kind, isForeign) = try Self.kind(self.kind)
        guard body.count <= DocumentLimits.documentBytes else {
            throw .malformed("the body has \(body.count) bytes, over the limit of \(DocumentLimits.documentBytes)")
        }
        guard resolver.utf8.count <= DocumentLimits.resolverBytes else {
            throw .malformed("the name of a resolver is too long")
        }
        let revision = Revision(
            id: id, parent: try Self.ids(parent, atMost: 1).first,
            mergedParents: try Self.ids(mergedParents, atMost: DocumentLimits.leaves), kind: kind, body: Array(body),
            stamps: try decodedStamps(), version: try decodedVersion(), resolver: resolver, isForeign: isForeign)
        return Delivery.Item(revision: revision, ancestors: try decodedAncestors())
    }

    private static func kind(_ number: UInt64) throws(DocumentError) -> (Revision.Kind, isForeign: Bool) {
        guard number < 8, let kind = Revision.Kind(rawValue: UInt8(number) & 3) else {
            throw .malformed("a revision has the unknown kind \(number)")
        }
        return (kind, UInt8(number) & DeliveryFlags.foreign != 0)
    }

    private static func ids(_ bytes: UnsafeRawBufferPointer, atMost limit: Int) throws(DocumentError) -> [RevisionID] {
        if bytes.isEmpty { return [] }
        guard bytes.count.isMultiple(of: 24), bytes.count / 24 <= limit else {
            throw .malformed("the parents of a revision are not whole")
        }
        var ids: [RevisionID] = []
        ids.reserveCapacity(bytes.count / 24)
        for offset in stride(from: 0, to: bytes.count, by: 24) { ids.append(try id(bytes, at: offset)) }
        return ids
    }

    private static func id(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(DocumentError) -> RevisionID {
        do throws(ProtocolError) {
            return try bytes.revisionID(at: offset)
        } catch {
            throw .malformed(error.message)
        }
    }

    private func decodedStamps() throws(DocumentError) -> FieldStamps? {
        if stamps.isEmpty { return nil }
        if stamps.count == 16 {
            return FieldStamps(defaultStamp: Stamp(time: stamps.bigEndian(at: 0), writer: stamps.bigEndian(at: 8)))
        }
        var reader = ByteReader(Array(stamps))
        return try FieldStamps(from: &reader)
    }

    private func decodedVersion() throws(DocumentError) -> Version {
        guard version.count.isMultiple(of: 16), version.count / 16 <= DocumentLimits.maximumEntries else {
            throw .malformed("a version has too many entries or is not whole")
        }
        var entries: [Version.Entry] = []
        entries.reserveCapacity(version.count / 16)
        for offset in stride(from: 0, to: version.count, by: 16) {
            entries.append(.init(writer: version.bigEndian(at: offset), time: version.bigEndian(at: offset + 8)))
        }
        guard let decoded = Version(ascending: entries) else {
            throw .malformed("the entries of a version do not ascend")
        }
        return decoded
    }

    private func decodedAncestors() throws(DocumentError) -> [Ancestor] {
        guard ancestors.count.isMultiple(of: 25) else { throw .malformed("the ancestors of a revision are not whole") }
        var decoded: [Ancestor] = []
        decoded.reserveCapacity(ancestors.count / 25)
        for offset in stride(from: 0, to: ancestors.count, by: 25) {
            let (kind, isForeign) = try Self.kind(UInt64(ancestors[offset]))
            decoded.append(Ancestor(id: try Self.id(ancestors, at: offset + 1), kind: kind, isForeign: isForeign))
        }
        return decoded
    }
}
