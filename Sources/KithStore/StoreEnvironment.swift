import KithMerge

/// What a store takes from outside, so that it is a function of its inputs.
package struct StoreEnvironment {
    /// The wall clock in milliseconds since 1970.
    package let now: () -> Int64
    /// Unpredictable numbers that no other node draws: names of timelines and writers.
    package let random: () -> UInt64

    /// A clock that only goes forward, in milliseconds.
    package let monotonic: () -> UInt64

    /// - Parameter monotonic: none where nothing is open for long: nothing expires then.
    package init(
        now: @escaping () -> Int64, random: @escaping () -> UInt64, monotonic: @escaping () -> UInt64 = { 0 }
    ) {
        self.now = now
        self.monotonic = monotonic
        self.random = random
    }
}

/// How a database is opened.
package struct StoreOptions: Sendable {
    /// When a write is durable.
    package enum Durability: Sendable {
        /// On disk when the commit returns.
        case full
        /// On disk some time later, in order: a power cut may lose the last commits. An explicit choice.
        case relaxed
    }

    package var durability: Durability
    /// Ancestors kept per branch, from 1 on.
    package var revisionLimit: Int
    /// How long the bodies of overruled leaves are kept, in milliseconds.
    package var keptMilliseconds: Int64
    /// The largest size of the file in pages of 4 KiB; nil for no bound.
    package var maximumPages: Int?
    /// Whether a database that is not there is made.
    package var creates: Bool
    /// Code that merges where the policy names it.
    package var resolvers: ResolverSet

    package init(
        durability: Durability = .full, revisionLimit: Int = 20, keptMilliseconds: Int64? = nil,
        maximumPages: Int? = nil,
        creates: Bool = true, resolvers: ResolverSet = ResolverSet()
    ) {
        self.resolvers = resolvers
        self.durability = durability
        self.revisionLimit = revisionLimit
        self.keptMilliseconds = keptMilliseconds ?? Limits.keptMilliseconds
        self.maximumPages = maximumPages
        self.creates = creates
    }
}
