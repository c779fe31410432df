/// What a hostile member does. It has a certificate of the group and breaks the rules from within.
package enum HostileKind: String, Sendable, CaseIterable {
    /// Says that its sequence is far beyond what it has.
    case farAhead = "far-ahead"
    /// Says that it has everything, so that nobody sends it anything.
    case claimsAll = "claims-all"
    /// Sends what an earlier session sent.
    case replays
    /// Offers revisions whose body has another hash.
    case wrongHash = "wrong-hash"
    /// Grafts a revision on any parent.
    case forgedAncestry = "forged-ancestry"
    /// Offers a revision of the generation 2^63.
    case hugeGeneration = "huge-generation"
    case deepTree = "deep-tree"
    case wideTree = "wide-tree"
    /// Begins a frame and never ends it.
    case endlessFrame = "endless-frame"
    /// Sends a byte now and then.
    case slowLoris = "slow-loris"
    /// Asks for everything again and again.
    case asksAgain = "asks-again"
    /// Makes one conflict after another on one document.
    case conflictFlood = "conflict-flood"
    /// Offers more documents that must be refused than anybody remembers.
    case refusalFlood = "refusal-flood"
    /// Tells one peer what it wrote, and the others something else under the same id.
    case foreignCopy = "foreign-copy"
    /// Sends bodies that are no JSON, or not canonical: double keys, lone surrogates, too deep.
    case badJSON = "bad-json"
    /// Offers documents whose ids differ in Unicode normalisation alone.
    case normalisedIDs = "normalised-ids"
    /// Tells of nodes that do not exist.
    case falsePresence = "false-presence"
    /// Announces itself with the record of another node.
    case copiedRecord = "copied-record"
    /// Stamps its edits with the year 9999.
    case year9999 = "year-9999"
    /// Sends frames of random bytes.
    case malformed
}
