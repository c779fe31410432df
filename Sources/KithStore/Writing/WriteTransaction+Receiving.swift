import KithDocument
import KithMerge

#if KITH_MUTANTS
import KithSystem
#endif

extension WriteTransaction {
    /// Stores and merges what was delivered and moves the checkpoint. What is wrong is recorded as refused with its
    /// reason and does not stop the rest.
    package func apply(_ batch: ReceivedBatch) throws(StoreError) -> ReceivedOutcome {
        var stored = 0
        var refused: [RefusedDocument] = []
        var isRollbackDetected = false
        for received in batch.documents {
            let result = try receive(received, givesWay: batch.givesWay)
            stored += result.stored
            if result.isRollback { isRollbackDetected = true }
            if let reason = result.refusal {
                refused.append(RefusedDocument(document: received.id, reason: reason))
            }
        }
        for change in batch.leaving { try leave(change) }
        try keepCheckpoints(of: batch.filter)
        if let checkpoint = batch.checkpoint { try writeCheckpoint(of: batch.source, batch.filter, checkpoint) }
        return ReceivedOutcome(
            stored: stored, refused: refused, isRollbackDetected: isRollbackDetected, summary: state.summary)
    }

    /// What became of one document's part.
    private struct DocumentOutcome {
        var stored = 0
        var refusal: String?
        var isRollback = false
    }

    private func receive(_ received: ReceivedDocument, givesWay: Bool) throws(StoreError) -> DocumentOutcome {
        var outcome = DocumentOutcome(refusal: received.reason)
        if received.items.isEmpty {
            if let reason = received.reason { try refuse(received.id, received.refused, reason) }
            return outcome
        }
        let marker = try purgeMarker(of: received.id)
        if let marker, received.items.allSatisfy({ marker.leaves.contains($0.revision.id) }) {
            outcome.refusal = nil
            return outcome
        }

        var loaded = try load(received.id)
        let leavesBefore = loaded.document.tree.leaves.count
        if namesUnwrittenStamp(received, loaded.document.tree, marker) {
            // Before anything is written: from here on it is another writer.
            try forgetTimeline()
            outcome.isRollback = true
        }
        // Closed leaves last: which of them are too old to be taken hangs on the winner that the others make.
        let (open, closed) = (
            received.items.filter { $0.revision.kind != .closed }, received.items.filter { $0.revision.kind == .closed }
        )
        for item in open + closed where loaded.document.receive(item) { outcome.stored += 1 }
        if givesWay, outcome.stored == 0, received.reason == nil, marker == nil {
            giveWay(open + closed, &loaded)
        }
        let leaves = loaded.document.tree.leaves.count
        if leaves > Limits.leavesPerDocument {
            let reason = "the document would have \(leaves) leaves; \(Limits.leavesPerDocument) are the most"
            // Where there was room before, some of it may come again without the rest.
            let isFull = leavesBefore >= Limits.leavesPerDocument
            try refuse(
                received.id, (isFull ? received.items.map(\.revision.id) : []) + received.refused, reason)
            return DocumentOutcome(refusal: reason, isRollback: outcome.isRollback)
        }
        // A revision that is not new may still say more of its kind.
        if outcome.stored > 0 || loaded.row?.tree != loaded.document.tree, !loaded.document.tree.isEmpty {
            _ = try settleAndSave(&loaded)
            if let marker { try leafArrived(at: received.id, marker) }
        }
        if let reason = received.reason {
            try refuse(received.id, received.refused, reason)
        } else {
            try forgetRefusal(of: received.id)
        }
        return outcome
    }

    /// Takes a document as its source has it where the source has seen all that is here, and some of that lives here only: it was
    /// merged otherwise, and nobody will ask for it. Of a foreign revision nothing says what has seen it.
    private func giveWay(_ items: [Delivery.Item], _ loaded: inout LoadedDocument) {
        var theirs = Document(id: loaded.document.id)
        for item in items { _ = theirs.receive(item) }
        let seen = theirs.tree.leaves.filter { $0.kind != .closed }
            .reduce(Version()) { $0.joined(with: $1.knownVersion ?? Version()) }
        let own = loaded.document.tree.leaves.filter { $0.kind != .closed }
        let isAllSeen = own.allSatisfy { leaf in
            !leaf.isForeign && leaf.knownVersion.map { $0.isWithin(seen) } ?? false
        }
        let isOwnLeft = own.contains { leaf in leaf.kind.isLive && theirs.tree[leaf.id] == nil }
        if isAllSeen, isOwnLeft { loaded.document = theirs }
    }

    /// Whether a delivery knows of a stamp by this opening's timeline that it has not handed out: one above the highest, or
    /// one above what is known here of it in this very document, which knows all of its own stamps for certain unless the
    /// document was purged in this timeline or its version is full.
    private func namesUnwrittenStamp(
        _ received: ReceivedDocument, _ tree: RevisionTree, _ marker: PurgeMarker?
    ) -> Bool {
        guard let timeline = memory.timeline else { return false }
        var named: UInt64 = 0
        for item in received.items {
            named = max(named, item.revision.version[timeline] ?? 0)
            guard let stamps = item.revision.stamps else { continue }
            if stamps.defaultStamp.writer == timeline { named = max(named, stamps.defaultStamp.time) }
            for exception in stamps.exceptions where exception.stamp.writer == timeline {
                named = max(named, exception.stamp.time)
            }
        }
        if named == 0 { return false }
        if named > memory.highestTime { return true }
        if marker?.timeline == timeline || tree.isEmpty && wasDropped(received.id) { return false }
        var known: UInt64 = 0
        for leaf in tree.leaves {
            guard let version = leaf.content?.version else { continue }
            if version.entries.count >= DocumentLimits.versionEntries { return false }
            known = max(known, version[timeline] ?? 0)
        }
        return named > known
    }

    private func writeCheckpoint(
        of source: NodeID, _ filter: DocumentFilter?, _ checkpoint: Position
    ) throws(StoreError) {
        if try Checkpoints.read(of: source, filter, connection) == checkpoint { return }
        let row = try connection.statement(.writeCheckpoint)
        defer { row.reset() }
        row.bind(1, blob: Checkpoints.key(of: source, filter))
        row.bind(2, checkpoint.timeline)
        row.bind(3, checkpoint.sequence)
        _ = try row.step()
    }

    /// Forgets how far the changes of a source, or for nil of all, were taken: the next feed begins as with a stranger, and stores
    /// nothing twice.
    package func forgetCheckpoints(of source: NodeID?) throws(StoreError) {
        let row = try connection.statement(source == nil ? .dropCheckpoints : .dropCheckpoint)
        defer { row.reset() }
        if let source { row.bind(1, blob: source.bytes) }
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
        #if KITH_MUTANTS
        if Mutant.isActive(.keepsRefusals) { return state.refused += 1 }
        #endif
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
    /// The source's id, and the filter's name behind it.
    static func key(of source: NodeID, _ filter: DocumentFilter?) -> [UInt8] { source.bytes + (filter?.name ?? []) }

    /// Whether these bytes can name a row: 32 of the source's id, and 32 of the filter's name where there is one.
    static func isKey(_ bytes: [UInt8]) -> Bool {
        NodeID(bytes: bytes.prefix(32)) != nil && (bytes.count == 32 || bytes.count == 64)
    }

    static func read(
        of source: NodeID, _ filter: DocumentFilter?, _ connection: Connection
    ) throws(StoreError) -> Position? {
        let row = try connection.statement(.readCheckpoint)
        defer { row.reset() }
        row.bind(1, blob: key(of: source, filter))
        return try row.step() ? Position(timeline: row.unsigned(0), sequence: row.unsigned(1)) : nil
    }

    /// Those without a filter.
    static func read(_ connection: Connection) throws(StoreError) -> [NodeID: Position] {
        let row = try connection.statement(.readCheckpoints)
        defer { row.reset() }
        var checkpoints: [NodeID: Position] = [:]
        while try row.step() {
            // Longer than an id where there is a filter.
            guard let source = NodeID(bytes: row.bytes(0)) else { continue }
            checkpoints[source] = Position(timeline: row.unsigned(1), sequence: row.unsigned(2))
        }
        return checkpoints
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
