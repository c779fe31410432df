import KithDocument
import KithStore

/// What was acknowledged, and what one piece of work that is under way makes of it: all of that or none.
struct CrashLedger: Hashable {
    private var acknowledged: [String: String]
    private var underWay: [String: String]?
    /// Where the store stood when a peer may have been told of it.
    var position: Position?

    init(_ contents: [String: String]) { acknowledged = contents }

    /// Does a piece of work after which the store holds something else by some names; nil for nothing.
    mutating func take(_ changes: [String: String?], _ body: () throws -> Void) throws {
        var contents = acknowledged
        for (name, content) in changes { contents[name] = content }
        try become(contents, body)
    }

    /// Does a piece of work after which the store holds this.
    mutating func become(_ contents: [String: String], _ body: () throws -> Void) throws {
        underWay = contents
        try body()
        acknowledged = contents
        underWay = nil
    }

    mutating func put(_ store: OpenedStore, _ id: String, _ body: String) throws {
        try take([id: body]) { try store.put(id, body) }
        position = try store.reader.summary().position
    }

    /// What is not as it may be: the store holds what was acknowledged, or that and the whole of what is under way.
    func mistakes(_ found: [String: String]) -> [String] {
        if found == acknowledged || found == underWay { return [] }
        return Self.difference(found, acknowledged) + (underWay.map { ["or"] + Self.difference(found, $0) } ?? [])
    }

    private static func difference(_ one: [String: String], _ other: [String: String]) -> [String] {
        Set(one.keys).union(other.keys).sorted().filter { one[$0] != other[$0] }
    }
}
