import Dispatch
import KithDiscovery
import KithDocument
import KithReplication
import KithTransport
import Synchronization

/// Whether peers are there: asked when somebody wants to know, and acted on when they are not.
///
/// A link may be dead for 15 s before its heartbeat ends it. Nothing waits for that: who reads the status makes the node
/// ask its peers first, a link that does not answer is dialled anew beside it, and of two links to one peer the one that
/// answers stays.
extension Node {
    /// Somebody waits for the answers of links, and for a look at the disk.
    final class Freshening {
        var links: Set<UInt64>
        var isLooking = true
        private var completion: (() -> Void)?

        init(_ links: Set<UInt64>, _ completion: @escaping () -> Void) {
            self.links = links
            self.completion = completion
        }

        var isDone: Bool { links.isEmpty && !isLooking }

        func finish() {
            completion?()
            completion = nil
        }
    }

    // MARK: Asking

    /// Asks the peers of whom nothing was heard for a moment whether they are there, and looks at the disk. Calls back when
    /// all have answered, or have had their time: what `isDoubtful` says is the truth of this moment then.
    func freshen(_ completion: @escaping () -> Void) {
        let now = SystemClock.now
        var asked: Set<UInt64> = []
        for peer in peers.values where peer.isOpen {
            guard let driver = linkInUse(to: peer), !isDoubtful(peer) else { continue }
            if now.milliseconds(since: driver.lastHeard) >= NodeLimits.freshMilliseconds {
                probe(peer.id)
                asked.insert(driver.id)
            }
        }
        let freshening = Freshening(asked, completion)
        let number = linkNumbers.wrappingAdd(1, ordering: .relaxed).newValue
        freshenings[number] = freshening
        look(for: number)
        queue.asyncAfter(deadline: .now() + .milliseconds(Int(NodeLimits.answerMilliseconds) + 5)) {
            guard let freshening = self.freshenings.removeValue(forKey: number) else { return }
            self.waitingLooks.remove(number)
            // Somebody did not answer: that is news for all who watch.
            self.changed()
            freshening.finish()
        }
    }

    /// Asks from time to time while a watcher is there: what is shown for long must stay true.
    func keepAsking(for watcher: UInt64) {
        queue.asyncAfter(deadline: .now() + .milliseconds(NodeLimits.watchMilliseconds)) {
            guard self.watchers[watcher] != nil else { return }
            self.freshen {}
            self.keepAsking(for: watcher)
        }
    }

    /// A link was heard of, or is gone.
    func answered(_ link: UInt64) {
        for number in freshenings.keys.sorted() {
            if freshenings[number]?.links.remove(link) != nil { finishFreshening(number) }
        }
    }

    /// The disk was looked at.
    func looked(_ number: UInt64) {
        freshenings[number]?.isLooking = false
        finishFreshening(number)
    }

    private func finishFreshening(_ number: UInt64) {
        guard let freshening = freshenings[number], freshening.isDone else { return }
        freshenings[number] = nil
        freshening.finish()
    }

    /// Pings a peer now, unless an answer is waited for already.
    func probe(_ peer: NodeID) {
        guard let driver = linkInUse(to: peer) else { return }
        if let probedAt = peers[peer]?.probedAt, driver.lastHeard < probedAt { return }
        peers[peer]?.probedAt = SystemClock.now
        driver.post(.probe)
    }

    func probeAll() { for peer in peers.keys.sorted() { probe(peer) } }

    /// For how long a peer has not answered, in milliseconds; nil when nothing is waited for.
    private func unanswered(_ peer: PeerState) -> UInt64? {
        guard let driver = linkInUse(to: peer), let probedAt = peer.probedAt,
            driver.lastHeard < probedAt
        else { return nil }
        return SystemClock.now.milliseconds(since: probedAt)
    }

    /// Whether a peer was asked and has not answered in time.
    func isDoubtful(_ peer: PeerState) -> Bool {
        (unanswered(peer) ?? 0) >= NodeLimits.answerMilliseconds
    }

    /// Whether a link is taken for dead, so that another is to be made: silence for more than a heartbeat, or no answer.
    func isSuspect(_ node: NodeID) -> Bool {
        guard let peer = peers[node], let driver = linkInUse(to: peer) else { return false }
        return SystemClock.now.milliseconds(since: driver.lastHeard) >= NodeLimits.linkAliveMilliseconds
            || (unanswered(peer) ?? 0) >= NodeLimits.suspectMilliseconds
    }

    /// When the next link may become a suspect.
    func nextSuspicion(after now: Instant) -> Instant? {
        peers.values.compactMap { peer -> Instant? in
            guard let driver = linkInUse(to: peer) else { return nil }
            let silent = driver.lastHeard.advanced(byMilliseconds: NodeLimits.linkAliveMilliseconds)
            guard let probedAt = peer.probedAt, driver.lastHeard < probedAt else { return silent }
            return min(silent, probedAt.advanced(byMilliseconds: NodeLimits.suspectMilliseconds))
        }
        .filter { $0 > now }.min()
    }

    // MARK: Two links to one peer

    /// A link to a peer that has one already, and whose turn it is not: it waits until the old one has answered a ping.
    func contend(_ driver: LinkDriver) {
        let peer = driver.peer.nodeID
        if let earlier = contenders.removeValue(forKey: peer) { discard(earlier) }
        contenders[peer] = driver.id
        let askedAt = SystemClock.now
        peers[peer]?.probedAt = askedAt
        linkInUse(to: peer)?.post(.probe)
        queue.asyncAfter(deadline: .now() + .milliseconds(Int(NodeLimits.answerMilliseconds))) {
            self.decideContention(with: peer, isOver: true)
        }
    }

    /// Ends the wait of a second link: the first was heard of, or is gone, or the time is up.
    func decideContention(with peer: NodeID, isOver: Bool) {
        guard let number = contenders[peer] else { return }
        let old = linkInUse(to: peer)
        let hasAnswered = old.map { old in peers[peer]?.probedAt.map { old.lastHeard >= $0 } ?? true } ?? false
        guard hasAnswered || isOver || old == nil else { return }
        contenders[peer] = nil
        guard let driver = drivers[number] else { return }
        if hasAnswered {
            discard(number)
            lostContention(peer)
            schedule.connected(.node(peer), now: SystemClock.now)
        } else {
            authenticated(driver, hasContended: true)
        }
    }

    /// Closes a link that was never in use.
    func discard(_ number: UInt64) {
        guard let driver = drivers.removeValue(forKey: number) else { return }
        driver.connection.close()
        finishStopIfIdle()
    }

    // MARK: Sleep

    /// Looks whether the machine slept or the process stood still; if so, all that was known of the network is old.
    func noteWake() {
        guard
            let gap = wakeWatch.look(
                monotonic: SystemClock.monotonicMilliseconds, boot: SystemClock.bootMilliseconds)
        else { return }
        switch gap {
        case .slept(let time):
            log(
                .info, .mesh, "the machine slept: looking at the network anew", ["for_s": "\(time / 1_000)"])
        case .stopped(let time):
            log(
                .info, .mesh, "this node stood still: looking at the network anew", ["for_s": "\(time / 1_000)"])
        }
        discovery?.refresh()
        lookAgain()
    }

    /// What failed before says nothing any more, and what worked may be gone: links are asked whether they live, and
    /// everybody else is dialled.
    func lookAgain() {
        schedule.startOver()
        book.hurry(nil)
        paths.forgetAll()
        probeAll()
    }
}
