package import KithDocument

/// Who writes and when: what a write needs besides the document.
package struct EditContext {
    /// The stamp time of the wall clock's reading (`Stamp.time(ofMilliseconds:)`).
    package let clock: UInt64
    /// The writer of the present timeline.
    package let writer: WriterID
    /// Whether the document was purged here by this writer, whose name must then not stand for what it forgot.
    package let isPurgedHere: Bool
    /// Fields that a new document says it does not have, where its body has none: a forgotten one of its id may have had them.
    package let absent: [FieldPath]
    /// The fresh writer that wrote a leaf while others stayed beside it, if the leaf is such a one and the writer is known.
    package let onceWriter: (RevisionID) -> WriterID?
    /// A writer that nobody has had.
    package let freshWriter: () -> WriterID

    package init(
        clock: UInt64, writer: WriterID, isPurgedHere: Bool = false, absent: [FieldPath] = [],
        onceWriter: @escaping (RevisionID) -> WriterID? = { _ in nil }, freshWriter: @escaping () -> WriterID
    ) {
        self.clock = clock
        self.writer = writer
        self.isPurgedHere = isPurgedHere
        self.absent = absent
        self.onceWriter = onceWriter
        self.freshWriter = freshWriter
    }

    /// The context of an edit that comes out the same wherever it is made: no clock, and a writer that stands for the
    /// edited revision and the new body together.
    package init(repeatableBy writer: WriterID) { self.init(clock: 0, writer: writer, freshWriter: { writer }) }
}

/// How many entries an edit keeps (docs/merge.md).
package struct TrimLimits: Sendable {
    package let versionEntries: Int
    package let absentStamps: Int

    package init(
        versionEntries: Int = DocumentLimits.versionEntries, absentStamps: Int = DocumentLimits.absentStamps
    ) {
        self.versionEntries = versionEntries
        self.absentStamps = absentStamps
    }
}

extension Document {
    package enum EditResult: Sendable {
        /// The body is the one that the edited leaf has: nothing was written.
        case unchanged(RevisionID)
        /// The revision, and who wrote it.
        case written(RevisionID, by: WriterID)
    }

    /// Writes a body over a live revision, or as a new document.
    ///
    /// Its stamp outranks all that any leaf of the document knows. Its version is that of the revision it replaces and
    /// of the deletions present, with its own time: it never claims what was not seen.
    /// - Parameters:
    ///   - body: a canonical object.
    ///   - base: the live revision to replace; nil for the winner.
    /// - Throws: `DocumentError`: `clockBeyondRange` at the highest time there is; `malformed` where the body has more bytes
    ///   than may be, with the stamps of its fields and the values that they hide, and at the highest generation. Nothing is
    ///   written then.
    package mutating func edit(
        _ body: [UInt8], replacing base: RevisionID? = nil, _ context: EditContext, limits: TrimLimits = TrimLimits()
    ) throws(DocumentError) -> EditResult {
        if tree.isEmpty, !context.isPurgedHere, context.absent.isEmpty {
            let time = max(1, context.clock)
            guard time < Stamp.maximumTime else { throw .clockBeyondRange }
            let stamps = FieldStamps(defaultStamp: body.count > 2 ? Stamp(time: time, writer: context.writer) : .zero)
            let version = Version(writer: context.writer, time: time)
            let revision = Revision(parent: nil, kind: .edit, body: body, stamps: stamps, version: version)
            tree = RevisionTree(revision)
            bodies[revision.id] = body
            return .written(revision.id, by: context.writer)
        }
        let live = live
        let deleted = tree.deleted
        let base = base.flatMap { id in live.first { $0.id == id } } ?? live.last
        let stamp = try stamp(replacing: base, of: live, context)
        let before = base.map { fields(of: $0) } ?? Fields(ascending: [])
        let edited = before.edited(to: body, stamp: stamp, absentLimit: limits.absentStamps)
        if edited == nil, let base { return .unchanged(base.id) }
        var written = edited ?? before
        if tree.isEmpty { written = written.lacking(context.absent, stamp) }
        return .written(try add(edit: written, stamp, over: deleted, base: base, limits), by: stamp.writer)
    }

    private mutating func add(
        edit fields: Fields, _ stamp: Stamp, over deleted: [RevisionTree.Node], base: RevisionTree.Node?,
        _ limits: TrimLimits
    ) throws(DocumentError) -> RevisionID {
        var version = deleted.reduce(base?.version ?? Version()) { $0.joined(with: $1.version) }
        version.set(stamp.writer, to: stamp.time)
        let (body, stamps) = fields.split()
        guard Self.fits(body, stamps) else {
            throw .malformed(
                "it has \(body.count + stamps.encodedBytes) bytes with the stamps of its fields and what they hide; "
                    + "\(DocumentLimits.revisionBytes) are the most: split it, or write it as a new document")
        }
        let parent = (base ?? deleted.last)?.id
        try Self.requireThatCanFollow(parent)
        let revision = Revision(
            parent: parent, kind: .edit, body: body, stamps: stamps,
            version: version.trimmed(to: limits.versionEntries, keeping: stamp.writer))
        add(revision)
        return revision.id
    }

    /// Writes a deletion over a live revision; nil when nothing lives.
    /// - Parameter base: the live revision to end; nil for the winner.
    package mutating func delete(_ base: RevisionID? = nil) throws(DocumentError) -> RevisionID? {
        let live = live
        guard let base = base.flatMap({ id in live.first { $0.id == id } }) ?? live.last else { return nil }
        let version = tree.deleted.reduce(base.version) { $0.joined(with: $1.version) }
        guard version.entries.count <= DocumentLimits.maximumEntries else {
            throw .malformed("the deletion would have to name more than \(DocumentLimits.maximumEntries) writers")
        }
        try Self.requireThatCanFollow(base.id)
        let revision = Revision(parent: base.id, kind: .deleted, version: version)
        add(revision)
        return revision.id
    }

    private static func requireThatCanFollow(_ parent: RevisionID?) throws(DocumentError) {
        guard let parent, !canFollow(parent) else { return }
        throw .malformed(
            "revision \(parent) has the highest generation that there is: purge the document on each node, and write it anew"
        )
    }

    /// Writes initial data where nothing is known of the document; nil elsewhere.
    package mutating func initialize(_ body: [UInt8]) -> RevisionID? {
        guard tree.isEmpty else { return nil }
        let revision = Revision.initial(body)
        add(revision)
        return revision.id
    }

    private func stamp(
        replacing base: RevisionTree.Node?, of live: [RevisionTree.Node], _ context: EditContext
    ) throws(DocumentError) -> Stamp {
        let time = max(1, context.clock, tree.highestTime + 1)
        // Not at the bound itself: a clock beyond it would freeze the document for everybody.
        guard time < Stamp.maximumTime else { throw .clockBeyondRange }
        guard live.count > 1 || context.isPurgedHere else { return Stamp(time: time, writer: context.writer) }
        return Stamp(time: time, writer: base.flatMap { context.onceWriter($0.id) } ?? context.freshWriter())
    }
}
