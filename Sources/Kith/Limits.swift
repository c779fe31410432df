/// The bounds of the library; docs/limits.md lists them with those of other targets.
enum Limits {
    /// How often a database that no node has does what is left for later, in milliseconds: an hour.
    static let upkeepMilliseconds = 3_600_000
    /// All settings of a database together, in bytes of JSON: they are read and written as one, and hold what a person
    /// chose, not data.
    static let settingsBytes = 64 << 10
    /// Longest name of a setting in bytes.
    static let settingNameBytes = 128
}
