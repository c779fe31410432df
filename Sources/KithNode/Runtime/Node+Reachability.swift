import Dispatch
import KithDiscovery
import KithDocument
import KithReplication
import KithSystem
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

    /// Asks the peers who have not answered a moment ago whether they are there, and looks at the disk. Calls back when all
    /// have answered, or have had their time: what `isDoubtful` says is the truth of this moment then.
    func freshen(_ completion: @escaping () -> Void) {
        let now = clock.now
        var asked: Set<UInt64> = []
        for id in peers.keys.sorted() {
            guard let peer = peers[id], peer.isOpen else { continue }

            guard let driver = linkInUse(to: peer), !isDoubtful(peer) else { continue }
            if now.milliseconds(since: peer.answeredAt ?? .init(milliseconds: 0)) >= NodeLimits.freshMilliseconds {
                probe(peer.id)
                asked.insert(driver.id)
            }
        }
        let freshening = Freshening(asked, completion)
        let number = linkNumbers.wrappingAdd(1, ordering: .relaxed).newValue
        freshenings[number] = freshening
        look(for: number)
        queue.async(afterMilliseconds: Int(NodeLimits.answerMilliseconds) + 5) {
            guard let freshening = self.freshenings.removeValue(forKey: number) else { return }
            self.waitingLooks.remove(number)
            // Somebody did not answer: that is news for all who watch.
            self.changed()
            freshening.finish()
        }
    }

    /// Asks from time to time while a watcher is there: what is shown for long must stay true.
    func keepAsking(for watcher: UInt64) {
        queue.async(afterMilliseconds: NodeLimits.watchMilliseconds) {
            guard self.watchers[watcher] != nil else { return }
            self.freshen {}
            self.keepAsking(for: watcher)
        }
    }

    /// A link is gone, or has answered: nobody waits for it any more.
    func isOver(_ link: UInt64) {
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

    /// The link in use has answered a ping.
    func answered(_ driver: LinkDriver, pingedAt: Instant) {
        let peer = driver.peer.nodeID
        // Whoever turns this node away says hello first, and answers nothing.
        peers[peer]?.pausedThere = nil
        let latest = max(pingedAt, peers[peer]?.answeredAt ?? pingedAt)
        peers[peer]?.answeredAt = latest
        if let state = peers[peer], !isAsked(state) { isOver(driver.id) }
        let actions = arbiter.answered(driver.id, to: peer, pingedAt: pingedAt)
        guard !actions.isEmpty else { return }
        carryOut(actions, with: peer)
        schedule.connected(.node(peer), now: clock.now)
    }

    /// Pings a peer now, unless an answer is waited for already.
    func probe(_ peer: NodeID) {
        guard let state = peers[peer], let driver = linkInUse(to: state), !isAsked(state) else { return }
        peers[peer]?.probedAt = clock.now
        driver.post(.probe)
    }

    func probeAll() { for peer in peers.keys.sorted() { probe(peer) } }

    /// Whether an answer is waited for. Bytes are none: they may have been on their way for long.
    private func isAsked(_ peer: PeerState) -> Bool {
        guard let probedAt = peer.probedAt else { return false }
        guard let answeredAt = peer.answeredAt else { return true }
        // A link pings no more often than that: one that was sent a moment before stands for the one that was asked for.
        return answeredAt.advanced(byMilliseconds: ReplicationLimits.probeMilliseconds) < probedAt
    }

    /// For how long a peer has not answered, in milliseconds; nil when nothing is waited for.
    private func unanswered(_ peer: PeerState) -> UInt64? {
        guard let probedAt = peer.probedAt, linkInUse(to: peer) != nil, isAsked(peer) else { return nil }
        return clock.now.milliseconds(since: probedAt)
    }

    /// Whether a peer was asked and has not answered in time: nothing of it is called in sync then.
    func isDoubtful(_ peer: PeerState) -> Bool {
        (unanswered(peer) ?? 0) >= NodeLimits.answerMilliseconds
    }

    /// Whether bytes pass on the link, either way, so that an answer may be waiting behind them.
    func isMoving(_ peer: PeerState, within milliseconds: UInt64) -> Bool {
        guard let driver = linkInUse(to: peer) else { return false }
        return clock.now.milliseconds(since: driver.lastMoved) < milliseconds
    }

    /// Whether a link is taken for dead, so that another is to be made: nothing moves, and there was silence for more than a
    /// heartbeat, or no answer.
    func isSuspect(_ node: NodeID) -> Bool {
        guard let peer = peers[node], let driver = linkInUse(to: peer),
            !isMoving(peer, within: NodeLimits.suspectMilliseconds)
        else { return false }
        return clock.now.milliseconds(since: driver.lastHeard) >= NodeLimits.linkAliveMilliseconds
            || (unanswered(peer) ?? 0) >= NodeLimits.suspectMilliseconds
    }

    /// When the next link may become a suspect.
    func nextSuspicion(after now: Instant) -> Instant? {
        drivers.values.compactMap { driver -> Instant? in
            guard let peer = peers[driver.peer.nodeID], peer.link == driver.id else { return nil }
            var suspect = driver.lastHeard.advanced(byMilliseconds: NodeLimits.linkAliveMilliseconds)
            if let probedAt = peer.probedAt, isAsked(peer) {
                suspect = min(suspect, probedAt.advanced(byMilliseconds: NodeLimits.suspectMilliseconds))
            }
            return max(suspect, driver.lastMoved.advanced(byMilliseconds: NodeLimits.suspectMilliseconds))
        }
        .filter { $0 > now }.min()
    }

    // MARK: Two links to one peer

    /// Asks the link in use whether it is alive, for another waits for its place.
    func ask(_ number: UInt64, of peer: NodeID, waiting: UInt64) {
        if let state = peers[peer], !isAsked(state) { peers[peer]?.probedAt = clock.now }
        drivers[number]?.post(.probe)
        queue.async(afterMilliseconds: Int(NodeLimits.answerMilliseconds)) {
            // What moved since it was asked.
            let oldMoves = self.peers[peer].map { self.isMoving($0, within: NodeLimits.answerMilliseconds) } ?? false
            let actions = self.arbiter.timeIsUp(for: waiting, to: peer, oldMoves: oldMoves)
            self.carryOut(actions, with: peer)
            if actions == [.discard(waiting)] { self.schedule.connected(.node(peer), now: self.clock.now) }
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
                monotonic: clock.monotonicMilliseconds, boot: clock.bootMilliseconds)
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
