import KithCrypto
import KithDocument
import KithMerge

#if KITH_MUTANTS
import KithSystem
#endif

/// What a document must be for a write to be done.
package enum Precondition: Hashable, Sendable {
    case any
    /// Nothing of it lives.
    case mustNotExist
    /// This revision is a live leaf, and the one to be replaced; or the deletion to be written over.
    case revision(RevisionID)
}

/// What a write did.
package struct Written: Hashable, Sendable {
    /// The revision written, or the present one.
    package let revision: RevisionID
    /// The document's sequence.
    package let sequence: UInt64
    /// Whether nothing was written, since the body was the present one.
    package let isUnchanged: Bool
}

extension WriteTransaction {
    /// Writes a document.
    /// - Parameters:
    ///   - body: a canonical object.
    ///   - initial: writes initial data, where nothing is known of the document; elsewhere nothing.
    ///   - migration: the name of the step that the write belongs to: on every node that makes the same of the same revision in
    ///     it, it is the same revision (docs/migrations.md).
    /// - Throws: `StoreError`: `conflict` when the precondition fails; `invalid` for a body that is too large;
    ///   `clock_beyond_range`; what the disk gives.
    package func put(
        _ id: DocumentID, _ body: [UInt8], if precondition: Precondition = .any, initial: Bool = false,
        migration: String? = nil
    ) throws(StoreError) -> Written {
        guard body.count <= DocumentLimits.documentBytes else {
            throw StoreError(
                .invalid, id.string,
                "document \(short(id)) has \(body.count) bytes; \(DocumentLimits.documentBytes) are the most: split it")
        }
        guard Expiry.content(of: body) != .invalid else {
            throw StoreError(
                .invalid, id.string,
                "document \(short(id)): \(Expiry.key) is a time in milliseconds since 1970, a number without a fraction"
            )
        }
        var loaded = try load(id)
        let base = try base(of: loaded, precondition)
        if initial { return try initialize(&loaded, body) }
        #if KITH_MUTANTS
        if Mutant.isActive(.callsUnchanged), let shown = loaded.document.shownRevision, loaded.document.live.count > 0 {
            return Written(revision: shown, sequence: loaded.row?.sequence ?? 0, isUnchanged: true)
        }
        #endif
        let marker = try purgeMarker(of: id)
        let isForgotten =
            marker.map { $0.timeline == memory.timeline } ?? false || loaded.row == nil && wasDropped(id)
        let context =
            if let migration {
                EditContext(repeatableBy: Self.writer(of: migration, base ?? loaded.document.live.last?.id, body))
            } else { try editContext(isPurgedHere: isForgotten, at: loaded) }
        let result: Document.EditResult
        do {
            result = try loaded.document.edit(body, replacing: base, context)
        } catch {
            throw StoreError.document(id, error)
        }
        switch result {
        case .unchanged(let revision):
            return Written(revision: revision, sequence: loaded.row?.sequence ?? 0, isUnchanged: true)
        case .written(let revision, by: let writer):
            if migration == nil { noteStamp(of: revision, in: loaded.document, by: writer, timeline: context.writer) }
            if let marker { try leafArrived(at: id, marker) }
            return Written(revision: revision, sequence: try settleAndSave(&loaded), isUnchanged: false)
        }
    }

    /// Writes a deletion, which replicates and stays.
    /// - Parameter revision: the live revision to end; nil for the winner.
    /// - Throws: `StoreError`: `not_found` when nothing lives, `conflict` when the revision is no live leaf.
    package func delete(_ id: DocumentID, if revision: RevisionID? = nil) throws(StoreError) -> Written {
        var loaded = try load(id)
        let live = loaded.document.live
        guard !live.isEmpty else { throw missing(id) }
        if let revision, !live.contains(where: { $0.id == revision }) { throw wrongRevision(loaded, revision) }
        return try delete(revision, of: &loaded)
    }

    /// Ends all live leaves of a document but one.
    /// - Throws: `StoreError`: `not_found` when nothing lives, `conflict` when `keep` is no live leaf, or when the others
    ///   together had seen all of it, so that deleting them would delete it too.
    package func resolve(_ id: DocumentID, keep: RevisionID) throws(StoreError) -> Written {
        var loaded = try load(id)
        let live = loaded.document.live
        guard !live.isEmpty else { throw missing(id) }
        guard live.contains(where: { $0.id == keep }) else { throw wrongRevision(loaded, keep) }
        if live.count == 1 {
            return Written(revision: keep, sequence: loaded.row?.sequence ?? 0, isUnchanged: true)
        }
        do {
            for leaf in live where leaf.id != keep { _ = try loaded.document.delete(leaf.id) }
        } catch {
            throw StoreError.document(id, error)
        }
        let sequence = try settleAndSave(&loaded)
        guard loaded.document.live.contains(where: { $0.id == keep }) else {
            throw StoreError(
                .conflict, id.string,
                "the other revisions of \(short(id)) had seen all of \(keep): write the body to keep as a new revision")
        }
        return Written(revision: keep, sequence: sequence, isUnchanged: false)
    }

    private func initialize(_ loaded: inout LoadedDocument, _ body: [UInt8]) throws(StoreError) -> Written {
        if let revision = loaded.document.shownRevision {
            return Written(revision: revision, sequence: loaded.row?.sequence ?? 0, isUnchanged: true)
        }
        guard let revision = loaded.document.initialize(body) else { throw missing(loaded.document.id) }
        if let marker = try purgeMarker(of: loaded.document.id) { try leafArrived(at: loaded.document.id, marker) }
        return Written(revision: revision, sequence: try settleAndSave(&loaded), isUnchanged: false)
    }

    private func delete(_ base: RevisionID?, of loaded: inout LoadedDocument) throws(StoreError) -> Written {
        let deletion: RevisionID?
        do {
            deletion = try loaded.document.delete(base)
        } catch {
            throw StoreError.document(loaded.document.id, error)
        }
        guard let deletion else { throw missing(loaded.document.id) }
        return Written(revision: deletion, sequence: try settleAndSave(&loaded), isUnchanged: false)
    }

    /// Applies the merge rules and writes the document.
    func settleAndSave(_ loaded: inout LoadedDocument) throws(StoreError) -> UInt64 {
        #if KITH_MUTANTS
        Mutant.node = try writer()
        #endif
        let tree = loaded.document.tree
        if tree.nodes.count > 1 {
            let policy = memory.merging
            loaded.document.settle(policy)
        }
        return try save(loaded)
    }

    // What an edit needs.

    private func base(of loaded: LoadedDocument, _ precondition: Precondition) throws(StoreError) -> RevisionID? {
        switch precondition {
        case .any: return nil
        case .mustNotExist:
            if let winner = loaded.document.winner {
                throw StoreError(
                    .conflict, loaded.document.id.string,
                    "document \(short(loaded.document.id)) is there already, as \(winner.node.id)")
            }
            return nil
        case .revision(let revision):
            let live = loaded.document.live
            if live.contains(where: { $0.id == revision }) { return revision }
            if live.isEmpty, loaded.document.tree.deleted.contains(where: { $0.id == revision }) { return nil }
            throw wrongRevision(loaded, revision)
        }
    }

    private func editContext(
        isPurgedHere: Bool, at loaded: LoadedDocument
    ) throws(StoreError) -> EditContext {
        EditContext(
            clock: Stamp.time(ofMilliseconds: environment.now()), writer: try writer(), isPurgedHere: isPurgedHere,
            absent: loaded.row == nil && memory.hasExpiryIndex ? [Expiry.path] : [],
            onceWriter: { self.onceWriters[$0] }, freshWriter: environment.random)
    }

    /// The writer of a migration's edit. Its entry in a version says that just this body, made of just this revision, was seen,
    /// which is so on every node that has it.
    private static func writer(of migration: String, _ base: RevisionID?, _ body: [UInt8]) -> WriterID {
        let hasher = SHA256()
        hasher.update(Array("\(migration)\u{0}\(base.map { "\($0)" } ?? "")\u{0}".utf8))
        hasher.update(body)
        return max(1, hasher.finishLast().words.0)
    }

    /// Remembers what was handed out: a fresh writer for further edits of its leaf, else the timeline's highest time.
    private func noteStamp(
        of revision: RevisionID, in document: Document, by writer: WriterID, timeline: WriterID
    ) {
        if writer != timeline {
            onceWriters.insert(revision, writer)
        } else if let time = document.tree.version(of: revision)?[writer] {
            memory.highestTime = max(memory.highestTime, time)
        }
    }

    func short(_ id: DocumentID) -> String { StoreError.shortened(id.string, to: Limits.subjectCharacters) }

    func missing(_ id: DocumentID) -> StoreError {
        StoreError(
            .notFound, id.string,
            "there is no document \(short(id)) in \(connection.subject); kith changes lists those there are")
    }

    private func wrongRevision(_ loaded: LoadedDocument, _ revision: RevisionID) -> StoreError {
        let id = loaded.document.id
        let present = loaded.document.winner.map { "it is at \($0.node.id); read it again" } ?? "nothing of it lives"
        return StoreError(.conflict, id.string, "document \(short(id)) is not at \(revision): \(present)")
    }
}
