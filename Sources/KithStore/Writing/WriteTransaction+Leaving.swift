import KithDocument

// Documents that a part holder's filter does not want any more.

extension WriteTransaction {
    /// Drops a document that does not match, without a tombstone and without a marker, where every open leaf of it is at the
    /// source too. What the source has not seen stays until it has: it is told of again then.
    /// - Parameter change: the document as the source has it.
    func leave(_ change: Change) throws(StoreError) {
        guard let row = try load(change.document).row else { return }
        let closed = Set(row.tree.leaves.filter { $0.kind == .closed }.map(\.id))
        let own = digests.announced(row.tree).filter { !closed.contains($0.id) }
        guard own.allSatisfy({ change.leaves.contains($0) }) else { return }
        try drop(row, of: change.document)
        noteDropped(change.document)
    }

    /// Forgets the checkpoints of other filters: what was taken and dropped by one is not what another wants.
    func keepCheckpoints(of filter: DocumentFilter?) throws(StoreError) {
        let name = filter?.name ?? []
        if memory.checkpointFilter == name { return }
        let row = try connection.statement(.dropOtherCheckpoints)
        defer { row.reset() }
        row.bind(1, blob: name)
        _ = try row.step()
        memory.checkpointFilter = name
    }
}
