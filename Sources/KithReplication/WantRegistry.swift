package import KithDocument

#if KITH_MUTANTS
import KithSystem
#endif

/// Which link was asked for which document: shared by the links of one database, so that a revision offered by two
/// peers is asked of one, and of the other if the first goes quiet.
///
/// Owned by the shell beside the database; looked up only, never iterated into an output.
package struct WantRegistry: Sendable {
    /// A link of the database, numbered by the shell.
    package typealias LinkNumber = UInt64

    private struct Holder {
        var claims = 0
        var heardAt: Instant
    }

    private struct Claim {
        let holder: LinkNumber
        let since: Instant
    }

    private var claims: [DocumentID: Claim] = [:]
    private var holders: [LinkNumber: Holder] = [:]

    package init() {}

    /// Documents claimed.
    package var count: Int { claims.count }

    /// Grants each want whose document nobody was asked for, or only somebody who has been quiet for 5 s, or who has kept it
    /// for a minute. A link is not granted what it has asked for already, unless it has been quiet.
    package mutating func claim(
        _ wants: [Want], by link: LinkNumber, now: Instant
    ) -> (granted: [Want], deferred: [Want]) {
        // A link that waits for nothing has not been quiet.
        if holders[link, default: Holder(heardAt: now)].claims == 0 { holders[link] = Holder(heardAt: now) }
        var granted: [Want] = []
        granted.reserveCapacity(wants.count)
        var deferred: [Want] = []
        #if KITH_MUTANTS
        let longest = Mutant.isActive(.leavesClaims) ? UInt64.max : ReplicationLimits.longestClaimMilliseconds
        #else
        let longest = ReplicationLimits.longestClaimMilliseconds
        #endif
        for want in wants {
            let claim = claims[want.document]
            if let claim, let heardAt = holders[claim.holder]?.heardAt,
                now.milliseconds(since: heardAt) < ReplicationLimits.claimMilliseconds,
                claim.holder == link || now.milliseconds(since: claim.since) < longest
            {
                deferred.append(want)
                continue
            }
            if let claim { holders[claim.holder]?.claims -= 1 }
            claims[want.document] = Claim(holder: link, since: now)
            granted.append(want)
        }
        holders[link]?.claims += granted.count
        return (granted, deferred)
    }

    /// The link delivers: what it was asked for stays its own.
    package mutating func keep(by link: LinkNumber, now: Instant) { holders[link]?.heardAt = now }

    /// These documents are done with. What another link has taken over stays its own.
    package mutating func release(_ documents: [DocumentID], by link: LinkNumber, now: Instant) {
        holders[link]?.heardAt = now
        var released = 0
        for document in documents {
            guard let index = claims.index(forKey: document), claims[index].value.holder == link else { continue }
            claims.remove(at: index)
            released += 1
        }
        holders[link]?.claims -= released
    }

    /// The link has ended, or its session.
    package mutating func releaseAll(by link: LinkNumber) {
        guard let holder = holders.removeValue(forKey: link), holder.claims > 0 else { return }
        claims = claims.filter { $0.value.holder != link }
    }
}
