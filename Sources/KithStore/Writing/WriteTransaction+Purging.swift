import KithDocument

#if KITH_MUTANTS
import KithSystem
#endif

/// What a purge leaves behind: the leaves it removed, which are not taken again until another leaf comes, and the
/// timeline it was done in, whose name must not stand for what it forgot (`EditContext.isPurgedHere`).
struct PurgeMarker {
    /// Empty once another leaf has come.
    let leaves: [RevisionID]
    let timeline: TimelineID
}

extension WriteTransaction {
    /// Removes a document without a tombstone, here only, with all bodies that are kept of it.
    /// - Throws: `StoreError` `not_found` when nothing is known of it.
    package func purge(_ id: DocumentID) throws(StoreError) {
        let loaded = try load(id)
        guard let row = loaded.row else { throw missing(id) }
        try drop(row, of: id)
        let isMarked = try purgeMarker(of: id) != nil
        #if KITH_MUTANTS
        if Mutant.isActive(.forgetsPurges) { return }
        #endif
        try writeMarker(id, PurgeMarker(leaves: row.tree.leaves.map(\.id), timeline: try writer()))
        if !isMarked { state.purged += 1 }
    }

    /// Removes a document's row with all bodies that are kept of it.
    func drop(_ row: LoadedDocument.Row, of id: DocumentID) throws(StoreError) {
        if let digest = digests.digest(of: id, row.tree) { state.digest -= digest }
        count(row.flags, -1)
        memory.purges += 1
        // The change has a sequence, so that a digest belongs to one sequence only.
        _ = try nextSequence()
        let drop = try connection.statement(.dropDocument)
        defer { drop.reset() }
        drop.bind(1, row.number)
        _ = try drop.step()
        let bodies = try connection.statement(.dropBodies)
        defer { bodies.reset() }
        bodies.bind(1, text: id.string)
        _ = try bodies.step()
    }

    func purgeMarker(of id: DocumentID) throws(StoreError) -> PurgeMarker? {
        if state.purged == 0 { return nil }
        let row = try connection.statement(.readPurged)
        defer { row.reset() }
        row.bind(1, text: id.string)
        guard try row.step() else { return nil }
        return PurgeMarker(
            leaves: try RevisionList.decode(row.bytes(0), of: id.string), timeline: row.unsigned(1))
    }

    /// Another leaf has come: what was purged may come back too. That this timeline purged the document stays known
    /// until the timeline ends.
    func leafArrived(at id: DocumentID, _ marker: PurgeMarker) throws(StoreError) {
        if marker.timeline == memory.timeline {
            if !marker.leaves.isEmpty { try writeMarker(id, PurgeMarker(leaves: [], timeline: marker.timeline)) }
            return
        }
        let row = try connection.statement(.dropPurged)
        defer { row.reset() }
        row.bind(1, text: id.string)
        _ = try row.step()
        state.purged -= 1
    }

    private func writeMarker(_ id: DocumentID, _ marker: PurgeMarker) throws(StoreError) {
        let row = try connection.statement(.writePurged)
        defer { row.reset() }
        row.bind(1, text: id.string)
        row.bind(2, blob: RevisionList.encode(marker.leaves))
        row.bind(3, marker.timeline)
        _ = try row.step()
    }
}
