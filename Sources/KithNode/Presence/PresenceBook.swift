import KithDocument
import KithReplication

#if KITH_MUTANTS
import KithSystem
#endif

/// The presence records of the mesh: which are news to pass on, and which are too old to believe.
///
/// A record lives for a while after it was last heard; who is gone vanishes from the map, though not from the peers a
/// node remembers.
package struct PresenceBook: Sendable {
    private struct Entry: Sendable {
        let record: PresenceRecord
        let encoded: [UInt8]
        let heardAt: Instant
    }

    private let node: NodeID
    private var entries: [NodeID: Entry] = [:]
    /// Of nodes whose records were forgotten the last counter, so that an old record that still goes round is no news.
    private var forgotten: [NodeID: UInt64] = [:]
    /// This node's record as it was sent last.
    package private(set) var own: PresenceRecord?
    private var ownSentAt: Instant?
    /// Whether the record is to be sent though it says nothing new.
    private var mustRenew = false
    /// The highest counter of a record of this node's id that came round and was above its own: one of before a restart,
    /// with a clock that has been set back meanwhile, or a twin's.
    private var outranking: UInt64 = 0
    /// The latest counters of this node's own records: others under its id are a twin's.
    private var ownCounters: [UInt64] = []

    package init(node: NodeID) { self.node = node }

    /// Takes a record from a neighbour.
    /// - Returns: whether it is news, to be passed on to the other neighbours.
    package mutating func hear(_ record: PresenceRecord, encoded: [UInt8], now: Instant) -> Bool {
        guard record.node != node else {
            outrank(record.counter)
            return false
        }
        if let known = entries[record.node]?.record.counter ?? forgotten[record.node], record.counter <= known {
            return false
        }
        if entries[record.node] == nil, entries.count >= NodeLimits.presenceNodes {
            return false
        }
        entries[record.node] = Entry(record: record, encoded: encoded, heardAt: now)
        return true
    }

    /// A record of this node's id came round. One that others would believe before its own is outranked with the next.
    private mutating func outrank(_ counter: UInt64) {
        guard let own, counter > own.counter, counter > outranking else { return }
        outranking = counter
        mustRenew = true
    }

    /// This node's own record when it is to be sent: it changed and the last is not too fresh, or it grows old.
    /// - Parameters:
    ///   - counter: of the first record; from the wall clock, so that it rises across restarts.
    ///   - describe: makes the record of the given counter.
    package mutating func ownRecord(
        counter: UInt64, now: Instant, _ describe: (UInt64) -> PresenceRecord
    ) -> PresenceRecord? {
        let highest = max(own?.counter ?? 0, outranking)
        let next = max(counter, highest == .max ? highest : highest + 1)
        let record = describe(next)
        if let own, let ownSentAt {
            #if KITH_MUTANTS
            if Mutant.isActive(.announcesAlways) { return record }
            #endif
            let age = now.milliseconds(since: ownSentAt)
            let changed = mustRenew || record.says(otherThan: own)
            guard
                age >= interval || (changed && age >= minimum)
            else { return nil }
        }
        own = record
        ownCounters.append(record.counter)
        if ownCounters.count > NodeLimits.instances { ownCounters.removeFirst() }
        ownSentAt = now
        mustRenew = false
        return record
    }

    // Each record comes to each node, so what a node gets grows with their number: in a large mesh each is sent less often.
    private var interval: UInt64 {
        max(NodeLimits.presenceIntervalMilliseconds, UInt64(count) * NodeLimits.presenceIntervalPerNodeMilliseconds)
    }

    private var minimum: UInt64 {
        max(NodeLimits.presenceMinimumMilliseconds, UInt64(count) * NodeLimits.presenceMinimumPerNodeMilliseconds)
    }

    private var life: UInt64 { max(NodeLimits.presenceLifeMilliseconds, 3 * interval) }

    /// Forgets records that were not renewed.
    package mutating func expire(now: Instant) {
        #if KITH_MUTANTS
        if Mutant.isActive(.keepsPresence) { return }
        #endif
        let life = life
        for (node, entry) in entries.filter({ now.milliseconds(since: $1.heardAt) >= life }) {
            if forgotten.count >= NodeLimits.presenceNodes { forgotten = [:] }
            forgotten[node] = entry.record.counter
            entries[node] = nil
        }
    }

    /// A node is a member no more: its record goes.
    package mutating func forget(_ node: NodeID) { entries[node] = nil }

    /// All records but this node's own, ascending by node.
    package var records: [PresenceRecord] { entries.keys.sorted().compactMap { entries[$0]?.record } }

    /// Whose there are.
    package var nodes: some Collection<NodeID> { entries.keys }

    /// How many there are.
    package var count: Int { entries.count }

    // Without a copy of the record: these are asked of each node with every look at the mesh.

    package func knows(_ node: NodeID) -> Bool { entries[node] != nil }

    package func isReader(_ node: NodeID) -> Bool { entries[node]?.record.isReader ?? false }

    package func record(of node: NodeID) -> PresenceRecord? { entries[node]?.record }

    /// The record of a node as it came.
    package func encodedRecord(of node: NodeID) -> [UInt8]? { entries[node]?.encoded }

    /// All records as they came, for a neighbour that has just connected.
    package var encodedRecords: [[UInt8]] { encoded(of: entries.keys.sorted()) }

    /// The records of some nodes as they came.
    package func encoded(of nodes: [NodeID]) -> [[UInt8]] { nodes.compactMap { entries[$0]?.encoded } }

    /// What there is for a neighbour that has just connected, ascending by node.
    package var offers: [PresenceOffer] {
        entries.keys.sorted().compactMap { node in
            entries[node].map { PresenceOffer(node: node, counter: $0.record.counter) }
        }
    }

    /// Whether a record that a neighbour has would tell nothing here.
    package func isKnown(_ offer: PresenceOffer) -> Bool {
        if offer.node == node { return ownCounters.contains(offer.counter) }
        return (entries[offer.node]?.record.counter ?? forgotten[offer.node]).map { offer.counter <= $0 } ?? false
    }
}

extension PresenceRecord {
    fileprivate func says(otherThan other: PresenceRecord) -> Bool {
        neighbours != other.neighbours || databases != other.databases || name != other.name
            || isReader != other.isReader || doubled != other.doubled || softwareVersion != other.softwareVersion
            || addresses != other.addresses || isAnnounced != other.isAnnounced
    }
}
