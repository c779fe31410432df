import KithStore

extension ControlStatus {
    /// One JSON object: `kith.status/1`.
    package var json: [UInt8] {
        var object = JSONObjectWriter()
        object.add("schema", "kith.status/1")
        object.add("generated_at", time: generatedAt)
        object.add("node", json: node.json)
        var health = JSONObjectWriter()
        health.add("level", level.rawValue)
        health.add("checks", elements: checks.map(\.json))
        object.add("health", json: health.bytes)
        object.add("discovery", json: discovery.json)
        object.add("storage", json: storage.json)
        object.add("databases", elements: databases.map(\.json))
        object.add("peers", elements: peers.map(\.json))
        object.add("refusals", elements: refusals.map(\.json))
        return object.bytes
    }
}

extension ControlStatus.Refused {
    fileprivate var json: [UInt8] {
        var object = JSONObjectWriter()
        object.add("node", node)
        object.add("name", name)
        object.add("address", address)
        object.add("by", isByPeer ? "peer" : "this_node")
        object.add("reason", reason)
        object.add("count", count)
        object.add("since", time: since)
        object.add("last_at", time: lastAt)
        return object.bytes
    }
}

extension ControlStatus.Storage {
    fileprivate var json: [UInt8] {
        var object = JSONObjectWriter()
        object.add("free_bytes", freeBytes)
        object.add("total_bytes", totalBytes)
        object.add("kept_files", elements: keptFiles.map(\.json))
        return object.bytes
    }
}

extension KeptFile {
    /// Also an element of what `DELETE DB` answers.
    var json: [UInt8] {
        var object = JSONObjectWriter()
        object.add("path", path)
        object.add("bytes", bytes)
        return object.bytes
    }
}

extension ControlStatus.Node {
    fileprivate var json: [UInt8] {
        var object = JSONObjectWriter()
        object.add("id", id)
        object.add("name", name)
        object.add("group", group)
        object.add("role", role)
        object.add("version", version)
        object.add("pid", pid)
        object.add("started_at", time: startedAt)
        object.add("listen", strings: listen)
        object.add("data", data)
        object.add("strangers", strangers)
        object.add("inbound_at", time: inboundAt)
        return object.bytes
    }
}

extension ControlStatus.Check {
    /// Also an element of `GET /v1/check`.
    package var json: [UInt8] {
        var object = JSONObjectWriter()
        object.add("code", code)
        object.add("level", level.rawValue)
        object.add("summary", summary)
        object.add("action", action)
        object.add("since", time: since)
        object.add("muted_until", time: mutedUntil)
        return object.bytes
    }
}

extension ControlStatus.Discovery {
    fileprivate var json: [UInt8] {
        var object = JSONObjectWriter()
        object.add("state", state.rawValue)
        object.add("since", time: since)
        object.add("last_error", lastError)
        object.add("foreign_groups", foreignGroups)
        object.add(
            "interfaces", json: interfaces.map { JSONObjectWriter.array($0.map { JSONObjectWriter.string($0) }) })
        return object.bytes
    }
}

extension ControlStatus.Database {
    /// Also an element of `GET /v1/databases`.
    package var json: [UInt8] {
        var object = JSONObjectWriter()
        object.add("name", name)
        object.add("path", path)
        object.add("documents", documents)
        object.add("deleted", deleted)
        object.add("conflicts", conflicts)
        object.add("purged", purged)
        object.add("sequence", sequence)
        object.add("put_back_at", time: putBackAt)
        object.add("digest", digest)
        object.add("bytes", bytes)
        object.add("wal_bytes", walBytes)
        object.add("oldest_reader_ms", oldestReaderMilliseconds)
        object.add("in_sync_with", inSyncWith)
        object.add("peers", peers)
        object.add("replication", json: replication.summaryJSON)
        object.add("error", error)
        return object.bytes
    }
}

extension ControlStatus.Peer {
    fileprivate var json: [UInt8] {
        var object = JSONObjectWriter()
        object.add("id", id)
        object.add("name", name)
        object.add("state", state.rawValue)
        object.add("reason", reason)
        object.add("connected", connected)
        object.add("direction", direction?.rawValue)
        object.add("address", address)
        object.add("since", time: since)
        object.add("last_exchange_at", time: lastExchangeAt)
        let roundTrip = roundTripMilliseconds.flatMap {
            $0.isFinite ? Array("\(($0 * 1_000).rounded() / 1_000)".utf8) : nil
        }
        object.add("round_trip_ms", json: roundTrip)
        object.add("clock_offset_ms", clockOffsetMilliseconds)
        object.add("clock_error_ms", clockErrorMilliseconds)
        object.add("sent_bytes", sentBytes)
        object.add("received_bytes", receivedBytes)
        object.add("version", version)
        object.add("protocol", protocolVersion)
        object.add("paused_until", time: pausedUntil)
        object.add("candidates", elements: candidates.map(\.json))
        object.add("databases", elements: databases.map(\.json))
        return object.bytes
    }
}

extension ControlStatus.Candidate {
    fileprivate var json: [UInt8] {
        var object = JSONObjectWriter()
        object.add("address", address)
        object.add("source", source)
        object.add("last_tried_at", time: lastTriedAt)
        object.add("last_error", lastError)
        return object.bytes
    }
}

extension ControlStatus.PeerDatabase {
    fileprivate var json: [UInt8] {
        var object = JSONObjectWriter()
        object.add("name", name)
        object.add("in_changes", inChanges)
        object.add("out_changes", outChanges)
        object.add("in_total", inTotal)
        object.add("out_total", outTotal)
        object.add("digest_equal", digestEqual)
        object.add("pulls", isPulled)
        object.add("pushes", isPushed)
        object.add("pulled", pulled)
        object.add("pushed", pushed)
        object.add("refused", refused)
        object.add("refused_by_peer", refusedByPeer)
        object.add("error", error)
        object.add("error_at", errorAt?.rawValue)
        object.add("left_out_here", leftOutHere)
        object.add("left_out_by_peer", leftOutByPeer)
        object.add("compared_at", time: comparedAt)
        object.add("compared_because", comparedBecause)
        object.add("compared_revisions", comparedRevisions)
        return object.bytes
    }
}
