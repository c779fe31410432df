import KithDocument
import KithNetwork

extension DoctorFacts.RunningNode {
    /// Reads what a node says in its status (`kith.status/1`).
    init(_ status: JSONValue) {
        self.init()
        pid = Int32(clamping: status["node"]?["pid"]?.integer ?? 0)
        discoveryState = status["discovery"]?["state"]?.string ?? "off"
        discoveryError = status["discovery"]?["last_error"]?.string
        foreignGroups = Int(clamping: status["discovery"]?["foreign_groups"]?.integer ?? 0)
        for entry in status["health"]?["checks"]?.array ?? []
        where entry["level"]?.string != "ok" && (entry["muted_until"] ?? .null) == .null {
            var check = Check()
            check.code = entry["code"]?.string ?? ""
            check.isCritical = entry["level"]?.string == "critical"
            check.summary = entry["summary"]?.string ?? ""
            check.action = entry["action"]?.string
            checks.append(check)
        }
        peers = (status["peers"]?.array ?? []).map { entry in
            var peer = Peer()
            peer.id = entry["id"]?.string ?? ""
            peer.name = entry["name"]?.string
            peer.isConnected = entry.isLinked
            peer.isDialled = entry["direction"]?.string == "dialled"
            peer.address = entry["address"]?.string
            peer.clockOffsetMilliseconds = entry["clock_offset_ms"]?.integer
            if entry["state"]?.string == "refused" { peer.refusal = entry["reason"]?.string }
            return peer
        }
    }
}

/// An address to be tried, with who may be there.
struct DoctorPlace {
    let node: NodeID?
    let name: String?
    let endpoint: Endpoint
    let source: String

    /// The addresses of peers that a running node is not connected to.
    static func places(_ status: JSONValue) -> [DoctorPlace] {
        (status["peers"]?.array ?? []).filter { !$0.isLinked }.flatMap { peer -> [DoctorPlace] in
            (peer["candidates"]?.array ?? []).compactMap { candidate in
                guard let text = candidate["address"]?.string, let endpoint = try? Endpoint(peer: text) else {
                    return nil
                }
                return DoctorPlace(
                    node: peer["id"]?.string.flatMap { NodeID($0) }, name: peer["name"]?.string, endpoint: endpoint,
                    source: candidate["source"]?.string ?? "known")
            }
        }
    }
}

extension JSONValue {
    /// Whether a peer in a status is connected and heard: one that went without a word stays connected for some seconds.
    var isLinked: Bool { self["connected"]?.bool == true && self["state"]?.string != "unknown" }
}
