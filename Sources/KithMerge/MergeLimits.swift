/// The bounds of merging; docs/limits.md lists them with those of other targets.
package enum MergeLimits {
    /// Paths that one policy may name: far above real ones, and each is looked up in every leaf of every merge.
    package static let policyPaths = 256
    /// Longest name of a resolver in bytes, as of a node: with its version it fits what a revision has room for.
    package static let resolverNameBytes = 63
    /// Highest version of a resolver: what people count, and exact in every JSON.
    package static let resolverVersion = 1_000_000
}
