import KithCrypto
import KithDocument
import KithMerge

@testable import KithReplication

/// A database in memory, as the protocol sees one: documents with their merge rules, sequences, timelines, checkpoints,
/// refusals and purges. It keeps count of what it was asked.
final class MemoryStore: ReplicaStore {
    struct Entry {
        var document: Document
        var sequence: UInt64
    }

    private(set) var entries: [DocumentID: Entry] = [:]
    private var feed: [(sequence: UInt64, document: DocumentID)] = []
    private var sequence: UInt64 = 0
    private(set) var timeline: TimelineID
    private var timelines: [(id: TimelineID, last: UInt64)] = []
    private(set) var digest = Digest256.zero
    private(set) var checkpoints: [NodeID: Position] = [:]
    /// With which filter those are.
    private var checkpointFilter: FeedFilter?
    /// Documents that left with a filter.
    private(set) var left: [DocumentID] = []
    private(set) var filteredScans = 0
    private(set) var refused: [DocumentID: [RevisionID]] = [:]
    private(set) var purged: Set<DocumentID> = []
    private var clock: UInt64 = 1 << 20
    /// Documents above this many bytes are refused.
    var bodyLimit = DocumentLimits.documentBytes
    /// Answers of the next calls of a kind.
    var failures: [String: [ReplicaError]] = [:]
    /// Fails every call.
    var broken: ReplicaError?

    private var hidden: [DocumentID: Document] = [:]

    // What was asked.
    private(set) var transactions = 0
    private(set) var storedRevisions = 0
    private(set) var deliveredDocuments = 0
    private(set) var listedChanges = 0
    private(set) var scans = 0
    private(set) var rangeListed = 0
    private(set) var reads = 0

    init(timeline: TimelineID) { self.timeline = timeline }

    private func check(_ call: String) throws(ReplicaError) {
        if let broken { throw broken }
        guard var queue = failures[call], !queue.isEmpty else { return }
        let error = queue.removeFirst()
        failures[call] = queue
        throw error
    }

    // Writing.

    @discardableResult
    func put(_ id: String, _ body: String) -> RevisionID? {
        change(id) { document in
            let context = EditContext(clock: clock, writer: timeline) { self.timeline ^ self.clock }
            guard case .written(let revision, _)? = try? document.edit(Array(body.utf8), context) else { return nil }
            return revision
        }
    }

    @discardableResult
    func delete(_ id: String) -> RevisionID? { change(id) { document in try? document.delete() ?? nil } }

    private func change(_ text: String, _ write: (inout Document) -> RevisionID?) -> RevisionID? {
        clock += 1 << 16
        let id = DocumentID(unchecked: text)
        var document = entries[id]?.document ?? Document(id: id)
        let revision = write(&document)
        if revision != nil { save(document) }
        return revision
    }

    func purge(_ text: String) {
        let id = DocumentID(unchecked: text)
        if let entry = entries.removeValue(forKey: id) { digest -= Self.digest(entry.document) }
        purged.insert(id)
    }

    /// Loses a document with all memory of it, as a fault does.
    func lose(_ text: String) {
        if let entry = entries.removeValue(forKey: DocumentID(unchecked: text)) {
            digest -= Self.digest(entry.document)
        }
    }

    /// Says that it has a document and counts it as another.
    func hide(_ text: String) {
        let id = DocumentID(unchecked: text)
        if let entry = entries[id] {
            hidden[id] = entry.document
            digest -= Self.digest(entry.document)
        }
    }

    /// As after a crash and a restart, or a backup put back: a new timeline.
    func restart(timeline: TimelineID, forgetting: Bool = false) {
        if forgetting { timelines = [] } else { timelines.append((self.timeline, sequence)) }
        self.timeline = timeline
    }

    func forget(checkpointOf node: NodeID) { checkpoints[node] = nil }

    private func save(_ document: Document) {
        if let old = entries[document.id] { digest -= Self.digest(old.document) }
        sequence += 1
        entries[document.id] = Entry(document: document, sequence: sequence)
        feed.append((sequence, document.id))
        digest += Self.digest(document)
    }

    // Reading.

    var documents: Int { entries.count }

    func body(_ id: String) -> String? {
        entries[DocumentID(unchecked: id)]?.document.winner.map { String(decoding: $0.body, as: UTF8.self) }
    }

    /// The open leaves of a document, ascending.
    func leaves(_ id: String) -> [RevisionID] {
        entries[DocumentID(unchecked: id)]?.document.tree.leaves.filter { $0.kind != .closed }.map(\.id) ?? []
    }

    /// All open leaves of all documents with their ancestry, as they would be sent.
    func everything() -> [Delivery] {
        entries.values.map(\.document).sorted { $0.id < $1.id }.map { document in
            Delivery(
                document: document.id,
                items: leaves(document.id.string).compactMap { id in
                    document.revision(id).map { .init(revision: $0, ancestors: document.tree.ancestors(of: id)) }
                })
        }
    }

    /// Stores what was sent from nowhere.
    func take(_ deliveries: [Delivery]) {
        let nobody = NodeID(bytes: [UInt8](repeating: 255, count: 32))!
        _ = try? apply(ReplicaBatch(source: nobody, deliveries: deliveries, checkpoint: nil))
    }

    private static func digest(_ document: Document) -> Digest256 {
        var writer = ByteWriter()
        writer.appendLengthPrefixed(Array(document.id.string.utf8))
        for leaf in document.tree.leaves where leaf.kind != .closed {
            leaf.id.encode(into: &writer)
            writer.appendLengthPrefixed { leaf.content?.version.encode(into: &$0) }
        }
        return Digest256(bytes: SHA256.hash(writer.bytes).bytes)
    }

    private static func range(_ id: DocumentID) -> UInt16 { UInt16(SHA256.hash(Array(id.string.utf8)).words.0 >> 48) }

    private func leaves(_ document: Document) -> [AnnouncedLeaf] {
        document.tree.leaves.map { AnnouncedLeaf(id: $0.id) }
    }

    // ReplicaStore.

    func summary() throws(ReplicaError) -> ReplicaSummary {
        try check("summary")
        return ReplicaSummary(
            position: Position(timeline: timeline, sequence: sequence), digest: digest, documents: UInt64(entries.count)
        )
    }

    func checkpoint(of source: NodeID, filter: FeedFilter?) throws(ReplicaError) -> Position? {
        try check("checkpoint")
        return filter == checkpointFilter ? checkpoints[source] : nil
    }

    /// A selector fits here what has its text in its body.
    private func matches(_ document: Document, _ filter: FeedFilter?) -> Bool {
        switch filter {
        case nil: return true
        case .documents(let documents): return documents.contains(document.id)
        case .selector(let text):
            guard let winner = document.winner, winner.node.kind.isLive else { return false }
            return String(decoding: winner.body, as: UTF8.self).contains(String(decoding: text, as: UTF8.self))
        }
    }

    func held(of changes: [Change]) throws(ReplicaError) -> [Change] {
        try check("held")
        return changes.filter { entries[$0.document] != nil }
    }

    private func leave(_ change: Change) {
        guard let document = entries[change.document]?.document else { return }
        let open = document.tree.leaves.filter { $0.kind != .closed }
        guard open.allSatisfy({ leaf in change.leaves.contains { $0.id == leaf.id } }) else { return }
        entries[change.document] = nil
        digest -= Self.digest(document)
        sequence += 1
        left.append(change.document)
    }

    func missing(in changes: [Change], givesWay: Bool) throws(ReplicaError) -> [Want] {
        try check("missing")
        return changes.compactMap { change in
            if purged.contains(change.document) || !change.isMatching && entries[change.document] == nil { return nil }
            let document = entries[change.document]?.document
            let lacking = change.leaves.filter { leaf in
                document?.tree.contains(leaf.id) != true && refused[change.document]?.contains(leaf.id) != true
            }
            if lacking.isEmpty {
                let isOwnLeft = document?.tree.live.contains { leaf in !change.leaves.contains { $0.id == leaf.id } }
                guard givesWay, isOwnLeft == true else { return nil }
                return Want(document: change.document, revisions: change.leaves.map(\.id), known: [])
            }
            return Want(
                document: change.document, revisions: lacking.map(\.id), known: document?.tree.leaves.map(\.id) ?? [])
        }
    }

    func refused(in changes: [Change]) throws(ReplicaError) -> [DocumentID] {
        try check("refused")
        return changes.filter { change in
            change.leaves.contains { refused[change.document]?.contains($0.id) == true }
        }.map(\.document)
    }

    func apply(_ batch: ReplicaBatch) throws(ReplicaError) -> ReplicaOutcome {
        try check("apply")
        transactions += 1
        var stored = 0
        var refusals: [Refusal] = []
        for delivery in batch.deliveries {
            do throws(DocumentError) {
                for item in delivery.items {
                    try item.revision.verify()
                    if item.revision.body.count > bodyLimit { throw .malformed("the document is over the limit") }
                }
            } catch {
                refused[delivery.document, default: []] += delivery.items.map(\.revision.id)
                refusals.append(Refusal(document: delivery.document, reason: error.message))
                continue
            }
            var document = entries[delivery.document]?.document ?? Document(id: delivery.document)
            let fresh = delivery.items.count { document.receive($0) }
            if fresh == 0 {
                guard batch.givesWay else { continue }
                document = Document(id: delivery.document)
                for item in delivery.items { _ = document.receive(item) }
            }
            stored += fresh
            document.settle(LatestPolicy())
            save(document)
        }
        storedRevisions += stored
        for change in batch.leaving { leave(change) }
        if batch.filter != checkpointFilter { checkpoints = [:] }
        checkpointFilter = batch.filter
        if let checkpoint = batch.checkpoint { checkpoints[batch.source] = checkpoint }
        return ReplicaOutcome(stored: stored, refused: refusals, summary: try summary())
    }

    func resume(at checkpoint: Position?) throws(ReplicaError) -> ResumePoint {
        try check("resume")
        guard let checkpoint else { return .after(0) }
        if checkpoint.timeline == timeline { return .after(min(checkpoint.sequence, sequence)) }
        guard let known = timelines.last(where: { $0.id == checkpoint.timeline }) else { return .unknown }
        return .after(min(checkpoint.sequence, known.last))
    }

    func changes(after sequence: UInt64, limit: Int, filter: FeedFilter?) throws(ReplicaError) -> ChangesPage {
        try check("changes")
        reads += 1
        var low = feed.startIndex
        var high = feed.endIndex
        while low < high {
            let middle = (low + high) / 2
            if feed[middle].sequence <= sequence { low = middle + 1 } else { high = middle }
        }
        var changes: [Change] = []
        while low < feed.endIndex, changes.count < limit {
            let (number, id) = feed[low]
            low += 1
            guard let entry = entries[id], entry.sequence == number else { continue }
            changes.append(
                Change(
                    sequence: number, document: id, leaves: leaves(entry.document),
                    isMatching: matches(entry.document, filter)))
        }
        listedChanges += changes.count
        let isCaughtUp = low == feed.endIndex
        let through = isCaughtUp ? self.sequence : changes.last?.sequence ?? self.sequence
        return ChangesPage(
            changes: changes, through: Position(timeline: timeline, sequence: max(through, sequence)),
            isCaughtUp: isCaughtUp, digest: digest)
    }

    func deliveries(for wants: [Want], maximumBytes: Int) throws(ReplicaError) -> DeliveriesPage {
        try check("deliveries")
        reads += 1
        var deliveries: [Delivery] = []
        var gone: [DocumentID] = []
        var bytes = 0
        for (index, want) in wants.enumerated() {
            if bytes >= maximumBytes {
                return DeliveriesPage(deliveries: deliveries, rest: Array(wants[index...]), gone: gone)
            }
            let document = entries[want.document]?.document
            let items = want.revisions.compactMap { id -> Delivery.Item? in
                guard let document, let revision = document.revision(id) else { return nil }
                return Delivery.Item(revision: revision, ancestors: document.tree.ancestors(of: id))
            }
            if items.isEmpty {
                gone.append(want.document)
                continue
            }
            bytes += items.reduce(0) { $0 + $1.revision.body.count + 100 }
            deliveries.append(Delivery(document: want.document, items: items))
        }
        deliveredDocuments += deliveries.count
        return DeliveriesPage(deliveries: deliveries, rest: [], gone: gone)
    }

    func rangeDigests(filter: FeedFilter?) throws(ReplicaError) -> RangeDigests {
        try check("rangeDigests")
        scans += 1
        var ranges: [UInt16: (UInt32, Digest256)] = [:]
        for (id, entry) in entries where hidden[id] == nil && matches(entry.document, filter) {
            var (count, sum) = ranges[Self.range(id)] ?? (0, .zero)
            count += 1
            sum += Self.digest(entry.document)
            ranges[Self.range(id)] = (count, sum)
        }
        return RangeDigests(
            position: try summary().position,
            ranges: ranges.keys.sorted().map {
                RangeDigests.Range(index: $0, documents: ranges[$0]?.0 ?? 0, digest: ranges[$0]?.1 ?? .zero)
            })
    }

    func changes(inRanges ranges: [UInt16], filter: FeedFilter?) throws(ReplicaError) -> [Change] {
        try check("rangeChanges")
        let wanted = Set(ranges)
        let found = entries.filter { wanted.contains(Self.range($0.key)) }.sorted { $0.key < $1.key }
        rangeListed += found.count
        return found.map {
            Change(
                sequence: $0.value.sequence, document: $0.key, leaves: leaves($0.value.document),
                isMatching: matches($0.value.document, filter))
        }
    }

    func exclusions(refused candidates: Set<DocumentID>) throws(ReplicaError) -> [DocumentID] {
        try check("exclusions")
        return (Array(purged) + refused.keys.filter(candidates.contains)).sorted()
    }

    func matchingDigest(
        _ filter: FeedFilter, without leftOut: [DocumentID]
    ) throws(ReplicaError) -> (Digest256, ReplicaSummary) {
        try check("matchingDigest")
        filteredScans += 1
        var sum = Digest256.zero
        for (id, entry) in entries where !leftOut.contains(id) && matches(entry.document, filter) {
            sum += Self.digest(entry.document)
        }
        return (sum, try summary())
    }

    func digest(of documents: [DocumentID]) throws(ReplicaError) -> Digest256 {
        try check("digest")
        return documents.reduce(into: Digest256.zero) { sum, id in
            if let entry = entries[id] { sum += Self.digest(entry.document) }
        }
    }
}
