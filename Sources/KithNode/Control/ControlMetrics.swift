/// What `kith metrics` shows: the status and what was counted since the start, as OpenMetrics text. docs/operations.md
/// lists the names.
package struct ControlMetrics: Sendable {
    package var status: ControlStatus
    package var counters: NodeCounters

    package init(status: ControlStatus, counters: NodeCounters) {
        self.status = status
        self.counters = counters
    }

    /// The media type of `text`.
    package static let contentType = "application/openmetrics-text; version=1.0.0; charset=utf-8"

    private typealias Sample = OpenMetricsWriter.Sample
    private typealias Labels = [(name: String, value: String)]

    /// The whole text, in the same order every time.
    package var text: [UInt8] {
        var writer = OpenMetricsWriter()
        addNode(&writer)
        addHealth(&writer)
        addMutes(&writer)
        addDatabases(&writer)
        addPeers(&writer)
        addPeerDatabases(&writer)
        return writer.text
    }

    private func addNode(_ writer: inout OpenMetricsWriter) {
        let node = status.node
        let labels: Labels = [
            ("node", node.id), ("name", node.name), ("group", node.group ?? ""), ("role", node.role ?? ""),
            ("version", node.version),
        ]
        writer.family("kith_node_info", .gauge, help: "What this node is; always 1.", [Sample(labels, 1)])
        writer.family(
            "kith_node_start_time_seconds", .gauge, unit: "seconds", help: "When the node started, since 1970.",
            [Sample(seconds: Double(node.startedAt) / 1_000)])
        writer.family(
            "kith_discovery_state", .gauge, help: "1 for the state that discovery is in.",
            ControlStatus.DiscoveryState.allCases.map { Sample([("state", $0.rawValue)], status.discovery.state == $0) }
        )
        writer.family(
            "kith_discovery_foreign_groups", .gauge, help: "Other groups of Kith seen on the network.",
            status.discovery.foreignGroups.map { [Sample([], $0)] } ?? [])
        writer.family(
            "kith_strangers", .counter, help: "Links closed before they were authenticated.",
            [Sample([], node.strangers)])
        writer.family(
            "kith_dials", .counter, help: "Attempts to reach a node, by how they ended.",
            [
                Sample([("outcome", "connected")], counters.dialsConnected),
                Sample([("outcome", "failed")], counters.dialsFailed),
            ])
        writer.family(
            "kith_links_begun", .counter, help: "Links to peers that began.", [Sample([], counters.linksBegun)])
        writer.family(
            "kith_links_turned_away", .counter, help: "Links turned away, as two nodes run with one identity.",
            [Sample([], counters.linksTurnedAway)])
        writer.family(
            "kith_links_ended", .counter, help: "Links to peers that ended.", [Sample([], counters.linksEnded)])
        writer.family(
            "kith_refused_documents", .counter, help: "Documents refused, by this node or by its peers.",
            [
                Sample([("by", "node")], counters.documentsRefused),
                Sample([("by", "peer")], counters.documentsRefusedByPeers),
            ])
        writer.family(
            "kith_refused_joins", .counter, help: "Machines that asked to join and were refused.",
            [Sample([], counters.joinsRefused)])
    }

    private func addHealth(_ writer: inout OpenMetricsWriter) {
        writer.family(
            "kith_health_level", .gauge, help: "The worst check that is not muted: 0 well, 1 warning, 2 critical.",
            [Sample([], status.level.rank)])
        // Codes that hold and that this table does not have can't be: findings are made of codes.
        writer.family(
            "kith_health_check", .gauge, help: "Each check: 0 well, 1 warning, 2 critical.",
            HealthCode.allCases.map { code in
                let holding = status.checks.filter { $0.code == code.rawValue }
                return Sample([("code", code.rawValue)], holding.map(\.level.rank).max() ?? 0)
            })
    }

    private func addMutes(_ writer: inout OpenMetricsWriter) {
        let muted = status.checks.filter { $0.mutedUntil != nil }.map(\.code)
        writer.family(
            "kith_health_muted", .gauge, help: "1 for a check that holds and is muted.",
            HealthCode.allCases.map { Sample([("code", $0.rawValue)], muted.contains($0.rawValue)) })
    }

    private func addDatabases(_ writer: inout OpenMetricsWriter) {
        func family(
            _ name: String, unit: String? = nil, _ help: String, _ value: (ControlStatus.Database) -> UInt64?
        ) {
            let samples = status.databases.compactMap { database in
                value(database).map { Sample([("database", database.name)], $0) }
            }
            writer.family("kith_database_\(name)", .gauge, unit: unit, help: help, samples)
        }
        family("documents", "Documents that live.") { $0.documents }
        family("deleted_documents", "Documents that were deleted.") { $0.deleted }
        family("purged_documents", "Documents purged on this node.") { $0.purged }
        family("conflicts", "Documents with more than one live version.") { $0.conflicts }
        family("sequence", "The sequence of the last change.") { $0.sequence }
        family("bytes", unit: "bytes", "Size of the file.") { $0.bytes }
        family("wal_bytes", unit: "bytes", "Size of the write-ahead log.") { $0.walBytes }
        family("peers", "Connected peers that carry the database.") { $0.peers.map { UInt64($0) } }
        family("in_sync_peers", "Those of them that have the same documents.") { $0.inSyncWith.map { UInt64($0) } }
    }

    /// The peers that have been met or are told of by members. Of those that are only announced the number is given and
    /// no more: anybody can announce names, and each would be a series.
    private var known: [ControlStatus.Peer] { status.peers.filter { $0.state != .neverSeen } }

    private func labels(_ peer: ControlStatus.Peer) -> Labels { [("peer", peer.id), ("name", peer.name ?? "")] }

    private func addPeers(_ writer: inout OpenMetricsWriter) {
        writer.family(
            "kith_peers", .gauge, help: "Peers by state.",
            ControlStatus.PeerState.allCases.map { state in
                Sample([("state", state.rawValue)], status.peers.count { $0.state == state })
            })
        writer.family(
            "kith_peer_state", .gauge, help: "1 for the state that a peer is in.",
            known.flatMap { peer in
                ControlStatus.PeerState.allCases.map {
                    Sample(labels(peer) + [("state", $0.rawValue)], peer.state == $0)
                }
            })
        writer.family(
            "kith_peer_connected", .gauge, help: "Whether there is a link to the peer.",
            known.map { Sample(labels($0), $0.connected) })
        writer.family(
            "kith_peer_received_bytes", .counter, unit: "bytes", help: "Received over the present link.",
            known.compactMap { peer in peer.receivedBytes.map { Sample(labels(peer), $0) } })
        writer.family(
            "kith_peer_sent_bytes", .counter, unit: "bytes", help: "Sent over the present link.",
            known.compactMap { peer in peer.sentBytes.map { Sample(labels(peer), $0) } })
        writer.family(
            "kith_peer_round_trip_seconds", .gauge, unit: "seconds", help: "Round trip of the last heartbeat.",
            known.compactMap { peer in
                guard let time = peer.roundTripMilliseconds, time.isFinite else { return nil }
                return Sample(labels(peer), seconds: time / 1_000)
            })
        writer.family(
            "kith_peer_clock_offset_seconds", .gauge, unit: "seconds", help: "The peer's clock less this one.",
            known.compactMap { peer in
                guard peer.connected, let offset = peer.clockOffsetMilliseconds else { return nil }
                return Sample(labels(peer), seconds: Double(offset) / 1_000)
            })
        writer.family(
            "kith_peer_last_exchange_timestamp_seconds", .gauge, unit: "seconds",
            help: "When something last came from the peer, since 1970.",
            known.compactMap { peer in
                peer.lastExchangeAt.map { Sample(labels(peer), seconds: Double($0) / 1_000) }
            })
    }

    private func addPeerDatabases(_ writer: inout OpenMetricsWriter) {
        func family(
            _ name: String, _ kind: OpenMetricsWriter.Kind, _ help: String,
            _ value: (ControlStatus.PeerDatabase) -> UInt64?
        ) {
            let samples = known.flatMap { peer in
                peer.databases.compactMap { database in
                    value(database).map { Sample(labels(peer) + [("database", database.name)], $0) }
                }
            }
            writer.family("kith_peer_\(name)", kind, help: help, samples)
        }
        family("in_changes", .gauge, "Changes the peer has that are not stored here.") { $0.inChanges }
        family("out_changes", .gauge, "Changes here that the peer has not acknowledged.") { $0.outChanges }
        family("pulled_revisions", .counter, "Revisions received over the present link.") { $0.pulled }
        family("pushed_revisions", .counter, "Revisions sent over the present link.") { $0.pushed }
    }
}
