import KithDocument

/// A document's row as bytes, before anything of it is believed.
struct StoredRow {
    struct Body {
        let revision: [UInt8]
        let keptUntil: Int64?
        let body: [UInt8]
    }

    let number: Int64
    let sequence: UInt64
    let id: [UInt8]
    let flags: Int64
    let revision: [UInt8]
    let tree: [UInt8]
    /// Nil when nothing lives.
    let body: [UInt8]?
    /// The rows of the table `bodies` with its id.
    var bodies: [Body] = []

    init(
        number: Int64, sequence: UInt64, id: [UInt8], flags: Int64, revision: [UInt8], tree: [UInt8], body: [UInt8]?
    ) {
        self.number = number
        self.sequence = sequence
        self.id = id
        self.flags = flags
        self.revision = revision
        self.tree = tree
        self.body = body
    }

    /// The columns of a row of number, sequence, id, flags, revision, tree, body.
    init(_ row: Statement) {
        self.init(
            number: row.number(0), sequence: row.unsigned(1), id: row.bytes(2), flags: row.number(3),
            revision: row.bytes(4), tree: row.bytes(5), body: row.isNull(6) ? nil : row.bytes(6))
    }

    static let columns = "number, sequence, id, flags, revision, tree, body"

    var bytes: Int { tree.count + (body?.count ?? 0) + bodies.reduce(0) { $0 + $1.body.count } }

    /// The id as text, for people.
    var shownID: String { String(decoding: id, as: UTF8.self) }
}

extension RevisionID {
    /// The 24 bytes of a column; nil for anything else.
    init?(column bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard bytes.count == 24, let id = try? RevisionID(from: &reader), id.generation >= 1,
            id.generation <= RevisionID.maximumGeneration
        else { return nil }
        self = id
    }
}
