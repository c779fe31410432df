/// The bounds of the library; docs/limits.md lists them with those of other targets.
enum Limits {
    /// All settings of a database together, in bytes of JSON: they are read and written as one, and hold what a person
    /// chose, not data.
    static let settingsBytes = 64 << 10
    /// Documents that came or went and were not read, of one reader: some seconds of a fast link, and under a megabyte.
    static let documentEvents = 4_096
    /// Longest name of a setting in bytes.
    static let settingNameBytes = 128
}
