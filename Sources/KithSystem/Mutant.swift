#if KITH_MUTANTS
import Glibc

/// Bugs that can be put into the product, each of one line at its place: what the simulator must find. `make mutants` builds
/// them and shows that it does; no other build has them.
package enum Mutant: String, CaseIterable, Sendable {
    // What is on disk.

    /// Commits are not synchronised.
    case skipsSync
    /// Small files are not synchronised before they get their names.
    case skipsFileSync
    /// Nor are the directories that have the names.
    case skipsDirectorySync
    /// A write is acknowledged, and committed with the next.
    case acknowledgesEarly
    /// A write over what is there is taken for the same and not made.
    case callsUnchanged
    /// An opening goes back by one sequence.
    case reusesSequence
    /// An opening goes on in the timeline of the one before.
    case forgetsTimeline
    /// What a database missed while its disk failed is done again as soon as something is written, however often that is.
    case makesUpAtOnce
    /// A changed document is added to the digest, and what it was stays in it.
    case keepsOldDigest
    /// A compaction takes the last document of its copy for changed.
    case compactsAway

    // What is taken from peers.

    /// A checkpoint of a timeline that is not known any more counts.
    case acceptsForgottenCheckpoint
    /// A page counts before all that it announced is stored.
    case checkpointsEarly
    /// Of the documents of a batch the last is not stored.
    case dropsDelivery
    /// A change is not offered to a peer that has shown any leaf of the document.
    case swallowsEcho
    /// A purge leaves no marker.
    case forgetsPurges
    /// A feed begins anew with every link.
    case startsOver
    /// The ancestors of a revision begin with the second.
    case leavesOutParent
    /// Who waits for a document is not the next to be asked for it.
    case forgetsWaiters
    /// Who sends a byte of a document now and then is left with it for ever.
    case leavesClaims
    /// Whatever is wrong with a revision, it is refused by its id.
    case refusesByID
    /// A sequence of a peer may be any number of 64 bits.
    case takesAnySequence
    /// What a node has as Kith's own and another as foreign counts as the same.
    case trustsForeignCopies
    /// A body need not have the hash that its revision's id says.
    case acceptsWrongHash
    /// A batch of which something was refused is never done with.
    case holdsBadDocument
    /// What was refused of anybody is left out of the comparison with everybody.
    case refusesForAll
    /// All that was ever refused is remembered.
    case keepsRefusals
    /// A peer without a common version is one that speaks this node's.
    case acceptsAnyVersion

    // What is merged and read.

    /// The winner is the leaf that was there first.
    case winnerByArrival
    /// Of two entries of a field the one of the later leaf counts.
    case mergesByOrder
    /// The id of a merge hangs on who makes it.
    case namesNodeInMerges
    /// A merge knows what its first parent knew.
    case forgetsVersions
    /// What a deletion had seen lives on.
    case forgetsDeletions
    /// A deletion ends what it had not seen, too.
    case deletesUnseen
    /// A conflict is closed on all sides.
    case closesConflicts
    /// Of two leaves that know the same each closes the other.
    case closesEquals
    /// A revision of the highest generation is taken, and followed.
    case followsHighest
    /// Long integers go through a double.
    case integersAsDoubles
    /// Text is stored in normal form C.
    case composesKeys

    // Links and the mesh.

    /// A status says that all is in sync without comparing digests or counting what is outstanding.
    case saysInSync
    /// Peers are not told of commits.
    case neverTells
    /// A reader's clients write.
    case letsReadersWrite
    /// The links of who is revoked stay.
    case keepsRevokedLinks
    /// The wait between dials doubles for ever.
    case backsOffWithoutBound
    /// Who did not answer four times is not dialled any more.
    case givesUpDialling
    /// A disk that was full once is not tried again.
    case staysFull
    /// Links are not told that a database takes commits again.
    case tellsNoRecovery
    /// Who is gone stays in the map.
    case keepsPresence
    /// Presence is told whenever something happens.
    case announcesAlways
    /// What comes over a link is logged.
    case logsBytes
    /// Whoever was announced once is taken for announced.
    case keepsAnnounced
    /// A node on another machine does not find that it is.
    case ignoresMachine
    /// Two nodes of one identity are not looked for.
    case ignoresTwins
    /// Whoever has a second link is taken for two nodes.
    case takesSecondLinksForTwins
    /// A node knows none of its own earlier processes.
    case forgetsInstances
    /// A node that stops does not end its announcement.
    case staysAnnounced
    /// Whom the ring wants is passed over after three failures.
    case passesOverTheRing
    /// What a process left behind in the log is taken for synchronised.
    case trustsLogs
    /// Of too many services the first ones are kept.
    case keepsAnyService
    /// A link that has ended, and whose connection is not closed, is told of commits.
    case tellsEndedLinks
    /// A database that could not be made is not tried again.
    case makesOnce
    /// A reader keeps what it has merged otherwise than its source.
    case keepsOwnMerges
    /// A policy that a failing disk did not take is not set again.
    case setsPoliciesOnce
    /// Two readers wait for each other.
    case waitsForReaders
    /// Observers are told in the order of a hash.
    case tellsByHash

    /// The one that this process has, by its environment.
    private static let active = getenv("KITH_MUTANT").flatMap { Mutant(rawValue: String(cString: $0)) }

    package static func isActive(_ mutant: Mutant) -> Bool { active == mutant }

    /// Who merges, for `namesNodeInMerges`: a simulation has one thread.
    nonisolated(unsafe) package static var node: UInt64 = 0

    /// The bytes with one letter composed that the simulator's clients write in both forms.
    package static func composed(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        for byte in bytes {
            if byte == 0x81, result.suffix(2) == [0x65, 0xcc] {
                result.removeLast(2)
                result += [0xc3, 0xa9]
            } else {
                result.append(byte)
            }
        }
        return result
    }
}
#endif
