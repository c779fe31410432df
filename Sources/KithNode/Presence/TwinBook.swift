import KithDocument
import KithReplication

#if KITH_MUTANTS
import KithSystem
#endif

/// Identities under which two nodes live at one time, as after copying a machine: what shows them, and until when that is
/// believed.
///
/// Every process draws a number, its **instance**, and puts it into its hellos and its presence records. That a node was
/// another process before, and is again in what still goes round of it, shows nothing: it was started anew, and its clock
/// may have been set back meanwhile. Two things show two nodes:
///
/// - A process hears a record of its own identity that neither it nor an earlier process has made. Who hears such a record
///   of a peer shows it to the peer.
/// - Two processes answer in one moment over two links. Or one does over a link with this node's own identity of which this
///   node has not the other end.
package struct TwinBook: Sendable {
    private let node: NodeID
    private let instance: UInt64
    /// What this node was in earlier processes; records of theirs may still go round.
    private let earlier: [UInt64]
    /// Records of this node's id with a lower counter were made before it started.
    private let firstCounter: UInt64
    /// Until when it is believed, of what this node has found out itself.
    private var found: [NodeID: Instant] = [:]
    /// By node what it last said that it has found out, and when.
    private var told: [NodeID: (twins: [NodeID], at: Instant)] = [:]
    /// The ends of links with this node's own identity that are here, by the number that both ends know; the latest last.
    private var ends: [UInt64] = []

    /// - Parameters:
    ///   - earlier: the instances of this node's earlier processes, as far as they are known.
    ///   - startedAt: by the wall clock, which the counters of presence records begin with, in milliseconds since 1970.
    package init(node: NodeID, instance: UInt64, earlier: [UInt64], startedAt: Int64) {
        self.node = node
        self.instance = instance
        self.earlier = earlier
        firstCounter = UInt64(max(0, startedAt))
    }

    /// The nodes of which two live, as far as this node has found out itself, ascending: what it tells others.
    package func found(now: Instant) -> [NodeID] { found.filter { $0.value > now }.keys.sorted() }

    /// All of them, also by what others say, ascending.
    package func all(now: Instant) -> [NodeID] {
        let told = told.values.filter { isFresh($0.at, now: now) }
        return Set(found(now: now) + told.flatMap(\.twins)).sorted()
    }

    /// Whether two nodes live under this identity, as far as this node has found out itself, or one of the two has.
    package func hasFound(_ node: NodeID, now: Instant) -> Bool {
        if let until = found[node], until > now { return true }
        return told[node].map { isFresh($0.at, now: now) && $0.twins.contains(node) } ?? false
    }

    private func isFresh(_ time: Instant, now: Instant) -> Bool {
        now.milliseconds(since: time) < NodeLimits.presenceLifeMilliseconds
    }

    /// Something showed that two nodes live under an identity.
    package mutating func note(_ node: NodeID, now: Instant) {
        #if KITH_MUTANTS
        if Mutant.isActive(.ignoresTwins) { return }
        #endif
        if found.count >= NodeLimits.twins, found[node] == nil { found = found.filter { $0.value > now } }
        guard found.count < NodeLimits.twins || found[node] != nil else { return }
        found[node] = now.advanced(byMilliseconds: NodeLimits.twinMilliseconds)
    }

    /// A presence record came.
    /// - Parameter isNews: whether nobody has told of it before, and it is not older than what is known.
    package mutating func hear(_ record: PresenceRecord, isNews: Bool, now: Instant) {
        // Of a twin's own records, which are no news here, the last one counts too.
        if isNews || record.node == node {
            let isRoom = told.count < NodeLimits.twins || told[record.node] != nil
            told[record.node] = record.doubled.isEmpty || !isRoom ? nil : (record.doubled, now)
        }
        if record.node == node, isOfAnother(record) { note(node, now: now) }
    }

    /// Whether a record of this node's id was made by a process that runs beside this one.
    private func isOfAnother(_ record: PresenceRecord) -> Bool {
        // Nodes of an earlier version have none.
        if record.instance == instance || record.instance == 0 { return false }
        #if KITH_MUTANTS
        if Mutant.isActive(.forgetsInstances) { return true }
        #endif
        // One from before the start is of a process that was, should its instance not be known any more. A twin makes another
        // one soon.
        return !earlier.contains(record.instance) && record.counter >= firstCounter
    }

    /// A link with this node's own identity was authenticated here, as the one that dialled or the one that accepted.
    package mutating func met(itselfOver tieBreak: UInt64) {
        ends.append(tieBreak)
        if ends.count > NodeLimits.selfEnds { ends.removeFirst() }
    }

    /// Whether such a link leads from this node to this node. Asked when something was said at its other end, which was met
    /// before it spoke.
    package func isItself(over tieBreak: UInt64) -> Bool { ends.count { $0 == tieBreak } > 1 }

    /// Lets time pass.
    package mutating func expire(now: Instant) {
        found = found.filter { $0.value > now }
        told = told.filter { isFresh($0.value.at, now: now) }
    }
}
