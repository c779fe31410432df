/// The bounds of the library; docs/limits.md lists them with those of other targets.
enum Limits {
    /// All settings of a database together, in bytes of JSON: they are read and written as one, and hold what a person
    /// chose, not data.
    static let settingsBytes = 64 << 10
    /// Longest name of a setting in bytes.
    static let settingNameBytes = 128
    /// Longest name of a step of a migration in bytes.
    static let migrationNameBytes = 128
    /// Documents that a step of a migration has in memory at once.
    static let migrationPage = 500
}
