/// The bounds of the library; docs/limits.md lists them with those of other targets.
enum Limits {
    /// How often a database that no node has does what is left for later, in milliseconds: an hour.
    static let upkeepMilliseconds = 3_600_000
    /// All settings of a database together, in bytes of JSON: they are read and written as one, and hold what a person
    /// chose, not data.
    static let settingsBytes = 64 << 10
    /// Documents that came or went and were not read, of one reader: some seconds of a fast link, and under a megabyte.
    static let documentEvents = 4_096
    /// Longest name of a setting in bytes.
    static let settingNameBytes = 128
    /// Longest name of a step of a migration in bytes.
    static let migrationNameBytes = 128
    /// Documents that a step of a migration has in memory at once.
    static let migrationPage = 500
    /// Changed documents that are read at a time for who follows a database: they are held in memory with their bodies.
    static let livePage = 500
    /// Documents that have part in the result of a live query that is run again, by hashes of 8 bytes: beyond 3 MB of them any
    /// change runs it.
    static let liveParticipants = 200_000
    /// Longest wait for a document to expire, in milliseconds: an hour, since clocks are set.
    static let liveAlarmMilliseconds: Int64 = 3_600_000
}
