import KithStore

/// How a database is opened.
public struct DatabaseOptions: Hashable, Sendable {
    /// When a write counts as done.
    public enum Durability: Sendable {
        /// It is on disk when the call returns.
        case full
        /// It is on disk some time later, in order: a power cut may lose the last writes, never a part of one. For data that
        /// can be had again.
        case relaxed
    }

    /// On disk when a write returns, where nothing else is said.
    public var durability = Durability.full
    /// Whether a database that is not there is made; else opening fails with `notFound`.
    public var createsIfMissing = true
    /// Where it is told that the database is opened and what its disk does; nil for nowhere. A database of a node is told of in
    /// the node's log.
    public var log: KithLog?

    /// The usual ones.
    public init() {}

    var store: StoreOptions {
        StoreOptions(durability: durability == .full ? .full : .relaxed, creates: createsIfMissing)
    }
}
