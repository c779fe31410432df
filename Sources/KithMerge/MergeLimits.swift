/// The bounds of merging; docs/limits.md lists them with those of other targets.
package enum MergeLimits {
    /// Paths that one policy may name: far above real ones, and each is looked up in every leaf of every merge.
    package static let policyPaths = 256
}
