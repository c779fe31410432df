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

    private struct Waiter {
        let link: LinkNumber
        let askedAt: Instant
    }

    /// What came of a question whether documents may be asked for; each is in one of the three.
    package struct Answer: Sendable {
        package var granted: [Want] = []
        /// Somebody else was asked for them.
        package var deferred: [Want] = []
        /// Somebody else was, and is done with them since they were looked for: they are looked for again.
        package var outdated: [Want] = []

        package init(granted: [Want] = []) { self.granted = granted }
    }

    private var claims: [DocumentID: Claim] = [:]
    private var holders: [LinkNumber: Holder] = [:]
    /// Who was the first to be told that another link was asked. It is the next: a peer that breaks its link off and comes
    /// again at once would else be asked again before those who wait.
    private var waiters: [DocumentID: Waiter] = [:]
    /// When documents were released, the latest and those before them.
    private var released: [DocumentID: Instant] = [:]
    private var releasedBefore: [DocumentID: Instant] = [:]

    package init() {}

    /// Documents claimed.
    package var count: Int { claims.count }

    /// Documents of which it is remembered when they were released.
    var rememberedReleases: Int { released.count + releasedBefore.count }

    /// Grants each want whose document nobody was asked for, or only somebody who has been quiet for 5 s, or who has kept it
    /// for a minute. A link is not granted what it has asked for already, unless it has been quiet, nor what another one waits
    /// for.
    /// - Parameter lookedAt: when it was begun to look whether they are missing. What was released since may have been stored
    ///   behind that look.
    package mutating func claim(_ wants: [Want], lookedAt: Instant, by link: LinkNumber, now: Instant) -> Answer {
        // A link that waits for nothing has not been quiet.
        if holders[link, default: Holder(heardAt: now)].claims == 0 { holders[link] = Holder(heardAt: now) }
        var answer = Answer()
        answer.granted.reserveCapacity(wants.count)
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
                if claim.holder != link { wait(for: want.document, link, now) }
                answer.deferred.append(want)
                continue
            }
            if isAwaited(want.document, byOtherThan: link, now) {
                answer.deferred.append(want)
                continue
            }
            if let time = released[want.document] ?? releasedBefore[want.document], time >= lookedAt {
                answer.outdated.append(want)
                continue
            }
            if let claim { holders[claim.holder]?.claims -= 1 }
            claims[want.document] = Claim(holder: link, since: now)
            waiters[want.document] = nil
            answer.granted.append(want)
        }
        holders[link]?.claims += answer.granted.count
        return answer
    }

    /// The link delivers: what it was asked for stays its own.
    package mutating func keep(by link: LinkNumber, now: Instant) { holders[link]?.heardAt = now }

    /// These documents are done with. What another link has taken over stays its own.
    package mutating func release(_ documents: [DocumentID], by link: LinkNumber, now: Instant) {
        holders[link]?.heardAt = now
        var count = 0
        for document in documents {
            guard let index = claims.index(forKey: document), claims[index].value.holder == link else { continue }
            claims.remove(at: index)
            waiters[document] = nil
            released[document] = now
            count += 1
        }
        holders[link]?.claims -= count
        // What is forgotten may be asked for twice, at worst.
        if released.count >= ReplicationLimits.releasedDocuments { (releasedBefore, released) = (released, [:]) }
    }

    /// The link has ended, or its session.
    package mutating func releaseAll(by link: LinkNumber) {
        if !waiters.isEmpty { waiters = waiters.filter { $0.value.link != link } }
        guard let holder = holders.removeValue(forKey: link), holder.claims > 0 else { return }
        claims = claims.filter { $0.value.holder != link }
    }

    private mutating func wait(for document: DocumentID, _ link: LinkNumber, _ now: Instant) {
        if isAwaited(document, byOtherThan: link, now) { return }
        waiters[document] = Waiter(link: link, askedAt: now)
    }

    private func isAwaited(_ document: DocumentID, byOtherThan link: LinkNumber, _ now: Instant) -> Bool {
        guard let waiter = waiters[document], waiter.link != link else { return false }
        #if KITH_MUTANTS
        if Mutant.isActive(.forgetsWaiters) { return false }
        #endif
        return now.milliseconds(since: waiter.askedAt) < ReplicationLimits.waiterMilliseconds
    }
}
