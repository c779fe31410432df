import Dispatch
import KithSystem

extension Node {
    /// Writes the status to the log, a line for each thing; for somebody who can't reach the control socket. Bounded:
    /// of databases and peers the first are told, and the rest counted.
    package func logStatus() {
        queue.async {
            let status = self.status()
            self.logNode(status)
            for check in status.checks {
                self.log(
                    .info, .node, "status of a health check",
                    ["code": check.code, "level": check.level.rawValue, "summary": check.summary], isFolded: false)
            }
            for database in status.databases.prefix(NodeLimits.loggedDatabases) { self.log(database) }
            for peer in status.peers.prefix(NodeLimits.loggedPeers) { self.log(peer) }
        }
    }

    private func logNode(_ status: ControlStatus) {
        log(
            .info, .node, "status",
            [
                "health": status.level.rawValue, "peers": serviceStatusText(),
                "discovery": status.discovery.state.rawValue,
                "databases": "\(status.databases.count)", "known_peers": "\(status.peers.count)",
                "links": "\(drivers.count)", "dials": "\(attempts.count)", "strangers": "\(status.node.strangers)",
            ], isFolded: false)
    }

    private func log(_ database: ControlStatus.Database) {
        func text(_ number: UInt64?) -> String { number.map { "\($0)" } ?? "?" }
        log(
            .info, .node, "status of a database",
            [
                "database": database.name, "documents": text(database.documents), "deleted": text(database.deleted),
                "conflicts": text(database.conflicts), "sequence": text(database.sequence),
                "bytes": text(database.bytes), "wal_bytes": text(database.walBytes),
                "in_sync_with": "\(database.inSyncWith ?? 0) of \(database.peers ?? 0)",
            ], isFolded: false)
    }

    private func log(_ peer: ControlStatus.Peer) {
        let changes = peer.databases.map { database in
            func text(_ number: UInt64?) -> String { number.map { "\($0)" } ?? "?" }
            return "\(database.name):in=\(text(database.inChanges)),out=\(text(database.outChanges))"
        }
        log(
            .info, .node, "status of a peer",
            [
                "peer": String(peer.id.prefix(8)), "name": peer.name ?? "?", "state": peer.state.rawValue,
                "reason": peer.reason ?? "", "address": peer.address ?? "",
                "last_exchange_at": peer.lastExchangeAt.map { Timestamp.text(ofMilliseconds: $0) } ?? "never",
                "changes": changes.joined(separator: " "),
            ], isFolded: false)
    }
}
