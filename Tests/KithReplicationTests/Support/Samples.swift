import KithDocument

@testable import KithReplication

/// One message of each kind, with every field.
enum Samples {
    static func id(_ generation: UInt64, _ byte: UInt8) -> RevisionID {
        RevisionID(generation: generation, digest: Digest128(prefixOf: [UInt8](repeating: byte, count: 16)))
    }

    static func document(_ text: String) -> DocumentID { DocumentID(unchecked: text) }

    static let position = Position(timeline: 0x1122_3344_5566_7788, sequence: 300)
    static let digest = Digest256(bytes: (0..<32).map { UInt8($0) })
    static let state = DatabaseState(position: position, digest: digest, documents: 70_000)

    static let edit = Revision(
        id: id(2, 0xAA), parent: id(1, 0xBB), mergedParents: [], kind: .edit, body: Array("{\"a\":1}".utf8),
        stamps: FieldStamps(defaultStamp: Stamp(time: 1 << 16, writer: 9)), version: Version(writer: 9, time: 1 << 16),
        isForeign: false)

    static let merge = Revision(
        id: id(3, 0xCC), parent: id(2, 0xAA), mergedParents: [id(2, 0x11)], kind: .merge, body: Array("{}".utf8),
        stamps: FieldStamps(
            defaultStamp: .zero,
            exceptions: [
                .init(path: FieldPath(keys: ["gone"]), stamp: Stamp(time: 5, writer: 6), state: .absent),
                .init(path: FieldPath(keys: ["x", "y"]), stamp: Stamp(time: 7, writer: 8), state: .hidden([0x31])),
            ]),
        version: Version(ascending: [.init(writer: 6, time: 5), .init(writer: 8, time: 7)])!, resolver: "sum/1",
        isForeign: false)

    static let delivery = Delivery(
        document: document("doc-1"),
        items: [
            Delivery.Item(revision: edit, ancestors: [Ancestor(id: id(1, 0xBB), kind: .edit, isForeign: true)]),
            Delivery.Item(revision: merge, ancestors: []),
            Delivery.Item(
                revision: Revision(
                    id: id(4, 0xDD), parent: id(3, 0xCC), mergedParents: [], kind: .closed, body: [], stamps: nil,
                    version: Version(), isForeign: false), ancestors: []),
        ])

    static let changes = [
        Change(sequence: 299, document: document("doc-1"), leaves: [AnnouncedLeaf(id: id(2, 0xAA))]),
        Change(
            sequence: 300, document: document("dök"),
            leaves: [
                AnnouncedLeaf(id: id(1, 0x01), versionHash: 0x0102_0304_0506_0708), AnnouncedLeaf(id: id(1, 0x02)),
            ]),
    ]

    static let messages: [(name: String, message: Message)] = [
        (
            "hello",
            .hello(
                Hello(
                    versions: ProtocolVersions(1, 2), capabilities: ["zstd"], nodeName: "kitchen",
                    softwareVersion: "0.1",
                    statements: [[1, 2, 3]], databases: [DatabaseEntry(number: 1, name: "notes", state: state)],
                    window: 4 << 20))
        ),
        (
            "hello of a process",
            .hello(
                Hello(
                    versions: ProtocolVersions(1, 1), capabilities: [], nodeName: "kitchen", softwareVersion: "0.1",
                    statements: [], databases: [], window: 4 << 20, instance: 0x0102_0304_0506_0708))
        ),
        (
            "databases",
            .databases(
                DatabasesUpdate(added: [DatabaseEntry(number: 2, name: "tasks", state: state)], removed: [1]))
        ),
        ("statements", .statements([[1, 2, 3], []])),
        ("presence", .presence([9, 8, 7])),
        (
            "gossip",
            .gossip(
                Gossip(
                    offers: [PresenceOffer(node: NodeID(bytes: [UInt8](repeating: 5, count: 32))!, counter: 258)],
                    wants: [NodeID(bytes: [UInt8](repeating: 6, count: 32))!]))
        ),
        ("ping", .ping(Heartbeat(nonce: 1, wallClock: 1_700_000_000_000))),
        ("pong", .pong(Heartbeat(nonce: 1, wallClock: -5))),
        ("goodbye", .goodbye(Goodbye(code: .versionMismatch, text: "no common version"))),
        ("credit", .credit(262_144)),
        ("open", .open(feed: 1, database: 2)),
        (
            "open for documents",
            .open(feed: 1, database: 2, filter: .documents([document("doc-1"), document("doc-2")]))
        ),
        ("open for a selector", .open(feed: 1, database: 2, filter: .selector(Array("{\"type\":\"task\"}".utf8)))),
        ("subscribe", .subscribe(feed: 1, after: position)),
        ("subscribe from the start", .subscribe(feed: 1, after: nil)),
        ("unsubscribe", .unsubscribe(FeedEnd(feed: 1, code: .storeBusy, text: "no space left"))),
        (
            "want",
            .want(
                feed: 1, request: 7,
                wants: [
                    Want(document: document("doc-1"), revisions: [id(2, 0xAA)], known: [id(1, 0xBB)]),
                    Want(document: document("doc-2"), revisions: [id(1, 1), id(1, 2)], known: []),
                ])
        ),
        ("ack", .ack(Ack(feed: 1, page: 3, position: position, digest: digest))),
        (
            "ack of a reader",
            .ack(
                Ack(
                    feed: 1, page: 3, position: position, digest: digest,
                    equality: Ack.Equality(digest: digest, leftOut: 2)))
        ),
        ("refused", .refused(feed: 1, refusals: [Refusal(document: document("doc-1"), reason: "too large")])),
        ("range query", .rangeQuery(feed: 1, firstBytes: [0, 255])),
        ("range list", .rangeList(feed: 1, ranges: [0, 256, 65_535])),
        ("compare", .compare(feed: 1, documents: [document("doc-1")])),
        (
            "changes",
            .changes(Changes(feed: 1, page: 3, through: position, digest: digest, latest: 301, changes: changes))
        ),
        (
            "changes of which one does not match",
            .changes(
                Changes(
                    feed: 1, page: 3, through: position, digest: nil, latest: 301,
                    changes: try! changes.marking(others: [1])))
        ),
        (
            "revisions",
            .revisions(
                Revisions(
                    feed: 1, request: 7, isFinal: true, deliveries: [.whole(delivery)], gone: [document("doc-2")]))
        ),
        (
            "revision chunk",
            .revisionChunk(RevisionChunk(feed: 1, request: 7, totalBytes: 600_000, offset: 262_144, bytes: [1, 2, 3]))
        ),
        ("feed ended", .feedEnded(FeedEnd(feed: 1, code: .notASource, text: "a reader"))),
        ("unknown", .unknown(1, state)),
        (
            "range digests",
            .rangeDigests(
                RangeAnswer(
                    feed: 1, position: position,
                    ranges: [RangeDigests.Range(index: 258, documents: 3, digest: digest)]))
        ),
        ("range changes", .rangeChanges(feed: 1, changes: changes, isFinal: false)),
        (
            "compared",
            .compared(Compared(feed: 1, position: position, digest: digest, documents: [document("doc-1")]))
        ),
    ]

    static func encoded(_ message: Message) -> [UInt8] {
        var writer = CBORWriter()
        writer.append(frame: message)
        return writer.bytes
    }
}
