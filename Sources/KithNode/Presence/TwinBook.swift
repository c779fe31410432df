import KithDocument
import KithNetwork
import KithReplication

#if KITH_MUTANTS
import KithSystem
#endif

/// Identities under which two nodes live at one time, as after copying a machine: what shows them, and until when that is
/// believed.
///
/// Every process draws a number, its **instance**, and puts it into its presence records. A restart changes it once; of two
/// processes with one identity now the one is heard and now the other, so that an instance comes back after another. A node
/// knows its own earlier instances, so what it hears of itself under any other one comes from a twin. And a node that dials
/// itself is dialled by itself: where only one of the two happens, somebody else has its identity.
package struct TwinBook: Sendable {
    private struct SelfDial: Sendable {
        let address: Endpoint
        let at: Instant
    }

    private let node: NodeID
    private let instance: UInt64
    /// What this node was in earlier processes; records of theirs may still go round.
    private let earlier: [UInt64]
    private let startedAt: Instant
    /// Of each node the instances heard of, the present one last.
    private var instances: [NodeID: [UInt64]] = [:]
    /// Until when it is believed, of what this node has found out itself.
    private var found: [NodeID: Instant] = [:]
    /// By node what it last said that it has found out, and when.
    private var told: [NodeID: (twins: [NodeID], at: Instant)] = [:]
    private var dialledSelf: [SelfDial] = []
    private var acceptedSelf: [Instant] = []
    /// When dials were given up of which it is not known whom they had reached.
    private var givenUp: [Instant] = []

    /// - Parameter earlier: the instances of this node's earlier processes.
    package init(node: NodeID, instance: UInt64, earlier: [UInt64], now: Instant) {
        self.node = node
        self.instance = instance
        self.earlier = earlier
        startedAt = now
    }

    /// The nodes of which two live, as far as this node has found out itself, ascending: what it tells others.
    package func found(now: Instant) -> [NodeID] { found.filter { $0.value > now }.keys.sorted() }

    /// All of them, also by what others say, ascending.
    package func all(now: Instant) -> [NodeID] {
        let told = told.values.filter { now.milliseconds(since: $0.at) < NodeLimits.presenceLifeMilliseconds }
        return Set(found(now: now) + told.flatMap(\.twins)).sorted()
    }

    /// Whether two nodes live under this identity, as far as this node has found out itself.
    package func hasFound(_ node: NodeID, now: Instant) -> Bool { found[node].map { $0 > now } ?? false }

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
        if record.node == node { return hearOwn(record.instance, now: now) }
        // Nodes of an earlier version have none.
        guard isNews, record.instance != 0 else { return }
        var known = instances[record.node] ?? []
        if known.last == record.instance { return }
        if known.contains(record.instance) {
            note(record.node, now: now)
            known.removeAll { $0 == record.instance }
        }
        known.append(record.instance)
        if known.count > NodeLimits.instances { known.removeFirst() }
        if instances.count >= NodeLimits.presenceNodes, instances[record.node] == nil { instances = [:] }
        instances[record.node] = known
    }

    private mutating func hearOwn(_ heard: UInt64, now: Instant) {
        if heard == instance { return }
        // What an earlier process said of itself goes round for a while.
        let isOver = now.milliseconds(since: startedAt) >= 2 * NodeLimits.presenceLifeMilliseconds
        if isOver || !(heard == 0 || earlier.contains(heard)) { note(node, now: now) }
    }

    /// A dial reached a node with this node's own identity.
    package mutating func dialledSelf(at address: Endpoint, now: Instant) {
        if let index = acceptedSelf.firstIndex(where: { now.milliseconds(since: $0) < NodeLimits.selfDialMilliseconds })
        {
            acceptedSelf.remove(at: index)
        } else if dialledSelf.count < NodeLimits.selfDials {
            dialledSelf.append(SelfDial(address: address, at: now))
        }
    }

    /// Dials were given up under way: because another address was faster, or nobody wanted them any more. Each may have
    /// reached this node itself, whose listener may tell of it later.
    package mutating func gaveUp(dials: Int, now: Instant) {
        let room = NodeLimits.selfDials - givenUp.count
        givenUp += Array(repeating: now, count: max(0, min(dials, room)))
    }

    /// A node with this node's own identity dialled this one.
    /// - Parameter isDialling: whether this node was dialling anybody just then, and may not have told of reaching itself.
    package mutating func acceptedSelf(isDialling: Bool, now: Instant) {
        if !dialledSelf.isEmpty {
            dialledSelf.removeFirst()
        } else if isDialling {
            if acceptedSelf.count < NodeLimits.selfDials { acceptedSelf.append(now) }
        } else if let index = givenUp.firstIndex(where: {
            now.milliseconds(since: $0) < NodeLimits.selfDialMilliseconds
        }) {
            givenUp.remove(at: index)
        } else {
            note(node, now: now)
        }
    }

    /// Lets time pass.
    /// - Returns: addresses at which a twin has answered.
    package mutating func expire(now: Instant) -> [Endpoint] {
        found = found.filter { $0.value > now }
        told = told.filter { now.milliseconds(since: $0.value.at) < NodeLimits.presenceLifeMilliseconds }
        acceptedSelf.removeAll { now.milliseconds(since: $0) >= NodeLimits.selfDialMilliseconds }
        givenUp.removeAll { now.milliseconds(since: $0) >= NodeLimits.selfDialMilliseconds }
        let unanswered = dialledSelf.filter { now.milliseconds(since: $0.at) >= NodeLimits.selfDialMilliseconds }
        dialledSelf.removeAll { now.milliseconds(since: $0.at) >= NodeLimits.selfDialMilliseconds }
        if !unanswered.isEmpty { note(node, now: now) }
        return unanswered.map(\.address)
    }
}
