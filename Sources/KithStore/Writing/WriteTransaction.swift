import KithDocument
import KithMerge

#if KITH_MUTANTS
import KithSystem
#endif

/// What a piece of work may do to a database within its transaction. Valid only while the work runs.
///
/// The operations are in the extensions: documents (`+Documents`), what peers deliver (`+Receiving`), purging, policies,
/// local documents. This file has what they share: what is held in memory, and where it comes from.
package final class WriteTransaction {
    let connection: Connection
    let environment: StoreEnvironment
    let options: StoreOptions
    let digests = DocumentDigest()
    /// All that a failed transaction puts back.
    var memory: Memory
    /// Leaves that fresh writers wrote, so that further edits of such a leaf use the same one. Forgotten at closing,
    /// and the oldest when there are many; that only costs another fresh writer.
    var onceWriters = OnceWriters()
    /// The name of this opening's timeline until it is written with the first change.
    private var nextTimeline: TimelineID = 0
    /// When the clock that only goes forward was last asked, in milliseconds.
    var askedAt: UInt64?

    struct Memory {
        var state: StoreState
        /// The state as it stands in the file.
        var savedState: StoreState
        /// This opening's timeline, once it is in the file; it is the writer of stamps.
        var timeline: TimelineID?
        /// The highest stamp time that was handed out in this timeline.
        var highestTime: UInt64 = 0
        /// Documents that were purged since the opening.
        var purges: UInt64 = 0
        var policy: StoredPolicy
        /// What it comes to here.
        var merging: any MergePolicy
        /// Whether conflicts that waited for a resolver were looked for since the opening.
        var hasLookedForConflicts = false
        /// Whether there is an index of the documents that expire.
        var hasExpiryIndex: Bool
        /// The name of the filter whose checkpoints alone are in the file, empty for none; nil while that is not known.
        var checkpointFilter: [UInt8]?
        /// What was dropped in this timeline, as expired or as nothing that a filter wants, whose name must not stand for it; nil once it is too much to remember.
        var dropped: Set<DocumentID>? = []
    }

    /// Reads what the transaction has before it, with what it has written itself.
    package var reader: StoreReader { StoreReader(connection, now: environment.now) }

    var state: StoreState {
        get { memory.state }
        set { memory.state = newValue }
    }

    init(_ connection: Connection, environment: StoreEnvironment, options: StoreOptions) throws(StoreError) {
        self.connection = connection
        self.environment = environment
        self.options = options
        #if KITH_MUTANTS
        var state = try StoreState.read(connection)
        #else
        let state = try StoreState.read(connection)
        #endif
        #if KITH_MUTANTS
        if Mutant.isActive(.reusesSequence), state.sequence > 0 { state.sequence -= 1 }
        #endif
        let policy = try StoredPolicy.read(connection)
        memory = Memory(
            state: state, savedState: state, timeline: nil, policy: policy,
            merging: policy.policy(with: options.resolvers),
            hasExpiryIndex: try connection.number(Schema.expiryIndexCount) != 0)
        #if KITH_MUTANTS
        if Mutant.isActive(.forgetsTimeline), state.timeline != 0 { memory.timeline = state.timeline }
        #endif
    }

    /// Writes the state row if the transaction changed it.
    func saveState() throws(StoreError) {
        guard state != memory.savedState else { return }
        try state.write(connection)
        memory.savedState = state
    }

    // Timelines.

    /// The writer of this opening's stamps: the id of its timeline, which begins with the first change.
    func writer() throws(StoreError) -> WriterID {
        if let timeline = memory.timeline { return timeline }
        while nextTimeline == 0 {
            let name = environment.random()
            if name != 0, try timelineEnd(of: name) == nil { nextTimeline = name }
        }
        return nextTimeline
    }

    /// The next sequence, in this opening's timeline.
    func nextSequence() throws(StoreError) -> UInt64 {
        if memory.timeline == nil { try beginTimeline() }
        state.sequence += 1
        return state.sequence
    }

    private func beginTimeline() throws(StoreError) {
        let name = try writer()
        let end = try connection.statement(.endTimeline)
        defer { end.reset() }
        end.bind(1, state.sequence)
        _ = try end.step()
        let begin = try connection.statement(.insertTimeline)
        defer { begin.reset() }
        begin.bind(1, state.sequence + 1)
        begin.bind(2, name)
        _ = try begin.step()
        memory.timeline = name
        state.timeline = name
    }

    /// The last sequence of a timeline of this database; nil for an unknown one.
    func timelineEnd(of timeline: TimelineID) throws(StoreError) -> UInt64? {
        let row = try connection.statement(.timelineById)
        defer { row.reset() }
        row.bind(1, timeline)
        guard try row.step() else { return nil }
        return row.isNull(0) ? state.sequence : row.unsigned(0)
    }

    /// Forgets this opening's timeline, which somebody else has written on, and begins another at once: what was written
    /// in it has no place that a peer could name any more.
    func forgetTimeline() throws(StoreError) {
        guard let timeline = memory.timeline else { return }
        let row = try connection.statement(.forgetTimeline)
        defer { row.reset() }
        row.bind(1, timeline)
        _ = try row.step()
        memory.timeline = nil
        memory.highestTime = 0
        memory.dropped = []
        nextTimeline = 0
        onceWriters = OnceWriters()
        try beginTimeline()
    }
}
