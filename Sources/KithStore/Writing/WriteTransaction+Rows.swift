import KithDocument
import KithMerge

#if KITH_MUTANTS
import KithSystem
#endif

/// A document as it was read for writing, and what stands in the file of it.
struct LoadedDocument {
    var document: Document
    /// Nil for a document that is not in the file.
    let row: Row?

    struct Row {
        /// Names the row for as long as the document is in the file.
        let number: Int64
        let sequence: UInt64
        let flags: DocumentFlags
        let tree: RevisionTree
        /// Live leaves whose bodies stand in the table `bodies`.
        let otherBodies: [RevisionID]
    }
}

extension WriteTransaction {
    /// Reads all that is known of a document.
    func load(_ id: DocumentID) throws(StoreError) -> LoadedDocument {
        let row = try connection.statement(.loadDocument)
        defer { row.reset() }
        row.bind(1, text: id.string)
        guard try row.step() else { return LoadedDocument(document: Document(id: id), row: nil) }
        let flags = DocumentFlags(rawValue: row.number(1))
        let tree = try RevisionTree(row, 3, of: id.string)
        var bodies = RevisionBodies()
        if !row.isNull(4) { bodies[try RevisionID(row, 2, of: id.string)] = row.bytes(4) }
        var others: [RevisionID] = []
        if flags.contains(.otherBodies) {
            let list = try connection.statement(.liveBodies)
            defer { list.reset() }
            list.bind(1, text: id.string)
            while try list.step() {
                let revision = try RevisionID(list, 0, of: id.string)
                others.append(revision)
                bodies[revision] = list.bytes(1)
            }
        }
        return LoadedDocument(
            document: Document(id: id, tree: tree, bodies: bodies),
            row: .init(
                number: row.number(5), sequence: row.unsigned(0), flags: flags, tree: tree, otherBodies: others))
    }

    /// Writes a changed document at a new sequence: its tree cut to the bounds, its bodies, what it adds to the digest
    /// and to the counts.
    /// - Returns: the sequence.
    func save(_ loaded: LoadedDocument) throws(StoreError) -> UInt64 {
        let document = loaded.document
        let id = document.id
        var tree = document.tree
        if tree.nodes.count > 1 {
            tree.dropOldClosedLeaves()
            tree.stem(to: options.revisionLimit)
        }
        #if KITH_MUTANTS
        // What was there before stays in front.
        let live =
            Mutant.isActive(.winnerByArrival)
            ? document.live.sorted { loaded.row?.tree[$0.id] == nil && loaded.row?.tree[$1.id] != nil } : document.live
        #else
        let live = document.live
        #endif
        guard let shown = live.last?.id ?? document.shownRevision else {
            throw StoreError(.internalError, id.string, "a document without revisions can't be stored")
        }
        let others = live.dropLast()
        let body = live.last.flatMap { document.body(of: $0.id) }
        let flags = DocumentFlags(live: live, tree: tree, shown: shown, body: body)
        if flags.contains(.expires) { try requireExpiryIndex() }

        #if KITH_MUTANTS
        if let row = loaded.row, let old = digests.digest(of: id, row.tree), !Mutant.isActive(.keepsOldDigest) {
            state.digest -= old
        }
        #else
        if let row = loaded.row, let old = digests.digest(of: id, row.tree) { state.digest -= old }
        #endif
        if let new = digests.digest(of: id, tree) { state.digest += new }
        count(loaded.row?.flags, -1)
        count(flags, 1)
        let sequence = try nextSequence()
        try writeRow(
            id, in: loaded.row?.number, at: sequence, flags, shown, tree, body: body)
        if loaded.row != nil || !others.isEmpty || live.last?.kind == .merge {
            try writeOtherBodies(loaded, live: live)
        }
        return sequence
    }

    /// Counts a row with these flags in or out.
    func count(_ flags: DocumentFlags?, _ difference: Int) {
        guard let flags else { return }
        let difference = UInt64(bitPattern: Int64(difference))
        state.documents &+= difference
        if flags.contains(.deleted) { state.deleted &+= difference }
        if flags.contains(.conflict) { state.conflicts &+= difference }
    }

    private func writeRow(
        _ id: DocumentID, in number: Int64?, at sequence: UInt64, _ flags: DocumentFlags, _ revision: RevisionID,
        _ tree: RevisionTree, body: [UInt8]?
    ) throws(StoreError) {
        // Revision, tree and id one after the other. They and the body are lent to SQLite, so the statement is reset
        // before they go.
        var writer = ByteWriter(capacity: 24 + tree.encodedBytes + id.string.utf8.count)
        revision.encode(into: &writer)
        tree.encode(into: &writer)
        let end = writer.bytes.count
        if number == nil { writer.append(contentsOf: id.string.utf8) }
        let row = try connection.statement(number == nil ? .insertDocument : .moveDocument)
        try writer.bytes.withUnsafeBufferPointer { bytes throws(StoreError) in
            try (body ?? []).withUnsafeBufferPointer { bodyBytes throws(StoreError) in
                defer { row.reset() }
                let bytes = UnsafeRawBufferPointer(bytes)
                row.bind(1, sequence)
                if let number {
                    row.bind(2, number)
                } else {
                    row.bind(2, borrowedText: UnsafeRawBufferPointer(rebasing: bytes[end...]))
                }
                row.bind(3, flags.rawValue)
                row.bind(4, borrowedBlob: UnsafeRawBufferPointer(rebasing: bytes[..<24]))
                row.bind(5, borrowedBlob: UnsafeRawBufferPointer(rebasing: bytes[24..<end]))
                if body == nil { row.bindNull(6) } else { row.bind(6, borrowedText: UnsafeRawBufferPointer(bodyBytes)) }
                _ = try row.step()
            }
        }
    }

    // Bodies beside the winner's.

    /// Brings the table `bodies` in step: live leaves but the winner have theirs there, and leaves that a merge of this
    /// transaction overruled keep theirs for a while.
    private func writeOtherBodies(_ loaded: LoadedDocument, live: [RevisionTree.Node]) throws(StoreError) {
        let id = loaded.document.id
        let stored = loaded.row?.otherBodies ?? []
        let wanted = live.dropLast().map(\.id)
        for revision in wanted where !stored.contains(revision) {
            guard let body = loaded.document.body(of: revision) else { continue }
            try insertBody(id, revision, body, keptUntil: nil)
        }
        let overruled = options.keptMilliseconds > 0 ? overruledLeaves(loaded, live: live) : []
        let until = environment.now() + options.keptMilliseconds
        for revision in overruled where !stored.contains(revision) {
            guard let body = loaded.document.body(of: revision) else { continue }
            try insertBody(id, revision, body, keptUntil: until)
        }
        for revision in stored where !wanted.contains(revision) {
            let isKept = overruled.contains(revision)
            let row = try connection.statement(isKept ? .keepBody : .dropBody)
            defer { row.reset() }
            row.bind(1, text: id.string)
            row.bind(2, blob: revision.encoded)
            if isKept { row.bind(3, until) }
            _ = try row.step()
        }
    }

    private func insertBody(
        _ id: DocumentID, _ revision: RevisionID, _ body: [UInt8], keptUntil: Int64?
    ) throws(StoreError) {
        let row = try connection.statement(.insertBody)
        defer { row.reset() }
        row.bind(1, text: id.string)
        row.bind(2, blob: revision.encoded)
        row.bind(3, text: body)
        if let keptUntil { row.bind(4, keptUntil) } else { row.bindNull(4) }
        _ = try row.step()
    }

    /// Leaves that merges which came in this transaction joined, that live no more, and of which some field shows
    /// otherwise in the merge; whoever wrote the merge.
    private func overruledLeaves(_ loaded: LoadedDocument, live: [RevisionTree.Node]) -> [RevisionID] {
        var overruled: [RevisionID] = []
        for merge in live where merge.kind == .merge && loaded.row?.tree[merge.id]?.content == nil {
            guard let shown = loaded.document.body(of: merge.id) else { continue }
            for leaf in (merge.content?.mergedParents ?? []) + (merge.parent.map { [$0] } ?? []) {
                guard let body = loaded.document.body(of: leaf), !live.contains(where: { $0.id == leaf }),
                    !overruled.contains(leaf), Self.differs(body, from: shown)
                else { continue }
                overruled.append(leaf)
            }
        }
        return overruled
    }

    /// Whether some field of the body shows otherwise in the merge, or not at all.
    private static func differs(_ body: [UInt8], from merge: [UInt8]) -> Bool {
        var rest = Fields.leaves(of: merge)[...]
        for field in Fields.leaves(of: body) {
            while let next = rest.first, next.path < field.path { rest.removeFirst() }
            guard let next = rest.first, next.path == field.path, next.value == field.value else { return true }
        }
        return false
    }
}
