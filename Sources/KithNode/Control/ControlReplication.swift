import KithReplication

/// A change of how a database is replicated: what is nil stays.
package struct ControlReplication: Hashable, Sendable {
    package var direction: DatabaseReplication.Direction?
    package var mode: DatabaseReplication.Mode?
    package var isPaused: Bool?
    /// Which documents are taken: nil in it for all.
    package var filter: FeedFilter??

    package init() {}

    /// All of it.
    package init(_ settings: DatabaseReplication) {
        direction = settings.direction
        mode = settings.mode
        isPaused = settings.isPaused
        filter = .some(settings.filter)
    }

    func apply(to settings: inout DatabaseReplication) {
        settings.direction = direction ?? settings.direction
        settings.mode = mode ?? settings.mode
        settings.isPaused = isPaused ?? settings.isPaused
        if let filter { settings.filter = filter }
    }
}
