internal import KithDocument

// The messages of a feed that come once for each document: written straight from the store's values.

extension CBORWriter {
    mutating func append(_ changes: Changes) {
        let others = changes.changes.othersInPage
        beginFeed(changes.feed, fields: 4 + [changes.digest != nil, !others.isEmpty].count { $0 })
        append(uint: 2)
        append(uint: changes.page)
        append(3, changes.through)
        if let digest = changes.digest { append(4, digest) }
        append(uint: 5)
        append(uint: changes.latest)
        append(uint: 6)
        beginArray(changes.changes.count)
        for change in changes.changes { append(change: change) }
        append(7, numbers: others)
    }

    /// `[sequence, document, leaves]`; the leaves are one byte string.
    mutating func append(change: Change) {
        beginArray(3)
        append(uint: change.sequence)
        append(text: change.document.string)
        let leaves = change.leaves.prefix(ReplicationLimits.leavesPerChange)
        beginBytes(leaves.reduce(0) { $0 + ($1.versionHash == nil ? 25 : 33) })
        for leaf in leaves {
            append(raw: leaf.versionHash == nil ? UInt8(0) : 1)
            append(raw: leaf.id)
            if let hash = leaf.versionHash { append(raw: hash) }
        }
    }

    mutating func append(_ feed: FeedID, _ request: UInt64, _ wants: [Want]) {
        beginFeed(feed, fields: 2)
        append(uint: 2)
        append(uint: request)
        append(uint: 3)
        beginArray(wants.count)
        for want in wants {
            beginArray(3)
            append(text: want.document.string)
            append(ids: want.revisions.prefix(ReplicationLimits.leavesPerChange))
            append(ids: want.known.prefix(ReplicationLimits.leavesPerChange))
        }
    }

    private mutating func append(ids: some RandomAccessCollection<RevisionID>) {
        beginBytes(ids.count * 24)
        for id in ids { append(raw: id) }
    }

    mutating func append(_ revisions: Revisions) {
        beginRevisions(
            revisions.feed, revisions.request, isFinal: revisions.isFinal, gone: revisions.gone,
            deliveries: revisions.deliveries.count)
        for delivery in revisions.deliveries {
            guard case .whole(let delivery) = delivery else { preconditionFailure("an unreadable document was sent") }
            append(delivery: delivery)
        }
    }

    /// All of a `Revisions` message but its deliveries, which follow.
    mutating func beginRevisions(
        _ feed: FeedID, _ request: UInt64, isFinal: Bool, gone: [DocumentID], deliveries: Int
    ) {
        beginFeed(feed, fields: 4)
        append(uint: 2)
        append(uint: request)
        append(uint: 3)
        append(bool: isFinal)
        append(uint: 4)
        beginArray(gone.count)
        for document in gone { append(text: document.string) }
        append(uint: 5)
        beginArray(deliveries)
    }

    /// `[document, [item ...]]`.
    mutating func append(delivery: Delivery) {
        beginArray(2)
        append(text: delivery.document.string)
        beginArray(delivery.items.count)
        for item in delivery.items { append(item: item) }
    }

    /// `[id, parent, merged parents, kind, body, stamps, version, resolver, ancestors]`, where what is absent is empty.
    private mutating func append(item: Delivery.Item) {
        let revision = item.revision
        beginArray(9)
        beginBytes(24)
        append(raw: revision.id)
        beginBytes(revision.parent == nil ? 0 : 24)
        if let parent = revision.parent { append(raw: parent) }
        append(ids: revision.mergedParents)
        append(uint: UInt64(revision.kind.rawValue | (revision.isForeign ? DeliveryFlags.foreign : 0)))
        append(bytes: revision.body)
        append(stamps: revision.stamps)
        beginBytes(revision.version.entries.count * 16)
        for entry in revision.version.entries {
            append(raw: entry.writer)
            append(raw: entry.time)
        }
        append(text: revision.resolver)
        beginBytes(item.ancestors.count * 25)
        for ancestor in item.ancestors {
            append(raw: ancestor.kind.rawValue | (ancestor.isForeign ? DeliveryFlags.foreign : 0))
            append(raw: ancestor.id)
        }
    }

    private mutating func append(stamps: FieldStamps?) {
        guard let stamps else { return beginBytes(0) }
        if stamps.exceptions.isEmpty {
            beginBytes(16)
            append(raw: stamps.defaultStamp.time)
            append(raw: stamps.defaultStamp.writer)
        } else {
            var encoded = ByteWriter(capacity: 16 + 64 * stamps.exceptions.count)
            stamps.encode(into: &encoded)
            append(bytes: encoded.bytes)
        }
    }

    mutating func append(_ chunk: RevisionChunk) {
        append(chunk.feed, chunk.request, chunk.totalBytes, chunk.offset, chunk.bytes[...])
    }

    /// A `RevisionChunk` message.
    mutating func append(
        _ feed: FeedID, _ request: UInt64, _ totalBytes: Int, _ offset: Int, _ bytes: ArraySlice<UInt8>
    ) {
        beginFeed(feed, fields: 4)
        append(uint: 2)
        append(uint: request)
        append(uint: 3)
        append(uint: UInt64(totalBytes))
        append(uint: 4)
        append(uint: UInt64(offset))
        append(uint: 5)
        beginBytes(bytes.count)
        append(raw: bytes)
    }
}

enum DeliveryFlags {
    /// Beside the kind: written by CouchDB or PouchDB.
    static let foreign: UInt8 = 4
}

extension Delivery.Item {
    /// About the bytes that the item takes on the wire, never less.
    var encodedBytes: Int {
        96 + 24 * revision.mergedParents.count + revision.body.count + (revision.stamps?.encodedBytes ?? 0)
            + 16 * revision.version.entries.count + revision.resolver.utf8.count + 25 * ancestors.count
    }
}

extension Delivery {
    /// About the bytes that the delivery takes on the wire, never less.
    var encodedBytes: Int { items.reduce(document.string.utf8.count + 16) { $0 + $1.encodedBytes } }
}
