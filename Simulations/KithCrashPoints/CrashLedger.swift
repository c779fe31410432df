import KithDocument
import KithStore

/// What was acknowledged, and what one piece of work that is under way may have made of it.
struct CrashLedger: Hashable {
    private var acknowledged: [String: String]
    private var possible: [String: [String?]] = [:]
    /// Where the store stood when a peer may have been told of it.
    var position: Position?

    init(_ contents: [String: String]) { acknowledged = contents }

    mutating func put(_ store: OpenedStore, _ id: String, _ body: String) throws {
        mayBecome(id, body)
        try store.put(id, body)
        has(id, body)
        position = try store.reader.summary().position
    }

    mutating func take(_ store: OpenedStore, _ id: String, _ body: (String) throws -> Void) throws {
        mayBecome(id, nil)
        try body(id)
        has(id, nil)
    }

    mutating func mayBecome(_ id: String, _ body: String?) { possible[id, default: []].append(body) }

    mutating func has(_ id: String, _ body: String?) {
        possible[id] = nil
        acknowledged[id] = body
    }

    /// The documents that are not what they may be.
    func mistakes(_ found: [String: String]) -> [String] {
        Set(acknowledged.keys).union(possible.keys).union(found.keys).sorted().filter { id in
            guard found[id] != acknowledged[id] else { return false }
            return !(possible[id]?.contains { $0 == found[id] } ?? false)
        }
    }
}
