import KithDocument

/// The bounds of the control interface; docs/limits.md lists them with those of other targets.
package enum ControlLimits {
    /// Longest message of an error, in characters: it fits two lines of a terminal.
    package static let messageCharacters = 200
    /// Longest id shown in a message, in characters; a longer one is cut, so that the rest of the sentence has room.
    package static let shownCharacters = 60
    /// Largest document as it is sent, in bytes: what a node stores at most.
    package static let documentBytes = DocumentLimits.documentBytes
    /// Largest root's key or policy in a request, in bytes: far above real ones.
    package static let smallBodyBytes = 256 << 10
    /// Longest path of a Unix socket that every system takes, in bytes, with the NUL that ends it.
    package static let socketPathBytes = 104
    /// Longest `wait`, in milliseconds: a day. Who waits longer asks again.
    package static let waitMilliseconds: Int64 = 86_400_000
    /// Longest pause with an end, in milliseconds: ten years.
    package static let pauseMilliseconds: Int64 = 315_360_000_000
    /// How long a check is muted without another wish, in milliseconds: a week.
    package static let muteMilliseconds: Int64 = 604_800_000
    /// How long an invitation may be valid, in milliseconds: a week.
    package static let invitationMilliseconds: Int64 = 604_800_000
    /// Documents of one import that are listed with what is wrong with them; the others are counted. Their lines are
    /// held in memory until the whole file is in.
    package static let listedFailures = 1_000
}
