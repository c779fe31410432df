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
                age >= NodeLimits.presenceIntervalMilliseconds
                    || (changed && age >= NodeLimits.presenceMinimumMilliseconds)
            else { return nil }
        }
        own = record
        ownSentAt = now
        mustRenew = false
        return record
    }

    /// Forgets records that were not renewed.
    package mutating func expire(now: Instant) {
        #if KITH_MUTANTS
        if Mutant.isActive(.keepsPresence) { return }
        #endif
        for (node, entry) in entries where now.milliseconds(since: entry.heardAt) >= NodeLimits.presenceLifeMilliseconds
        {
            if forgotten.count >= NodeLimits.presenceNodes { forgotten = [:] }
            forgotten[node] = entry.record.counter
        }
        entries = entries.filter { now.milliseconds(since: $1.heardAt) < NodeLimits.presenceLifeMilliseconds }
    }

    /// A node is a member no more: its record goes.
    package mutating func forget(_ node: NodeID) { entries[node] = nil }

    /// All records but this node's own, ascending by node.
    package var records: [PresenceRecord] { entries.keys.sorted().compactMap { entries[$0]?.record } }

    package func record(of node: NodeID) -> PresenceRecord? { entries[node]?.record }

    /// How many records there are but this node's own.
    package var count: Int { entries.count }

    /// The record of a node as it came.
    package func encodedRecord(of node: NodeID) -> [UInt8]? { entries[node]?.encoded }

    /// All records as they came, for a neighbour that has just connected.
    package var encodedRecords: [[UInt8]] { entries.keys.sorted().compactMap { entries[$0]?.encoded } }
}

extension PresenceRecord {
    fileprivate func says(otherThan other: PresenceRecord) -> Bool {
        neighbours != other.neighbours || databases != other.databases || name != other.name
            || isReader != other.isReader || doubled != other.doubled || softwareVersion != other.softwareVersion
            || addresses != other.addresses || isAnnounced != other.isAnnounced
    }
}
