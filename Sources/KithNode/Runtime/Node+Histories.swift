import KithDocument
import KithReplication
import KithStore
import KithSystem

// What was found out about the histories of databases: that one was put back, or is another than a peer knew.

extension Node {
    /// A link found something out about a database.
    func found(_ finding: HistoryFinding, of database: String, with peer: NodeID) {
        let name = peers[peer]?.name ?? peer.short
        let now = clock.wallMilliseconds
        switch finding {
        case .lostHere(let sequence, let end):
            noteRollback(
                of: database, at: now,
                "\(name) had taken its changes up to \(sequence) of a timeline that ends at \(end) here")
        case .unknownHere:
            log(
                .info, .store, "a peer knew another history of a database than there is here: compared anew",
                ["peer": peer.short, "name": name, "database": database])
        case .unknownByPeer:
            log(
                .info, .store, "a peer has another history of a database than it had: compared anew",
                ["peer": peer.short, "name": name, "database": database])
        case .reconciled(let reason, let ranges, let stored):
            peers[peer]?.comparisons[database] = ComparisonRecord(at: now, reason: reason, stored: stored)
            let because = reason == .noCheckpoint ? "there was no checkpoint" : "the digests differed"
            log(
                .info, .store, "a database was compared with a peer by ranges",
                [
                    "database": database, "peer": peer.short, "name": name, "because": because, "ranges": "\(ranges)",
                    "stored": "\(stored)",
                ])
        }
    }

    /// A database here was put back to an earlier state. What is missing comes back from the peers that have it.
    func noteRollback(of database: String, at time: Int64, _ evidence: String) {
        rollbacks[database] = RollbackRecord(at: time, evidence: evidence)
        log(
            .warning, .store,
            "a database was put back to an earlier state, or lost its last commits; what is missing comes back from peers",
            ["database": database, "evidence": evidence])
    }

    /// Takes note of what the databases' own writers found, and forgets what is long mended.
    func noteRollbacks(now: Int64) {
        for database in catalog.databases {
            let name = database.name.string
            guard let time = database.rollbackDetectedAt, time > rollbacks[name]?.at ?? 0 else { continue }
            noteRollback(of: name, at: time, "a peer showed writes of this process that it has not made")
        }
        rollbacks = rollbacks.filter { now - $0.value.at < NodeLimits.rollbackShownMilliseconds }
    }
}

/// That a database was put back, as a peer showed.
struct RollbackRecord {
    /// Milliseconds since 1970.
    let at: Int64
    /// How it showed, a part of a sentence.
    let evidence: String
}

/// The last comparison by ranges with a peer.
struct ComparisonRecord {
    /// When it was done, in milliseconds since 1970.
    let at: Int64
    let reason: HistoryFinding.Reason
    /// Revisions that were stored here.
    let stored: Int
}
