import KithCrypto

/// Hashes of the statements that were verified lately, so that those of each `Hello` are not verified over and over.
///
/// Bounded, and safe to forget from: a statement that is not among them is verified once more and changes nothing.
struct VerifiedStatements {
    private let bound: Int
    private var recent: Set<SHA256Digest> = []
    /// Those before them; what is asked for again is moved to the recent ones.
    private var earlier: Set<SHA256Digest> = []

    init(bound: Int = TransportLimits.verifiedStatements) { self.bound = bound }

    /// How many are kept: twice the bound at most.
    var count: Int { recent.count + earlier.count }

    mutating func contains(_ hash: SHA256Digest) -> Bool {
        if recent.contains(hash) { return true }
        guard earlier.remove(hash) != nil else { return false }
        insert(hash)
        return true
    }

    mutating func insert(_ hash: SHA256Digest) {
        if recent.count >= bound {
            earlier = recent
            recent = []
        }
        recent.insert(hash)
    }
}
