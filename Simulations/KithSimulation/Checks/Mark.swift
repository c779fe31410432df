/// States that runs must reach now and then: a generator that never gets there tests nothing there. Each is named by what
/// it is; docs/simulation.md lists them, and a range of seeds prints how often each was met.
///
/// Most show in what a node logs (`Mark+Log.swift`) or in what its databases hold; the rest in what a step of the plan
/// finds when it comes (`SimulationRun+Marks.swift`).
package enum Mark: String, CaseIterable, Sendable {
    // Documents.

    case conflictOfTwo = "a conflict of two leaves"
    case conflictOfThree = "a conflict of three leaves"
    case conflictOfMore = "a conflict of four leaves or more"
    case deletionBesideEdit = "a deletion beside an edit that it has not seen"
    case twoDeletions = "two deletions of one document"
    case closedLeaf = "a leaf that was closed"
    case onlyClosedLeaves = "a document with nothing but closed leaves"
    case merge = "a merge"
    case mergeOfThree = "a merge of three leaves or more"
    case mergeOfMerges = "a merge of merges"
    case writtenAgain = "a document written again over its deletion"
    case twoInitials = "initial data of two contents"
    case removedField = "a removed field that is remembered"
    case hiddenField = "a field hidden by one above or under it"
    case manyWriters = "a revision that knows of four writers or more"
    case largeDocument = "a document of 64 KiB or more"
    case lookAlikes = "two documents whose ids look alike"
    case stampOfTheFuture = "a revision whose stamp is a year ahead or more"
    case purgeWhilePeersHaveIt = "a purge while a peer has the document"
    case purgeInConflict = "a purge of a document in conflict"
    case backAfterPurge = "a purged document that came back with another leaf"

    // Clients.

    case writeAlone = "a client's write on a node without links"
    case writeCutOff = "a client's write on a node that is cut off"
    case readerRefused = "a client's write refused by a reader"
    case writeOnBadDisk = "a client's call while the disk fails"
    case writeRefused = "a client's write refused by the disk"
    case readRefused = "a client's reading refused by the disk"
    case writeWithWrongClock = "a client's write by a clock that is a year off or more"
    case groupOfWrites = "several writes that wait for one commit"
    case upkeepUnderLoad = "a compaction, check or backup while clients write"
    case upkeepWhileBehind = "a compaction, check or backup while the node pulls"
    case databaseMadeLater = "a database of a peer carried from then on"
    case policyTaken = "a policy taken over from an admin"

    // Links.

    case dialFailed = "a dial that failed"
    case linkReplaced = "a link that another one takes the place of"
    case linkSilent = "a link ended because nothing was heard"
    case pingUnanswered = "a link ended because pings were not answered"
    case handshakeBroken = "a connection that ended before it was authenticated"
    case resetWhileBehind = "a connection lost while a pull is under way"
    case halfOpenWhileBehind = "a half-open connection while a pull is under way"
    case cutWhileBehind = "a partition that begins while a pull is under way"
    case addressChangedWithLinks = "an address that changes with links open"
    case networkChanged = "a node that finds the network changed"
    case bothDialled = "two nodes that dial each other at once"
    case alone = "a node without links while others have some"
    case stoodStill = "a process that stood still for seconds"
    case slept = "a machine that slept"
    case daemonGone = "a discovery daemon that is gone"
    case comparedByRanges = "a comparison by ranges"
    case foundEqual = "a status that says in sync"
    case checkpointChecked = "a checkpoint that moved"

    // Processes.

    case killedInWrite = "a process killed in the middle of a write"
    case powerInWrite = "power gone between a write and its acknowledgement"
    case powerAtCall = "power gone at a call of the disk"
    case doubtWasDone = "a write that the disk failed and that the next start finds done"
    case powerAtStart = "power gone while a node starts"
    case killedWhileCutOff = "a process killed while it is cut off"
    case restartWhileCutOff = "a start while the node is cut off"
    case twoDown = "two nodes down at once"
    case allDown = "all nodes down at once"
    case pausedLong = "a pause longer than the wait for a silent link"
    case healedWhilePaused = "all healed while a process is paused"
    case startRefused = "a start that was refused"
    case uncleanOpening = "a start after a write that broke off"

    // Disks.

    case storageFull = "a full disk found (STORAGE_FULL)"
    case storageFailed = "a failing disk found (STORAGE_FAILED)"
    case storageBack = "a database that takes writes again"
    case fullWhileBehind = "a disk that fills during a pull"
    case badDiskWhileDown = "a disk that fails while its node is down"
    case slowDisk = "a synchronisation that takes 300 ms or more"
    case databaseDamaged = "a damaged database found (DATABASE_DAMAGED)"
    case logLost = "a lost log found (LOG_LOST)"
    case databaseUnusable = "a database that can't be opened"
    case membershipNotKept = "what was learnt of the group could not be kept"

    // Identity.

    case putBack = "a backup put back"
    case putBackWhileBehind = "a backup put back while peers are ahead of it"
    case rollbackFound = "a database found put back"
    case otherHistory = "a checkpoint of a history that the source does not know"
    case cloned = "a disk cloned"
    case twinsLinked = "a clone and its original linked to peers at once"
    case twinFound = "two nodes with one identity found (IDENTITY_DUPLICATE)"
    case twinTurnedAway = "a link turned away, as its peer has a twin"
    case moved = "a disk moved to another machine"
    case machineChanged = "a node that finds itself on another machine"
    case kept = "a node kept after its machine changed"
    case separated = "a copy that became a node of its own"
    case wiped = "a disk wiped, and the node made anew"

    // Membership and clocks.

    case joined = "a node that joined"
    case joinedDuringPartition = "a node that joined during a partition"
    case left = "a node that left"
    case revoked = "a node revoked"
    case revokedWhileBehind = "a node revoked while it pulls or is pulled from"
    case revokedLinkEnded = "a link ended because its peer was revoked"
    case roleChanged = "a node that got another role"
    case roleLinkAnew = "a link begun anew for another role"
    case clockSkewFound = "a clock found wrong (CLOCK_SKEW)"

    // Peers.

    case hostileMember = "a hostile member at work"
    case anotherVersion = "a node of another version"
    case newerRecordPassedOn = "a record of a newer node passed on by an older one"
    case twinsReported = "twins that were reported"
    case roomAgain = "a write soon after there was room again"
}
