import KithDocument
import KithMerge

extension WriteTransaction {
    /// Stores and merges what was delivered and moves the checkpoint. What is wrong is recorded as refused with its
    /// reason and does not stop the rest.
    package func apply(_ batch: ReceivedBatch) throws(StoreError) -> ReceivedOutcome {
        var stored = 0
        var refused: [RefusedDocument] = []
        var isRollbackDetected = false
        for received in batch.documents {
            if try namesUnwrittenStamp(received) {
                try forgetTimeline()
                isRollbackDetected = true
            }
            let (new, reason) = try receive(received)
            stored += new
            if let reason { refused.append(RefusedDocument(document: received.id, reason: reason)) }
        }
        if let checkpoint = batch.checkpoint { try writeCheckpoint(of: batch.source, checkpoint) }
        return ReceivedOutcome(
            stored: stored, refused: refused, isRollbackDetected: isRollbackDetected, summary: state.summary)
    }

    private func receive(_ received: ReceivedDocument) throws(StoreError) -> (stored: Int, refusal: String?) {
        if received.items.isEmpty {
            if let reason = received.reason { try refuse(received.id, received.refused, reason) }
            return (0, received.reason)
        }
        let marker = try purgeMarker(of: received.id)
        if let marker, received.items.allSatisfy({ marker.leaves.contains($0.revision.id) }) { return (0, nil) }

        var loaded = try load(received.id)
        var stored = 0
        // Closed leaves last: which of them are too old to be taken hangs on the winner that the others make.
        let (open, closed) = (
            received.items.filter { $0.revision.kind != .closed }, received.items.filter { $0.revision.kind == .closed }
        )
        for item in open + closed where loaded.document.receive(item) { stored += 1 }
        let leaves = loaded.document.tree.leaves.count
        if leaves > Limits.leavesPerDocument {
            let reason = "the document would have \(leaves) leaves; \(Limits.leavesPerDocument) are the most"
            try refuse(received.id, received.items.map(\.revision.id) + received.refused, reason)
            return (0, reason)
        }
        // A revision that is not new may still say more of its kind.
        if stored > 0 || loaded.row?.tree != loaded.document.tree, !loaded.document.tree.isEmpty {
            _ = try settleAndSave(&loaded)
            if let marker { try leafArrived(at: received.id, marker) }
        }
        if let reason = received.reason {
            try refuse(received.id, received.refused, reason)
        } else {
            try forgetRefusal(of: received.id)
        }
        return (stored, received.reason)
    }

    /// Whether a delivery knows of a stamp by this opening's timeline that it has not handed out.
    private func namesUnwrittenStamp(_ received: ReceivedDocument) throws(StoreError) -> Bool {
        guard let timeline = memory.timeline else { return false }
        return received.items.contains { item in
            if let time = item.revision.version[timeline], time > memory.highestTime { return true }
            guard let stamps = item.revision.stamps else { return false }
            if stamps.defaultStamp.writer == timeline, stamps.defaultStamp.time > memory.highestTime { return true }
            return stamps.exceptions.contains { $0.stamp.writer == timeline && $0.stamp.time > memory.highestTime }
        }
    }

    private func writeCheckpoint(of source: NodeID, _ checkpoint: Position) throws(StoreError) {
        if try Checkpoints.read(of: source, connection) == checkpoint { return }
        let row = try connection.statement(.writeCheckpoint)
        defer { row.reset() }
        row.bind(1, blob: source.bytes)
        row.bind(2, checkpoint.timeline)
        row.bind(3, checkpoint.sequence)
        _ = try row.step()
    }

    // Records of refusal.

    private func refuse(_ id: DocumentID, _ leaves: [RevisionID], _ reason: String) throws(StoreError) {
        var all: [RevisionID] = []
        var isRecorded = false
        if state.refused > 0, let record = try Refusals.read(of: id, connection) {
            isRecorded = true
            if record.isValid { all = record.leaves.filter { !leaves.contains($0) } }
        }
        all = Array((all + leaves).suffix(Limits.refusedLeaves))
        let row = try connection.statement(.writeRefused)
        defer { row.reset() }
        row.bind(1, text: id.string)
        row.bind(2, blob: RevisionList.encode(all))
        row.bind(3, text: reason)
        row.bind(4, Limits.refusalRules)
        _ = try row.step()
        if isRecorded { return }
        if state.refused >= Limits.refusedDocuments {
            try connection.run(.dropOldestRefused)
        } else {
            state.refused += 1
        }
    }

    private func forgetRefusal(of id: DocumentID) throws(StoreError) {
        guard state.refused > 0, try Refusals.read(of: id, connection) != nil else { return }
        let row = try connection.statement(.dropRefused)
        defer { row.reset() }
        row.bind(1, text: id.string)
        _ = try row.step()
        state.refused -= 1
    }
}

/// Rows of the table `checkpoints`.
enum Checkpoints {
    static func read(of source: NodeID, _ connection: Connection) throws(StoreError) -> Position? {
        let row = try connection.statement(.readCheckpoint)
        defer { row.reset() }
        row.bind(1, blob: source.bytes)
        return try row.step() ? Position(timeline: row.unsigned(0), sequence: row.unsigned(1)) : nil
    }
}

/// Rows of the table `refused`.
enum Refusals {
    struct Record {
        let leaves: [RevisionID]
        /// Whether it was made under the present rules.
        let isValid: Bool
    }

    static func read(of id: DocumentID, _ connection: Connection) throws(StoreError) -> Record? {
        let row = try connection.statement(.readRefused)
        defer { row.reset() }
        row.bind(1, text: id.string)
        guard try row.step() else { return nil }
        return Record(
            leaves: try RevisionList.decode(row.bytes(0), of: id.string), isValid: row.number(1) == Limits.refusalRules)
    }
}
