/// The bounds of coding values; docs/limits.md lists them with those of other targets.
package enum CodingLimits {
    /// Deepest nesting of a value that is encoded or decoded: each level is several calls of code that the compiler wrote for
    /// the type, and all of it fits a stack of 512 KiB in debug builds.
    package static let depth = 64
}
