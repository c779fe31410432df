import KithDocument

/// What one database of one node showed last: the omniscient view that checks are made against.
struct ReplicaModel {
    struct State {
        var sequence: UInt64
        /// Ascending by id, with what their node tells of their ancestry.
        var leaves: [Delivery.Item]
        /// All writes in the past of what it shows.
        var knowledge: WriteSet
        var isLive: Bool

        /// Whether something shows: only closed leaves tell of what others have.
        var isOpen: Bool { leaves.contains { $0.revision.kind != .closed } }
    }

    /// Documents in the order in which they were first seen.
    private(set) var documents: [DocumentID] = []
    private var seen: Set<DocumentID> = []
    private var states: [DocumentID: State] = [:]
    /// Documents that this node has ever purged.
    private(set) var purged: Set<DocumentID> = []
    /// What was purged of documents of which nothing has come since.
    private var purgedLeaves: [DocumentID: [RevisionID]] = [:]
    /// The writes that purges have taken and that have not come again since.
    private var purgedWrites: [DocumentID: WriteSet] = [:]
    /// When such a document was last seen.
    var lastPurged: UInt64?
    var sequence: UInt64 = 0
    var timeline: TimelineID = 0
    /// The last sequence of each timeline that what it holds was written under.
    var lasts: [TimelineID: UInt64] = [:]
    /// By source how far it has taken that one's changes, as last seen.
    var checkpoints: [Int: Position] = [:]
    /// The node carries the database no longer.
    var isAway = false
    /// Since when it carries it.
    var carriedSince: UInt64?
    /// Which document each sequence stood for, of each timeline.
    private var named: [Position: DocumentID] = [:]
    /// The digests it had, with the times when they began.
    private(set) var digests: [(since: UInt64, digest: Digest256)] = [(0, .zero)]

    subscript(document: DocumentID) -> State? { states[document] }

    mutating func set(_ document: DocumentID, _ state: State?) {
        if state != nil, seen.insert(document).inserted { documents.append(document) }
        states[document] = state
        if let gone = purgedWrites[document], let state,
            gone.firstMissing(in: state.knowledge, ignoring: WriteSet()) == nil
        {
            purgedWrites[document] = nil
        }
    }

    mutating func purge(_ document: DocumentID, _ leaves: [RevisionID]) {
        purged.insert(document)
        purgedLeaves[document] = leaves
        if let state = states[document] { purgedWrites[document, default: WriteSet()].formUnion(state.knowledge) }
        states[document] = nil
    }

    /// Whether it has purged a document of which nothing has come since: till then it need have nothing of it.
    func lacks(_ document: DocumentID) -> Bool { purgedLeaves[document] != nil }

    /// Whether there is such a document.
    var lacksPurged: Bool { !purgedLeaves.isEmpty }

    /// The writes that it knows of a document, or has purged: these come again with what is new, later or never.
    func knownOrPurged(_ document: DocumentID) -> WriteSet {
        var writes = states[document]?.knowledge ?? WriteSet()
        if let gone = purgedWrites[document] { writes.formUnion(gone) }
        return writes
    }

    func hasPurged(_ document: DocumentID) -> Bool { purged.contains(document) }

    /// - Throws: S11 where what was purged is back with nothing new beside it.
    mutating func comeBack(_ document: DocumentID, _ leaves: [RevisionID]) throws(Violation) {
        guard let gone = purgedLeaves.removeValue(forKey: document), !leaves.isEmpty else { return }
        if leaves.allSatisfy(gone.contains) {
            throw Violation(.noResurrection, "\(document) was purged and is back as it was")
        }
    }

    /// - Throws: S8 where a sequence has stood for another document.
    mutating func name(_ sequence: UInt64, _ document: DocumentID) throws(Violation) {
        let position = Position(timeline: timeline, sequence: sequence)
        if let other = named[position], other != document {
            throw Violation(.monotonicSequences, "sequence \(sequence) stood for \(other) and stands for \(document)")
        }
        named[position] = document
    }

    /// What sequences stood for is remembered whatever becomes of the disk.
    mutating func takeNames(of other: ReplicaModel) {
        named = other.named
        digests = other.digests
    }

    /// The disk is as it was at another time.
    mutating func goBack(to earlier: ReplicaModel, at time: UInt64) {
        let now = self
        self = earlier
        takeNames(of: now)
        beginAnew()
        noteDigest(earlier.digest, at: time)
    }

    /// What it holds was another's until now, or its own at another time. Peers may have come farther in the timeline, or
    /// come so with the other; the next change begins another.
    mutating func beginAnew() {
        checkpoints = [:]
        timeline = 0
    }

    mutating func noteDigest(_ digest: Digest256, at time: UInt64) {
        if digests.last?.digest != digest { digests.append((time, digest)) }
    }

    var digest: Digest256 { digests[digests.count - 1].digest }

    /// The digests it had at any moment since `time`.
    func digests(since time: UInt64) -> [Digest256] {
        digests.indices.filter { $0 + 1 == digests.count || digests[$0 + 1].since >= time }.map { digests[$0].digest }
    }

    /// Whether it had this digest at some moment since `time`.
    func had(_ digest: Digest256, since time: UInt64) -> Bool {
        for (index, entry) in digests.enumerated() where entry.digest == digest {
            if index + 1 == digests.count || digests[index + 1].since >= time { return true }
        }
        return false
    }
}
