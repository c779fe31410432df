import KithDocument

/// The bounds of the control interface; docs/limits.md lists them with those of other targets.
package enum ControlLimits {
    /// Longest message of an error, in characters: far above any of ours, with two of the longest paths in it. It bounds
    /// what somebody else at the other end may say; our own sentences are never cut, only what others give within them.
    package static let messageCharacters = 10_000
    /// Longest id or name shown in a message, in characters; a longer one is cut, so that the sentence stays readable.
    package static let shownCharacters = 60
    /// Longest path shown in a message, in characters: the longest that the system takes, since half a path is of no use.
    package static let shownPathCharacters = 4_096
    /// Largest document as it is sent, in bytes: what a node stores at most.
    package static let documentBytes = DocumentLimits.documentBytes
    /// Largest root's key or policy in a request, in bytes: far above real ones.
    package static let smallBodyBytes = 256 << 10
    /// Longest path of a Unix socket that every system takes, in bytes, with the NUL that ends it.
    package static let socketPathBytes = 104
    /// How long a `wait` may take, in milliseconds: a day at most. Who waits longer asks again.
    package static let waitMilliseconds: ClosedRange<Int64> = 0...86_400_000
    /// Pending documents listed in one answer; who wants more asks for them.
    package static let pendingDocuments = 1_000
    package static let mostPendingDocuments = 100_000
    /// How long one synchronisation takes at most without another wish, in milliseconds.
    package static let synchronisationMilliseconds: Int64 = 60_000
    /// How long a pause with an end, or a mute, may be, in milliseconds: ten years at most.
    package static let pauseMilliseconds: ClosedRange<Int64> = 1...315_360_000_000
    /// How long a repair may wait for peers, in milliseconds: a day at most.
    package static let repairMilliseconds: ClosedRange<Int64> = 0...NodeLimits.longestFetchMilliseconds
    /// How long a check is muted without another wish, in milliseconds: a week.
    package static let muteMilliseconds: Int64 = 604_800_000
    /// How long an invitation may be valid, in milliseconds: a second to a week.
    package static let invitationMilliseconds: ClosedRange<Int64> = 1_000...604_800_000
    /// Rows of a query that wait in memory for their reader, in bytes; more of them wait in a file, where they go in parts of
    /// the second size.
    package static let rowBytes = 1 << 20
    package static let rowPartBytes = 256 << 10
    /// Files of a directory that a report of trouble lists; the others are counted.
    package static let listedFiles = 1_000
    /// Documents of one import that are listed with what is wrong with them; the others are counted. Their lines are
    /// held in memory until the whole file is in.
    package static let listedFailures = 1_000
}
