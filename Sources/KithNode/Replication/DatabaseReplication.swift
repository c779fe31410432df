import KithDocument
import KithReplication

/// How one database is replicated by this node (docs/replication-control.md); kept across restarts.
package struct DatabaseReplication: Hashable, Sendable {
    package enum Direction: String, Sendable, CaseIterable {
        case both, pull, push, none
    }

    package enum Mode: String, Sendable, CaseIterable {
        case continuous
        case onDemand = "on-demand"
    }

    package var direction = Direction.both
    package var mode = Mode.continuous
    package var isPaused = false
    /// Which documents are taken from peers; nil for all.
    package var filter: FeedFilter?

    package init() {}

    /// Which ways documents may pass at all.
    var directions: FeedDirections {
        FeedDirections(
            pulls: direction == .both || direction == .pull, pushes: direction == .both || direction == .push,
            filter: filter)
    }

    /// Which ways they may pass now.
    /// - Parameter isSynchronising: whether somebody has asked for a synchronisation that is not over.
    func directions(isSynchronising: Bool) -> FeedDirections {
        isPaused || mode == .onDemand && !isSynchronising ? .none : directions
    }

    /// What a person should know of them where they are not the usual ones.
    var limitation: String? {
        if isPaused { return "paused" }
        if mode == .onDemand { return "synchronised on demand" }
        return switch direction {
        case .both: nil
        case .pull: "only pulled"
        case .push: "only pushed"
        case .none: "not replicated"
        }
    }

    /// The settings.
    var json: [UInt8] {
        var object = writer
        if let filter { object.add("filter", json: filter.json.canonicalBytes) }
        return object.bytes
    }

    /// The same for a status, which says of a filter only that there is one: it may be long.
    var summaryJSON: [UInt8] {
        var object = writer
        if filter != nil { object.add("filtered", true) }
        return object.bytes
    }

    private var writer: JSONObjectWriter {
        var object = JSONObjectWriter()
        object.add("direction", direction.rawValue)
        object.add("mode", mode.rawValue)
        object.add("paused", isPaused)
        return object
    }
}
