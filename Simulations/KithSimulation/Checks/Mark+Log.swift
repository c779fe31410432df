// Marks that a line of a node's log shows.

extension Mark {
    /// What a sentence begins with, what else is in its line, and what it shows.
    fileprivate struct Sign {
        let sentence: [UInt8]
        let detail: [UInt8]
        let mark: Mark

        init(_ sentence: String, _ detail: String, _ mark: Mark) {
            self.sentence = Array(sentence.utf8)
            self.detail = Array(detail.utf8)
            self.mark = mark
        }
    }

    private static let signs: [Sign] = [
        Sign("a dial failed", .dialFailed),
        Sign("a link ended", "another link to this node stays", .linkReplaced),
        Sign("a link ended", "nothing was received for", .linkSilent),
        Sign("a link ended", "pings were not answered", .pingUnanswered),
        Sign("a link ended", "this node was revoked", .revokedLinkEnded),
        Sign("a link ended", "a role has changed", .roleLinkAnew),
        Sign("closed a link that was not authenticated", .handshakeBroken),
        Sign("the network has changed", .networkChanged),
        Sign("this node stood still", .stoodStill),
        Sign("the machine slept", .slept),
        Sign("discovery is unavailable", .daemonGone),
        Sign("a database was compared with a peer by ranges", .comparedByRanges),
        Sign("a database of a peer is carried here", .databaseMadeLater),
        Sign("a database has a policy from now on", .policyTaken),
        Sign("a database was put back", .rollbackFound),
        Sign("a peer has another history", .otherHistory),
        Sign("turned a link away", .twinTurnedAway),
        Sign("this directory was used on another machine", .machineChanged),
        Sign("this machine is the node's from now on", .kept),
        Sign("this node is a ", .roleChanged),
        Sign("can't keep what was learnt of the group", .membershipNotKept),
        Sign("a health check began", "code=STORAGE_FULL", .storageFull),
        Sign("a health check began", "code=STORAGE_FAILED", .storageFailed),
        Sign("a health check began", "code=DATABASE_DAMAGED", .databaseDamaged),
        Sign("a health check began", "code=LOG_LOST", .logLost),
        Sign("a health check began", "code=IDENTITY_DUPLICATE", .twinFound),
        Sign("a health check began", "code=CLOCK_SKEW", .clockSkewFound),
        Sign("database ", "takes writes again", .storageBack),
        Sign("database ", "can't be used", .databaseUnusable),
    ]

    /// What a line shows, as a node writes it: time, level, area, a colon, a sentence, fields.
    static func shown(by line: String) -> [Mark] {
        let bytes = Array(line.utf8)
        guard let colon = bytes.dropFirst(timeBytes).firstIndex(of: UInt8(ascii: ":")), colon + 2 < bytes.count else {
            return []
        }
        let sentence = bytes[(colon + 2)...]
        return signs.filter { sentence.starts(with: $0.sentence) && contains(sentence, $0.detail) }.map(\.mark)
    }

    /// The time before a line's level has colons too.
    private static let timeBytes = 20

    private static func contains(_ bytes: ArraySlice<UInt8>, _ part: [UInt8]) -> Bool {
        guard let first = part.first else { return true }
        return bytes.indices.contains { bytes[$0] == first && bytes[$0...].starts(with: part) }
    }
}

extension Mark.Sign {
    fileprivate init(_ sentence: String, _ mark: Mark) { self.init(sentence, "", mark) }
}
